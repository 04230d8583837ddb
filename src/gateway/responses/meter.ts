import { unlessThrown } from "../../runtime/unless-thrown.ts";
import { dataOf, endOfEvents, eventsIn } from "../answer/events.ts";
import { type Meter, wrapping } from "../answer/meter.ts";
import { responseOf, saidIn } from "./answer.ts";
import { createResponseEvents } from "./events.ts";
import type { ResponsesCall } from "./request.ts";

/** A larger answer cannot be translated. */
const LONGEST = 4 * 1_048_576;

const none = Buffer.alloc(0);

/** Measures like the given meter, and passes the answer on as a response. */
export const translating = (meter: Meter, call: ResponsesCall): Meter =>
  meter.isStream ? streamed(meter, call) : whole(meter, call);

function whole(meter: Meter, call: ResponsesCall): Meter {
  const chunks: Buffer[] = [];
  let size = 0;
  return wrapping(meter, {
    push(chunk) {
      meter.push(chunk);
      size += chunk.length;
      if (size > LONGEST) throw new Error("the answer is too large to be translated");
      chunks.push(chunk);
      return none;
    },
    end() {
      const text = Buffer.concat(chunks).toString("utf8");
      const said = saidIn(parsed(text));
      return Buffer.from(said ? JSON.stringify(responseOf(call, said, "ended")) : text);
    },
  });
}

function streamed(meter: Meter, call: ResponsesCall): Meter {
  const events = createResponseEvents(call);
  let rest: Buffer = none;
  const translated = (bytes: Buffer, isLast: boolean) => {
    const all = Buffer.concat([rest, bytes]);
    const complete = isLast ? all.length : endOfEvents(all);
    rest = all.subarray(complete);
    const parts = eventsIn(all.toString("utf8", 0, complete));
    return parts.map((part) => events.take(dataOf(part))).join("");
  };
  return wrapping(meter, {
    push: (chunk) => Buffer.from(translated(meter.push(chunk), false)),
    end: () => Buffer.from(`${translated(meter.end(), true)}${events.end()}`),
  });
}

const parsed = (text: string): unknown => unlessThrown(() => JSON.parse(text));
