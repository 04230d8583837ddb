import { z } from "zod";
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

/** A complete HTTP answer, whatever its status. Header names are in lower case. */
export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
}

/** What a call was, as far as judging its answer needs to know. */
export interface Asked {
  /** Method and path, without the query. */
  readonly call: string;
  /** True when the call changes nothing on the platform, so that its failure never leaves an outcome open. */
  readonly reading: boolean;
  readonly requestId: string;
  /** Takes secret values out of the platform's words. */
  readonly redact: (text: string) => string;
}

const messageLimit = 1024;
const longestWaitMs = 3_600_000;

/** The JSON of a 2xx answer (undefined when it is empty), or what its failure means. */
export function readAnswer(answer: Answer, asked: Asked, now: number): { body: unknown } | { error: PlatformError } {
  if (answer.status < 200 || answer.status > 299) return { error: refusal(answer, asked, now) };
  const text = answer.text.trim();
  if (text === "") return { body: undefined };
  const body = parseJson(text);
  if (body !== undefined) return { body };
  // The request was accepted, so it may well have had its effect: only the words about it are lost.
  const detail = "the body is not JSON";
  const { call, requestId } = asked;
  return { error: new Retry({ call, requestId, status: answer.status, detail }, executedBy(asked)) };
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
      return new NotFound(failure);
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

/** `{httpStatus, messages: [{errorCode, message}]}`; of anything else (an HTML page of a proxy) only the size is told. */
function explanation(answer: Answer, redact: (text: string) => string): Partial<Failure> {
  const payload = errorPayload.safeParse(parseJson(answer.text));
  if (!payload.success) return answer.text === "" ? {} : { detail: `an answer of ${answer.text.length} characters` };
  const messages = payload.data.messages;
  const words = redact(messages.flatMap(({ message }) => message ?? []).join("; "));
  return {
    platformMessage: words === "" ? undefined : shorten(words),
    errorCode: messages.find(({ errorCode }) => errorCode !== undefined)?.errorCode,
  };
}

function shorten(words: string): string {
  return words.length <= messageLimit ? words : `${words.slice(0, messageLimit - 1)}…`;
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
