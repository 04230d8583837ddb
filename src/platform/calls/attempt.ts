import type { Dispatcher } from "undici";
import type { Clock } from "../../runtime/clock.ts";
import { yieldIfDue } from "../../runtime/time-slices.ts";
import { type Answer, type Asked, executedBy, readAnswer } from "../answers/answer.ts";
import { Retry } from "../answers/errors.ts";
import { limits, weightOf } from "../answers/limits.ts";
import type { MemoryBudget } from "../answers/memory-budget.ts";
import { plainText } from "../answers/plain-text.ts";
import type { Breaker, Outcome } from "../pace/breaker.ts";
import { Closed, type Pacer } from "../pace/pacer.ts";
import type { CallObserver, Log, PlatformCall, Reply } from "./call.ts";
import { startDeadline } from "./deadline.ts";
import { exchange, NoAnswer } from "./exchange.ts";
import { refusedBy, unreachable } from "./region.ts";
import { routeOf } from "./route.ts";

/** One attempt of one call, with all that it needs. */
export interface Attempt {
  /** The Account of the call, for the log. */
  readonly account: string;
  readonly call: PlatformCall;
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly asked: Asked;
  readonly pacer: Pacer;
  readonly breaker: Breaker;
  /** The latest time for its turn, on the monotonic clock. */
  readonly turnBy: number;
  /** Abort signals of the connection and of the whole transport. */
  readonly closing: readonly AbortSignal[];
}

export interface AttemptOptions {
  clock: Clock;
  dispatcherTo: (endpoint: URL) => Dispatcher;
  memory: MemoryBudget;
  log?: Log | undefined;
  observe?: CallObserver | undefined;
}

export const defaultDeadlineMs = 30_000;
/** Reads up to this size do not count against the memory budget. */
const smallBytes = 64 * 1024;
/** A timeout after less time than this says nothing about the endpoint. */
const leastSilenceMs = 5_000;

/**
 * Waits for its turn, sends the call and reads the answer. Rejects with a `PlatformError`, or with the error of the
 * call's guard.
 */
export async function perform(attempt: Attempt, options: AttemptOptions): Promise<Reply> {
  const { asked, breaker } = attempt;
  const entered = breaker.enter();
  if (typeof entered !== "function") {
    // Repeats the reason of the last call: the problem is the same, so the status message stays the same.
    throw new Retry(
      { call: asked.call, requestId: asked.requestId, status: 0, detail: entered.why },
      "no",
      entered.afterMs,
    );
  }
  let outcome: Outcome = { is: "unknown" };
  try {
    return await sendPaced(attempt, options, (known) => {
      outcome = known;
    });
  } finally {
    entered(outcome);
  }
}

async function sendPaced(attempt: Attempt, options: AttemptOptions, tell: (outcome: Outcome) => void): Promise<Reply> {
  const { call, url, headers, asked } = attempt;
  const { clock, dispatcherTo } = options;
  const { method, deadlineMs = defaultDeadlineMs, maxBytes = limits.answerBytes } = call;
  const body = call.body === undefined ? call.bytes : JSON.stringify(call.body);
  const signals = call.signal ? [...attempt.closing, call.signal] : attempt.closing;
  using deadline = startDeadline(clock, deadlineMs, signals, { patienceMs: call.patienceMs });

  const beganAt = clock.monotonic();
  let leftAt = beganAt;
  let status: number | "error" = "error";
  let problem: string | undefined;
  let [size, heldBytes] = [0, 0];
  const countBytes = (bytes: number) => {
    size += bytes;
    // Writes and small reads are not counted: an Account over its budget must still be able to delete resources.
    if (!asked.reading || size <= smallBytes) return;
    options.memory.take(attempt.account, bytes);
    heldBytes += bytes;
  };
  let sent = false;
  let reply: Reply | undefined;
  const turnBy = Math.min(attempt.turnBy, deadline.end);
  const pass = await attempt.pacer.enter(call.priority ?? "normal", deadline.signal, turnBy).catch((reason) => {
    if (!(reason instanceof Closed)) throw unanswered(new NoAnswer(reason, false, false), asked);
    const { afterMs, message: detail } = reason;
    throw new Retry({ call: asked.call, requestId: asked.requestId, status: 429, detail }, "no", afterMs);
  });
  try {
    leftAt = clock.monotonic();
    if (!deadline.beginSend()) throw unanswered(new NoAnswer(deadline.signal.reason, false, false), asked);
    call.guard?.();
    sent = true;
    const outgoing = { method, url, headers, body };
    const sending = exchange(dispatcherTo(url), outgoing, maxBytes, deadline.signal, countBytes);
    const answer = await sending.catch((none: NoAnswer) => {
      problem = asked.redact(reasonOf(none.cause));
      if (none.status > 0) tell({ is: "answered" });
      if (none.status > 0 || signals.some(({ aborted }) => aborted)) throw unanswered(none, asked, problem);
      const isLate = deadline.signal.aborted;
      const why = none.sent ? (isLate ? problem : brokenOff) : unreachable(url, call.product);
      if (!isLate || clock.monotonic() - leftAt >= leastSilenceMs) tell({ is: "silent", why });
      throw unanswered(none, asked, why);
    });
    tell({ is: "answered" });
    status = answer.status;
    const read = await readAnswer(answer, asked, clock);
    await yieldIfDue(clock);
    if ("body" in read) {
      reply = { ...replyOf(answer, read.body, url, asked), bytes: weightOf(answer.bytes, read.values) };
      return reply;
    }
    if (status === 429) pass.refused(read.error instanceof Retry ? read.error.afterMs : undefined);
    throw refusedBy(url, call.product, read.error);
  } finally {
    pass.leave();
    options.memory.give(attempt.account, heldBytes);
    const timing = { seconds: (clock.monotonic() - leftAt) / 1000, waited: (leftAt - beganAt) / 1000 };
    const { object, product = "core" } = call;
    const { account } = attempt;
    const done = { account, product, method, route: routeOf(url.pathname), status, ...timing };
    if (!attempt.closing.some(({ aborted }) => aborted)) options.observe?.(done);
    const line = {
      ...(object !== undefined && { object }),
      account,
      method,
      host: url.host,
      path: plainText(url.pathname, 512),
      status,
      requestId: asked.requestId,
      ...(reply?.request && { platformRequest: reply.request.id }),
      seconds: inMilliseconds(timing.seconds),
      waited: inMilliseconds(timing.waited),
      ...(problem && { problem }),
    };
    if (asked.reading) options.log?.debug(line, "platform read");
    else if (sent) options.log?.info(line, "platform write");
  }
}

/** Seconds, rounded to milliseconds. */
const inMilliseconds = (seconds: number): number => Math.round(seconds * 1000) / 1000;

/** True when the request failed as it does on a dead keep-alive socket. */
export function wasReset(error: unknown): boolean {
  return error instanceof Retry && error.cause instanceof NoAnswer && error.cause.reset;
}

function unanswered(none: NoAnswer, asked: Asked, detail = reasonOf(none.cause)): Retry {
  const { call, requestId } = asked;
  return new Retry({ call, requestId, status: none.status, detail, cause: none }, none.sent ? executedBy(asked) : "no");
}

/**
 * The user who chose the endpoint reads this, so it must not reveal anything about the host behind it. The log has the
 * details.
 */
const brokenOff = "the connection broke off before the answer was complete";

/** An error's message, or its code if the message is empty, as for a host with several refusing addresses. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return "aborted";
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  if (cause.message === "" || code === "") return cause.message || code || cause.name;
  return cause.message.includes(code) ? cause.message : `${cause.message} (${code})`;
}

function replyOf({ status, headers }: Answer, body: unknown, url: URL, asked: Asked): Reply {
  const request = requestAt(headers.location, url, asked);
  return {
    status,
    headers,
    body,
    ...(request && { request }),
    ...(headers.etag !== undefined && { etag: headers.etag }),
  };
}

/**
 * The request that a Location header names, at the host that was called: a header must not send credentials to another host, and
 * status and log show its id, so it must not quote them.
 */
function requestAt(location: string | undefined, called: URL, { redact }: Asked): Reply["request"] {
  if (location === undefined || !URL.canParse(location, called.href)) return undefined;
  const { pathname } = new URL(location, called);
  const id = /\/requests\/([^/]+)\/status\/?$/.exec(pathname)?.[1];
  return id === undefined || redact(id) !== id ? undefined : { id, url: called.origin + pathname };
}
