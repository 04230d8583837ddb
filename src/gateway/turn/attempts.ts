import { errors } from "undici";
import { type Clock, sleep } from "../../runtime/clock.ts";
import { Refused } from "../refused.ts";
import type { Shares } from "./shares.ts";
import type { Upstream, UpstreamAnswer, UpstreamCall } from "./upstream.ts";

const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 500;
/** A longer pause is not waited for: the client gets the platform's answer instead. */
const MOST_PAUSE_MS = 15_000;
/** Errors of a connection that was never there. */
const UNSENT = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
]);
const RETRYABLE = new Set([429, 500, 502, 503, 504]);

export interface AttemptParts {
  clock: Clock;
  upstream: Upstream;
  shares: Shares;
  /** In [0, 1): jitter for retries of calls that failed together. */
  random: () => number;
  /** Called for every answer, with "error" if there is none, and its seconds. */
  answered: (status: number | "error", seconds: number) => void;
  /** Called with the seconds that a call waited for its turn. */
  waited: (seconds: number) => void;
  /** Called when the platform may be working on the call, and when it certainly is not. */
  underWay: (mayWork: boolean) => void;
}

/**
 * Returns the platform's answer to a call, whatever its status. Until the first byte of the answer, a call is retried
 * after 429 and 5xx, after a broken connection, and once after 401 with fresh credentials. It is not retried after a
 * timeout, because the model may still be working. Each attempt takes its own turn. Rejects with `Refused` or the
 * signal's reason.
 */
export async function attempt(
  { clock, upstream, shares, random, answered, waited, underWay }: AttemptParts,
  namespace: string,
  call: UpstreamCall,
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  let isTokenRefused = false;
  /** The connection of the last attempt broke when the platform may have had the call: it may have worked on it. */
  let mayWork = false;
  for (let nth = 1; ; nth += 1) {
    const enteredAt = clock.monotonic();
    await shares.enter(namespace, signal, nth > 1);
    waited((clock.monotonic() - enteredAt) / 1000);
    const answer = await once();
    const isLast = nth === ATTEMPTS;
    if (answer?.statusCode === 401 && !isTokenRefused && !isLast) {
      isTokenRefused = true;
      underWay(false);
      await answer.body.dump();
      continue;
    }
    const retryAfter = retryAfterMs(answer);
    if (answer?.statusCode === 429) shares.pause(Math.min(retryAfter ?? FIRST_PAUSE_MS, MOST_PAUSE_MS));
    const pause = retryAfter ?? FIRST_PAUSE_MS * 2 ** (nth - 1) * (0.5 + random());
    if (answer !== undefined && (!RETRYABLE.has(answer.statusCode) || isLast || pause > MOST_PAUSE_MS)) return answer;
    underWay(mayWork);
    if (isLast) throw new Refused(502, "upstream_error", "the platform does not answer", { retryAfter: 5 });
    await answer?.body.dump();
    await sleep(clock, pause, signal);
  }

  /** Undefined if the connection broke. */
  async function once(): Promise<UpstreamAnswer | undefined> {
    const begun = clock.monotonic();
    const took = () => (clock.monotonic() - begun) / 1000;
    underWay(true);
    try {
      const answer = await upstream.send(call, signal, isTokenRefused);
      mayWork = false;
      answered(answer.statusCode, took());
      return answer;
    } catch (error) {
      if (signal.aborted) throw error;
      answered("error", took());
      mayWork = !UNSENT.has(String(Object(error).code));
      if (!(error instanceof errors.HeadersTimeoutError)) return undefined;
      throw new Refused(504, "upstream_timeout", "the platform has not begun to answer in time", { retry: false });
    }
  }
}

export function retryAfterMs(answer: UpstreamAnswer | undefined): number | undefined {
  const text = answer?.headers["retry-after"];
  const seconds = typeof text === "string" && /^\d{1,6}(\.\d+)?$/.test(text) ? Number(text) : undefined;
  return seconds === undefined ? undefined : seconds * 1000;
}
