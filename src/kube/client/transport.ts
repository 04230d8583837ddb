import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { type Clock, orAbort, sleep, systemClock } from "../../runtime/clock.ts";
import { type ClientTls, connectionPool } from "./connections.ts";
import { type Deadline, deadline, orEnd } from "./deadline.ts";
import { KubeError } from "./errors.ts";
import { type Answer, exchangeWhole } from "./exchange.ts";
import { parseJson } from "./json.ts";
import { errorOf } from "./status.ts";

export interface KubeCall {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  query?: Record<string, string | undefined>;
  /** Sent as JSON. */
  body?: unknown;
  /** Default `application/json`. */
  contentType?: string;
  /** Default `application/json`. */
  accept?: string;
  signal?: AbortSignal;
  /** Default 30 seconds: for the whole `request`, for the headers of a `stream`. */
  deadlineMs?: number;
}

export interface KubeClient {
  readonly server: string;
  /** The namespace of the service account or of the kubeconfig's context, if there is one. */
  readonly namespace?: string;
  /**
   * One call, one JSON answer. Retries 429 (not executed) for every verb, and 503 with Retry-After for idempotent verbs, a few
   * times and within the deadline. Rejects only with a KubeError.
   */
  request<T = unknown>(call: KubeCall): Promise<T>;
  /**
   * The body as it arrives, on separate connections and without a deadline. The caller must read it to its end, leave it by
   * `return`, or end it by `signal`.
   */
  stream(call: KubeCall): Promise<AsyncIterable<Uint8Array>>;
  close(): Promise<void>;
}

/** Called for every HTTP exchange; the source of `rest_client_requests_total`. */
export type ClientObserver = (call: {
  method: string;
  host: string;
  status: number | "error";
  seconds: number;
}) => void;

export interface ClientOptions {
  server: string;
  namespace?: string;
  tls?: ClientTls;
  /** URL of an HTTP proxy to the API server. */
  proxy?: string;
  /** Authentication headers. `refused` is true right after a 401: return newer ones if possible. */
  authorize?: (refused: boolean) => Promise<Record<string, string>>;
  userAgent?: string;
  observe?: ClientObserver;
  clock?: Clock;
}

const DEADLINE_MS = 30_000;
const ATTEMPTS = 5;
const IDEMPOTENT = new Set(["GET", "PUT", "DELETE"]);

export function createClient(options: ClientOptions): KubeClient {
  const { authorize, observe, clock = systemClock } = options;
  const base = new URL(options.server);
  const prefix = base.pathname.replace(/\/$/, "");
  const calls = connectionPool(options, 32);
  const streams = connectionPool(options);

  const deadlineOf = (call: KubeCall) => deadline(nameOf(call), call.deadlineMs ?? DEADLINE_MS, clock, call.signal);

  const authorized = async (call: KubeCall, limit: Deadline, refused: boolean) => {
    const authentication = authorize && (await orEnd(authorize(refused), limit));
    const headers: Record<string, string> = { accept: call.accept ?? "application/json", ...authentication };
    if (options.userAgent) headers["user-agent"] = options.userAgent;
    if (call.body !== undefined) headers["content-type"] = call.contentType ?? "application/json";
    return headers;
  };

  /** One HTTP exchange, with any status. */
  async function exchange<A extends Head>(call: KubeCall, limit: Deadline, send: Send<A>, refused: boolean) {
    const started = clock.monotonic();
    const report = (status: number | "error") =>
      observe?.({ method: call.method, host: base.host, status, seconds: (clock.monotonic() - started) / 1000 });
    const headers = await authorized(call, limit, refused);
    const body = call.body === undefined ? null : JSON.stringify(call.body);
    const path = prefix + call.path + search(call.query);
    try {
      const answer = await send({ origin: base.origin, path, method: call.method, headers, body }, limit);
      report(answer.statusCode);
      return answer;
    } catch (error) {
      report("error");
      throw error;
    }
  }

  /** As `exchange`, with one retry after a 401. A status of 400 or more becomes a KubeError. */
  async function accepted<A extends Head>(call: KubeCall, limit: Deadline, send: Send<A>): Promise<A> {
    let answer = await exchange(call, limit, send, false);
    if (answer.statusCode === 401 && authorize) {
      await textOf(answer);
      answer = await exchange(call, limit, send, true);
    }
    if (answer.statusCode < 400) return answer;
    throw errorOf(
      {
        method: call.method,
        path: call.path,
        status: answer.statusCode,
        retryAfter: firstValue(answer.headers, "retry-after"),
        text: await textOf(answer),
      },
      clock.now(),
    );
  }

  const whole: Send<Answer> = (request, limit) => exchangeWhole(calls, request, limit);
  // undici observes the signal only once it is connected.
  const streamed: Send<Dispatcher.ResponseData> = (request, { signal }) =>
    orAbort(streams.request({ ...request, signal }), signal);

  async function withRetries<T>(call: KubeCall, limit: Deadline, endsAt: number, once: () => Promise<T>) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await once();
      } catch (error) {
        const wait = retryDelay(call, error);
        if (wait === undefined || attempt === ATTEMPTS || clock.monotonic() + wait >= endsAt) throw error;
        await sleep(clock, wait, limit.signal);
      }
    }
  }

  return {
    server: options.server,
    ...(options.namespace !== undefined && { namespace: options.namespace }),
    async request<T>(call: KubeCall): Promise<T> {
      using limit = deadlineOf(call);
      const endsAt = clock.monotonic() + (call.deadlineMs ?? DEADLINE_MS);
      try {
        return await withRetries(call, limit, endsAt, async () => {
          const { text } = await accepted(call, limit, whole);
          return parseJson<T>(text || "null", nameOf(call));
        });
      } catch (error) {
        throw kubeError(call, error);
      }
    },
    async stream(call) {
      const limit = deadlineOf(call);
      try {
        const { body } = await accepted(call, limit, streamed);
        limit.disarm();
        return chunks(call, body, limit);
      } catch (error) {
        limit[Symbol.dispose]();
        throw kubeError(call, error);
      }
    },
    async close() {
      await Promise.all([calls.destroy(), streams.destroy()]);
    },
  };
}

type Head = Pick<Answer, "statusCode" | "headers"> & ({ text: string } | { body: { text(): Promise<string> } });
type Send<A> = (request: Dispatcher.DispatchOptions, limit: Deadline) => Promise<A>;

const textOf = (answer: Head): string | Promise<string> => ("text" in answer ? answer.text : answer.body.text());

/** Without query and body: this is logged and must hold no secret. */
const nameOf = (call: KubeCall): string => `${call.method} ${call.path}`;

async function* chunks(call: KubeCall, body: AsyncIterable<Uint8Array>, limit: Deadline) {
  try {
    yield* body;
  } catch (error) {
    throw kubeError(call, error);
  } finally {
    limit[Symbol.dispose]();
  }
}

function kubeError(call: KubeCall, error: unknown): KubeError {
  if (error instanceof KubeError) return error;
  const said = error instanceof Error ? error.message : "unknown failure";
  return new KubeError({ status: 0, reason: "Network", message: `${nameOf(call)}: ${said}`, cause: error });
}

/** The delay before the call is retried; undefined when it must not be. */
function retryDelay(call: KubeCall, error: unknown): number | undefined {
  if (!(error instanceof KubeError)) return undefined;
  if (error.status === 429) return error.retryAfterMs ?? 1000;
  if (error.status === 503 && IDEMPOTENT.has(call.method)) return error.retryAfterMs;
  return undefined;
}

function search(query: KubeCall["query"] = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.append(name, value);
  return given.size === 0 ? "" : `?${given}`;
}

function firstValue(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
