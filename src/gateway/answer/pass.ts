import type { ServerResponse } from "node:http";
import type { Dispatcher } from "undici";
import type { Clock } from "../../runtime/clock.ts";
import type { Meter } from "./meter.ts";
import { redact, type Secrets } from "./redact.ts";

/** A client that reads nothing for this long is disconnected. */
const STALLED_MS = 60_000;

/** The headers of the platform that a client gets, if they are as plain as these. */
const PASSED: readonly (readonly [string, RegExp])[] = [
  ["content-type", /^\w+\/[\w.+-]{1,64}(?:; ?[\w-]{1,16}="?[\w-]{1,64}"?){0,3}$/],
  ["x-request-id", /^[\w.:-]{1,128}$/],
  ["retry-after", /^(?:\d{1,9}|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} GMT)$/],
];

/**
 * Passes an answer on, no faster than the client reads it. Rejects if either side breaks off, so that the client does
 * not mistake a part for the whole. A stream is passed on chunk by chunk. The last chunk of any other answer is sent
 * together with its end, so that a small answer is one packet.
 */
export async function pass(
  clock: Clock,
  answer: Pick<Dispatcher.ResponseData<{ secrets: Secrets }>, "statusCode" | "headers" | "body" | "opaque">,
  meter: Meter,
  response: ServerResponse,
): Promise<void> {
  const headers = PASSED.flatMap(([name, plain]) => {
    const value = answer.headers[name];
    const isPassed = typeof value === "string" && plain.test(value) && redact(value, answer.opaque.secrets) === value;
    return isPassed ? [[name, value] as const] : [];
  });
  response.writeHead(answer.statusCode, Object.fromEntries(headers));
  if (meter.isStream) response.flushHeaders();
  let last: Buffer | undefined;
  for await (const chunk of answer.body) {
    const next = meter.push(chunk);
    const bytes = meter.isStream ? next : last;
    last = meter.isStream ? undefined : next;
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
