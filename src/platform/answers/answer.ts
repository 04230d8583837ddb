import { z } from "zod";
import type { Clock } from "../../runtime/clock.ts";
import { yieldIfDue } from "../../runtime/time-slices.ts";
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
import { parseInSlices } from "./sliced-json.ts";

/** A complete HTTP answer, whatever its status. Header names are in lower case. */
export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
  /** What was received; more than is in `text` when that was cut. */
  readonly bytes: number;
}

/** What a call was, as far as judging its answer needs to know. */
export interface Asked {
  /** Method and path, without the query. */
  readonly call: string;
  /** True when the call changes nothing on the platform, so that its failure never leaves an outcome open. */
  readonly reading: boolean;
  /** What a successful answer is. Default: JSON. */
  readonly answers?: "text" | undefined;
  readonly requestId: string;
  /** Takes secret values out of the platform's words. */
  readonly redact: (text: string) => string;
  /** The same for an answer that is used: only what is certainly a credential goes. */
  readonly redactAnswer: (text: string) => string;
}

/** So long is waited at most, whatever the platform asks for: minutes are polite, an hour would be in the hands of others. */
const longestWaitMs = 300_000;

/** What a 2xx answer holds (undefined when it is empty), or what its failure means. */
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
    return await parseInSlices(text, () => yieldIfDue(clock));
  } catch (cause) {
    // The request was accepted, so it may well have had its effect: only the words about it are lost.
    const detail = cause instanceof LimitExceeded ? cause.message : "the body is not JSON";
    const { call, requestId } = asked;
    return { error: new Retry({ call, requestId, status: answer.status, detail, cause }, executedBy(asked)) };
  }
}

function refusal(answer: Answer, asked: Asked, now: number): PlatformError {
  const { status, headers } = answer;
  const failure: Failure = {
    call: asked.call,
    requestId: asked.requestId,
    status,
    ...explanation(answer, asked.redact),
  };
  const words = failure.platformMessage ?? "";
  switch (true) {
    case status === 401:
      return new Unauthorized(failure);
    case status === 403:
      return new Forbidden(failure);
    case status === 404:
      // A gateway answers 404 to every path that it does not know: only the platform's own words say that a resource is not there.
      if (failure.platformMessage !== undefined || failure.errorCode !== undefined) return new NotFound(failure);
      return new Retry({ ...failure, detail: "404 without the platform's error body" }, executedBy(asked));
    case status === 429 || status === 425:
      return new Retry(failure, "no", retryAfter(headers, now));
    case status === 423:
      return new Terminal(failure, { busy: true });
    case status === 501 || status === 505:
      return new Terminal(failure);
    case status >= 500 || status === 408:
      return new Retry(failure, executedBy(asked), retryAfter(headers, now));
    default:
      // A redirect ends here as well: following it would hand the credential to another address.
      return new Terminal(failure, { quota: saysQuota(words), busy: saysBusy(status, words) });
  }
}

/** An effect can be ruled out for reads only, once the request has left. */
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

/** Object storage speaks XML: `<Error><Code>…</Code><Message>…</Message></Error>`. */
function storageMessages(text: string): unknown {
  const part = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1];
  const errorCode = /<Error[ >]/.test(text) ? part("Code") : undefined;
  return errorCode === undefined ? undefined : { messages: [{ errorCode, message: part("Message") || errorCode }] };
}

/** `{httpStatus, messages: [{errorCode, message}]}`; of anything else (an HTML page of a proxy) only the size is told. */
function explanation(answer: Answer, redact: (text: string) => string): Partial<Failure> {
  if (answer.bytes > limits.refusalBytes) return { detail: `an answer of more than ${inBytes(limits.refusalBytes)}` };
  const payload = errorPayload.safeParse(parseJson(answer.text) ?? storageMessages(answer.text));
  if (!payload.success) return answer.text === "" ? {} : { detail: `an answer of ${answer.text.length} characters` };
  const messages = payload.data.messages;
  // Without control characters first: they must not hide a secret.
  const words = redact(plainText(messages.flatMap(({ message }) => message ?? []).join("; "), limits.refusalBytes));
  return {
    platformMessage: words === "" ? undefined : words,
    errorCode: messages.find(({ errorCode }) => errorCode !== undefined)?.errorCode,
  };
}

/** Retry-After in milliseconds: seconds, or a date, which is read by the platform's own clock where it tells it. */
function retryAfter(headers: Record<string, string>, now: number): number | undefined {
  const value = headers["retry-after"]?.trim();
  if (value === undefined || value === "") return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : undefined;
  const there = Date.parse(headers.date ?? "");
  const ms = seconds === undefined ? Date.parse(value) - (Number.isNaN(there) ? now : there) : seconds * 1000;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), longestWaitMs);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
