import type { Dispatcher } from "undici";
import type { Clock } from "../../runtime/clock.ts";
import type { AllowedEndpoints } from "../addresses/allowed-endpoints.ts";
import { Retry, Terminal, Unauthorized } from "../answers/errors.ts";
import type { MemoryBudget } from "../answers/memory-budget.ts";
import { createBreaker } from "../pace/breaker.ts";
import { byHost } from "../pace/by-host.ts";
import type { Pacers } from "../pace/shared-pacers.ts";
import { defaultDeadlineMs, perform, wasReset } from "./attempt.ts";
import type { PlatformCall, Reply, TransportOptions } from "./call.ts";
import { answerRedactor, basicOf, type Credentials, type Identity, redactor, tokenIdentity } from "./credentials.ts";
import { createPlatformTime } from "./platform-time.ts";

/** The calls of one Account. */
export interface Connection {
  readonly id: string;
  /** The clock of its deadlines. */
  readonly clock?: Clock;
  /** Counts the memory that lists take. */
  readonly memory?: MemoryBudget;
  /**
   * Sends a call when its turn comes and returns the successful answer. Rejects with a `PlatformError` (an abort is a `Retry`,
   * whose `executed` says whether it may have had an effect), or with what the call's own `guard` throws.
   *
   * A write is sent at most once. A read is retried once when a keep-alive socket turns out to be dead and, unless its priority
   * is `people`, a few times after 429.
   */
  send(call: PlatformCall): Promise<Reply>;
  /** Used from the next attempt on. Another credential starts with a fresh rate limiter. */
  setCredentials(credentials: Credentials): void;
  /** The claims of the current token. */
  readonly identity: Identity | undefined;
  /** The contract that calls act on: the one in the credentials, else the token's own. */
  readonly contractNumber: number | undefined;
  /** How far the platform's clock is ahead of ours, in milliseconds, estimated from many answers. Read by `platformTime`. */
  readonly aheadMs?: number;
  /** Whether the Date header of the last answer differs from the estimate. */
  readonly inDoubt?: boolean;
  /** Aborts all calls, running and waiting. */
  close(): Promise<void>;
}

export interface ConnectionEvents {
  /**
   * The Date header of the last answer differs from the estimate; one or two more calls settle which is right. Called at most
   * once a minute.
   */
  doubted?: () => void;
}

export interface ConnectionOptions extends TransportOptions, ConnectionEvents {
  dispatcherTo: (endpoint: URL) => Dispatcher;
  /** Undefined: any endpoint. */
  allowed: AllowedEndpoints | undefined;
  nextRequestId: () => string;
  memory: MemoryBudget;
  /** Aborts when all connections close. */
  closing: AbortSignal;
  pacersOf: (credential: string | undefined, account: string, perSecond?: number) => Pacers;
}

/** The state that changes with the credentials. */
interface Session {
  readonly token: string | undefined;
  readonly basic: string | undefined;
  readonly contractNumber: number | undefined;
  readonly identity: Identity | undefined;
  readonly redact: (text: string) => string;
  readonly redactAnswer: (text: string) => string;
  readonly pacers: Pacers;
}

const mostRefusals = 3;
const DOUBT_MS = 60_000;
/** Products whose host sets the dates of requests, tokens and log entries. Another host may have another clock. */
const DATING_PRODUCTS: ReadonlySet<string> = new Set(["core", "auth", "activitylog"]);
const defaultPatienceMs = 2_000;

export function createConnection(
  id: string,
  credentials: Credentials | undefined,
  options: ConnectionOptions,
): Connection {
  const { nextRequestId, pacersOf, userAgent = "mooring" } = options;
  const closing = new AbortController();
  // Separate breakers, because an endpoint that answers reads may still hang on every write.
  const newBreaker = () => createBreaker(options);
  const breakers = { reads: byHost(newBreaker), writes: byHost(newBreaker) };
  let session = openSession(id, credentials, pacersOf);
  const timesByHost = byHost(() => createPlatformTime(options.clock));
  /** The host whose clock counts: of a product in `DATING_PRODUCTS`, else the first that answered. */
  let datingHost: string | undefined;
  let doubtedAt = Number.NEGATIVE_INFINITY;
  const addDate = (call: PlatformCall, date: string | undefined, leftAt: number) => {
    const { host } = new URL(call.url);
    const readAt = options.clock.monotonic();
    timesByHost(host).add(date, leftAt, readAt);
    if (datingHost === undefined || DATING_PRODUCTS.has(call.product ?? "core")) datingHost = host;
    if (!timesByHost(datingHost).inDoubt || readAt - doubtedAt < DOUBT_MS) return;
    doubtedAt = readAt;
    options.doubted?.();
  };

  const sendOnce = (call: PlatformCall, turnBy: number): Promise<Reply> => {
    const requestId = nextRequestId();
    const url = webAddress(call.url);
    const path = url?.pathname ?? "an unusable address";
    const { method, answers, makesKey } = call;
    const redactors = redactorsOf(call, session);
    const asked = { call: `${method} ${path}`, reading: isRead(call), answers, makesKey, requestId, ...redactors };
    const headers = headersFor(call, session, { "user-agent": userAgent, "x-request-id": requestId });
    const refusal = { call: asked.call, requestId, status: 0 };
    if (url === undefined) throw new Terminal({ ...refusal, detail: "the endpoint is not an http or https URL" });
    if (leadsElsewhere(call.url)) throw new Terminal({ ...refusal, detail: "a part of the path is not an id" });
    if (options.allowed && !options.allowed.allows(url.href)) {
      throw new Terminal({ ...refusal, detail: `the endpoint ${url.origin} is not allowed here` });
    }
    if (!isSendable(headers.authorization)) {
      throw new Unauthorized({ ...refusal, detail: "the token contains invalid characters" });
    }
    const pacer = session.pacers.at(url.host);
    const breaker = breakers[asked.reading ? "reads" : "writes"](url.host);
    const signals = [closing.signal, options.closing];
    return perform({ account: id, call, url, headers, asked, pacer, breaker, turnBy, closing: signals }, options);
  };

  return {
    id,
    clock: options.clock,
    memory: options.memory,
    async send(call) {
      const isRetriedAfter429 = isRead(call) && call.priority !== "people";
      const { clock } = options;
      const end = clock.monotonic() + (call.deadlineMs ?? defaultDeadlineMs);
      const turnBy = clock.monotonic() + (call.patienceMs ?? defaultPatienceMs);
      for (let refusals = 0, resets = 0; ; ) {
        try {
          let leftAt = clock.monotonic();
          const opened = session;
          // Called when its turn has come: the wait is not part of the round trip.
          const guard = () => {
            leftAt = clock.monotonic();
            checkUser(call, opened, session);
            call.guard?.();
          };
          const reply = await sendOnce({ ...call, guard, deadlineMs: end - clock.monotonic() }, turnBy);
          addDate(call, reply.headers.date, leftAt);
          return reply;
        } catch (error) {
          const leftMs = Math.min(end, turnBy) - clock.monotonic();
          const isRetried =
            (isRead(call) && wasReset(error) && ++resets === 1) ||
            (isRetriedAfter429 && isShortRefusal(error, leftMs) && ++refusals < mostRefusals);
          if (!isRetried) throw error;
        }
      }
    },
    setCredentials(next) {
      // Opened before the old one is released, so that the same token keeps its rate limiters.
      const opened = openSession(
        id,
        { ...(session.token !== undefined && { token: session.token }), ...next },
        pacersOf,
      );
      session.pacers.release();
      session = opened;
    },
    get identity() {
      return session.identity;
    },
    get aheadMs() {
      return datingHost === undefined ? 0 : timesByHost(datingHost).aheadMs;
    },
    get inDoubt() {
      return datingHost !== undefined && timesByHost(datingHost).inDoubt;
    },
    get contractNumber() {
      return session.contractNumber ?? session.identity?.contractNumber;
    },
    async close() {
      if (closing.signal.aborted) return;
      closing.abort(new Error("the connection was closed"));
      session.pacers.release();
      options.closed?.(id);
    },
  };
}

function openSession(
  account: string,
  credentials: Credentials | undefined,
  pacersOf: ConnectionOptions["pacersOf"],
): Session {
  const token = credentials?.token?.trim() || undefined;
  const { login } = credentials ?? {};
  const basic = login && basicOf(login);
  const secrets = [token, basic?.slice("Basic ".length), login?.password];
  const redactors = secrets.map(redactor);
  return {
    token,
    basic,
    contractNumber: credentials?.contractNumber,
    identity: token === undefined ? undefined : tokenIdentity(token),
    redact: (text) => redactors.reduce((left, redact) => redact(left), text),
    redactAnswer: answerRedactor(secrets),
    pacers: pacersOf(token ?? basic, account, credentials?.callsPerSecond),
  };
}

/** The headers have the token from before the wait, and the guard of a write asks for the user of the current one. */
function checkUser(call: PlatformCall, { identity }: Session, current: Session): void {
  if (isRead(call) || identity?.userId === current.identity?.userId) return;
  const refusal = { call: `${call.method} ${webAddress(call.url)?.pathname}`, status: 0 };
  throw new Retry({ ...refusal, detail: "the token of the Account now belongs to another user" }, "no");
}

/** The redactors of the connection's credentials and of the keys of a call. */
function redactorsOf({ keys = [] }: PlatformCall, { redact, redactAnswer }: Session) {
  if (keys.length === 0) return { redact, redactAnswer };
  const all = [redact, ...keys.map(redactor)];
  const answered = answerRedactor(keys);
  return {
    redact: (text: string) => all.reduce((left, each) => each(left), text),
    redactAnswer: (text: string) => answered(redactAnswer(text)),
  };
}

const isRead = ({ method, makes }: PlatformCall): boolean => (method === "GET" || method === "HEAD") && !makes;

/** A 429 whose Retry-After fits into the time left. The pacer delays the next attempt. */
function isShortRefusal(error: unknown, leftMs: number): boolean {
  return error instanceof Retry && error.status === 429 && (error.afterMs ?? 0) < leftMs;
}

function headersFor(call: PlatformCall, { token, basic, contractNumber }: Session, own: Record<string, string>) {
  const headers: Record<string, string> = { accept: "application/json", ...own };
  if (call.body !== undefined) headers["content-type"] = "application/json";
  const authorization = call.withPassword ? basic : token && `Bearer ${token}`;
  if (authorization !== undefined) headers.authorization = authorization;
  if (contractNumber !== undefined) headers["x-contract-number"] = String(contractNumber);
  for (const [name, value] of Object.entries(call.headers ?? {})) headers[name.toLowerCase()] = value;
  return headers;
}

function isSendable(header: string | undefined): boolean {
  return header === undefined || /^[\x20-\x7e]*$/.test(header);
}

/** Whether an id in the path leads to another path. Ids come from answers and from stored objects. */
function leadsElsewhere(url: string): boolean {
  return /\/(\.|%2e){1,2}(\/|$)|%2f|%5c|\\|\p{Cc}|%[01][0-9a-f]|%7f/iu.test(url.split(/[?#]/, 1)[0] ?? "");
}

function webAddress(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "http:" || url?.protocol === "https:" ? url : undefined;
}
