import { z } from "zod";
import type { Clock } from "../../runtime/clock.ts";
import { yieldIfDue } from "../../runtime/time-slices.ts";
import { unlessThrown } from "../../runtime/unless-thrown.ts";
import {
  type Failure,
  Forbidden,
  NotFound,
  type PlatformError,
  Retry,
  saysQuota,
  Terminal,
  Unauthorized,
} from "./errors.ts";
import { inBytes, LimitExceeded, limits } from "./limits.ts";
import { plainText } from "./plain-text.ts";
import { redactReasons } from "./redacted.ts";
import { parseInSlices } from "./sliced-json.ts";

/** A complete HTTP answer of any status. Header names are in lower case. */
export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
  /** The number of received bytes; larger than `text` if that was truncated. */
  readonly bytes: number;
}

/** The parts of a call that are needed to read its answer. */
export interface Asked {
  /** Method and path, without the query. */
  readonly call: string;
  /** True when the call changes nothing on the platform, so that a failure never leaves the outcome unknown. */
  readonly reading: boolean;
  /** The format of a successful answer. Default: JSON. */
  readonly answers?: "text" | undefined;
  readonly requestId: string;
  /** The call may have made a key that only its answer has. */
  readonly makesKey?: true | undefined;
  /** Removes secret values from the platform's messages. */
  readonly redact: (text: string) => string;
  /** The same for a successful answer: removes only text that is certainly a credential. */
  readonly redactAnswer: (text: string) => string;
}

/** The maximum Retry-After that is respected: an endpoint must not stop calls for an hour. */
const longestWaitMs = 300_000;

/** So much of a message is read. Less of it is shown. */
const longestMessage = 4 * 1024;

/** The body of a 2xx answer (undefined when empty), or the error that another answer means. */
export async function readAnswer(
  answer: Answer,
  asked: Asked,
  clock: Clock,
): Promise<{ body: unknown; values: number } | { error: PlatformError }> {
  if (answer.status < 200 || answer.status > 299) return { error: refusal(answer, asked, clock.now()) };
  try {
    if (!/\S/.test(answer.text)) return { body: undefined, values: 0 };
    const text = asked.redactAnswer(answer.text);
    if (asked.answers === "text") return { body: text, values: 1 };
    const parsed = await parseInSlices(text, () => yieldIfDue(clock), asked.redactAnswer);
    await redactReasons(parsed.body, asked.redact, clock);
    return parsed;
  } catch (cause) {
    // The request was accepted, so it may have had its effect: only the answer is lost.
    const detail = cause instanceof LimitExceeded ? cause.message : "the body is not JSON";
    const { call, requestId } = asked;
    return { error: new Retry({ call, requestId, status: answer.status, detail, cause }, executedBy(asked)) };
  }
}

function refusal(answer: Answer, asked: Asked, now: number): PlatformError {
  const { status, headers } = answer;
  const said = explanation(answer, asked.redact);
  const words = said.platformMessage ?? "";
  const isFromPlatform = said.platformMessage !== undefined || said.errorCode !== undefined;
  const isHidden = asked.makesKey && isFromPlatform && status >= 500;
  const shown = isHidden ? { detail: "its message is not shown, because it may quote a new key" } : said;
  const failure: Failure = { call: asked.call, requestId: asked.requestId, status, ...shown };
  const unexplained = () =>
    new Retry({ ...failure, detail: `${status} without the platform's error body` }, executedBy(asked));
  switch (true) {
    case status === 429 || status === 425:
      return new Retry(failure, "no", retryAfter(headers, now));
    case !asked.reading && status < 500 && (status < 400 || !isFromPlatform):
      // A gateway may redirect or refuse a write that it has passed on.
      return unexplained();
    case status === 401:
      return new Unauthorized(failure);
    case status === 403:
      return new Forbidden(failure);
    case status === 404:
      // A gateway answers 404 to every path that it does not know. Only with the platform's error body does 404 mean that a
      // resource does not exist.
      return isFromPlatform ? new NotFound(failure) : unexplained();
    case status === 423:
      return new Terminal(failure, { busy: true });
    case (status === 501 || status === 505) && (asked.reading || isFromPlatform):
      return new Terminal(failure);
    case status >= 500 || status === 408:
      return new Retry(failure, executedBy(asked), retryAfter(headers, now));
    default:
      // Redirects are errors too: following one would send the credential to another host.
      return new Terminal(failure, { quota: saysQuota(words), busy: saysBusy(status, words) });
  }
}

/** Once a request was sent, only a read certainly had no effect. */
export function executedBy(asked: Pick<Asked, "reading">): "no" | "unknown" {
  return asked.reading ? "no" : "unknown";
}

function saysBusy(status: number, words: string): boolean {
  return (status === 409 || status === 422) && /\b(busy|locked|being (provisioned|changed|deleted))\b/i.test(words);
}

const errorPayload = z.looseObject({
  messages: z
    .array(z.looseObject({ message: z.coerce.string().optional(), errorCode: z.coerce.string().optional() }))
    .min(1),
});

/** Object storage answers XML: `<Error><Code>…</Code><Message>…</Message></Error>`. */
function storageMessages(text: string): unknown {
  const part = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1];
  const errorCode = /<Error[ >]/.test(text) ? part("Code") : undefined;
  return errorCode === undefined ? undefined : { messages: [{ errorCode, message: part("Message") || errorCode }] };
}

/**
 * Parses `{httpStatus, messages: [{errorCode, message}]}`. For any other body (an HTML page of a proxy), only the size
 * is shown.
 */
function explanation(answer: Answer, redact: (text: string) => string): Partial<Failure> {
  if (answer.bytes > limits.refusalBytes) return { detail: `an answer of more than ${inBytes(limits.refusalBytes)}` };
  const payload = errorPayload.safeParse(parseJson(answer.text) ?? storageMessages(answer.text));
  if (!payload.success) return answer.text === "" ? {} : { detail: `an answer of ${answer.text.length} characters` };
  const messages = payload.data.messages;
  // Remove control characters first: they must not hide a secret from `redact`.
  const clean = (text: string) => redact(plainText(text, longestMessage));
  const words = clean(messages.flatMap(({ message }) => message ?? []).join("; "));
  const code = messages.find(({ errorCode }) => errorCode !== undefined)?.errorCode;
  return { platformMessage: words === "" ? undefined : words, errorCode: code && clean(code) };
}

/** Retry-After in milliseconds. A date is compared with the Date header of the answer, if there is one. */
function retryAfter(headers: Record<string, string>, now: number): number | undefined {
  const value = headers["retry-after"]?.trim();
  if (value === undefined || value === "") return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : undefined;
  const answeredAt = Date.parse(headers.date ?? "");
  const ms = seconds === undefined ? Date.parse(value) - (Number.isNaN(answeredAt) ? now : answeredAt) : seconds * 1000;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), longestWaitMs);
}

const parseJson = (text: string): unknown => unlessThrown(() => JSON.parse(text));
