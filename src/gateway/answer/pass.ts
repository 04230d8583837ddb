import type { ServerResponse } from "node:http";
import type { Dispatcher } from "undici";
import type { Clock } from "../../runtime/clock.ts";
import type { Meter } from "./meter.ts";

/** Who takes nothing for so long is left. */
const STALLED_MS = 60_000;

/** What of the platform's headers a client gets. */
const PASSED = ["content-type", "x-request-id", "retry-after"];

/**
 * Gives an answer on as it comes, no faster than the client takes it. Rejects when either side breaks off: what the client
 * has got then is not an end. A stream is given on at once, piece by piece; of a whole answer the last piece goes with its end,
 * so that a small one is a single packet.
 */
export async function pass(
  clock: Clock,
  answer: Pick<Dispatcher.ResponseData, "statusCode" | "headers" | "body">,
  meter: Meter,
  response: ServerResponse,
): Promise<void> {
  const headers = PASSED.flatMap((name) => {
    const value = answer.headers[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  response.writeHead(answer.statusCode, Object.fromEntries(headers));
  if (meter.isStream) response.flushHeaders();
  let last: Buffer | undefined;
  for await (const chunk of answer.body) {
    const [bytes, held] = meter.isStream ? [meter.push(chunk)] : [last, meter.push(chunk)];
    last = held;
    if (bytes && bytes.length > 0 && !response.write(bytes)) await drained(clock, response);
  }
  const rest = meter.end();
  response.end(last && last.length > 0 ? Buffer.concat([last, rest]) : rest);
}

function drained(clock: Clock, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      cancel();
      response.removeListener("drain", taken);
      response.removeListener("close", closed);
      if (error) reject(error);
      else resolve();
    };
    const taken = () => settle();
    const closed = () => settle(new Error("the client left"));
    const cancel = clock.after(STALLED_MS, () => settle(new Error("the client reads nothing")));
    response.once("drain", taken);
    response.once("close", closed);
  });
}
