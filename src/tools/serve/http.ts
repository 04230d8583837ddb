import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { type Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { Clock } from "../../runtime/clock.ts";
import { openServer } from "../../server/open-server.ts";
import type { Pair } from "../../server/serving-certificate.ts";
import { serveAlone } from "./alone.ts";

export interface HttpOptions {
  listen: { host: string; port: number };
  /** The valid bearer tokens, read at each request. Each token is a separate caller. */
  bearers: () => readonly string[];
  /** Absent: plain HTTP. */
  tls?: Pair | undefined;
  /** Host names under which clients may call the server, besides those of the loopback interface. */
  hosts: readonly string[];
  /** Web pages that may call the server, besides those of this machine, such as https://inspector.example.com. */
  origins: readonly string[];
  /** `kept` is false if the client's next request gets another server. */
  open: (kept: boolean) => Server;
  clock: Clock;
  limits?: Partial<Limits>;
  onError: (error: unknown) => void;
}

interface Limits {
  sessions: number;
  /** Limit for one caller: a bearer token at an address. */
  ofOne: number;
  idleMs: number;
}

const defaults: Limits = { sessions: 100, ofOne: 20, idleMs: 30 * 60_000 };
const MOST_BODY_BYTES = 1024 * 1024;
export const PATH = "/mcp";

interface Session {
  caller: string;
  transport: WebStandardStreamableHTTPServerTransport;
  server: Server;
  usedAt: number;
  /** Requests without a complete answer; an open stream counts. */
  open: number;
}

export interface HttpServing {
  url: string;
  sessions(): number;
  /** Switches to another certificate. */
  renew(tls: Pair): void;
  close(): Promise<void>;
}

const isLoopback = (host: string) => host === "localhost" || host === "::1" || /^127\.(\d+\.){2}\d+$/.test(host);
/** The host name of a Host header, without port and brackets. */
const nameIn = (host: string) =>
  host
    .replace(/:\d+$/, "")
    .replace(/^\[(.*)\]$/, "$1")
    .toLowerCase();

/** The host name of an Origin header; "" if it has none. */
const hostOf = (origin: string) => (URL.canParse(origin) ? nameIn(new URL(origin).host) : "");

/** Streamable HTTP: a session per client, or no session for newer clients. */
export async function serveHttp(options: HttpOptions): Promise<HttpServing> {
  const { clock, origins, hosts, onError } = options;
  const limits = { ...defaults, ...options.limits };
  const sessions = new Map<string, Session>();
  const alone = serveAlone(() => options.open(false), MOST_BODY_BYTES);
  /** Sessions whose first request is being read. They count as well: otherwise many at once would exceed the limits. */
  const beginning = new Set<Session>();

  const end = (id: string) => {
    const session = sessions.get(id);
    sessions.delete(id);
    session?.server.close().catch(onError);
  };
  const sweep = () => {
    for (const [id, { usedAt, open }] of sessions) {
      if (open === 0 && clock.monotonic() - usedAt >= limits.idleMs) end(id);
    }
  };

  /** The caller of a request, or a refusal. */
  function callerOf({ headers, socket }: IncomingMessage): Refusal | string {
    const host = nameIn(headers.host ?? "");
    if (!isLoopback(host) && !hosts.some((each) => each.toLowerCase() === host))
      return [403, "this Host is not allowed"];
    const { origin } = headers;
    if (origin !== undefined && !origins.includes(origin) && !isLoopback(hostOf(origin)))
      return [403, "this Origin is not allowed"];
    const given = headers.authorization ?? "";
    // All tokens are compared, so that the timing does not reveal which one matches.
    const [token] = options.bearers().filter((each) => isSame(given, `Bearer ${each}`));
    return token === undefined ? [401, "a bearer token is required"] : `${hash(token)} ${socket.remoteAddress}`;
  }

  async function begin(caller: string): Promise<Refusal | Session> {
    sweep();
    const known = [...sessions.values(), ...beginning];
    if (known.filter((each) => each.caller === caller).length >= limits.ofOne)
      return [429, `too many sessions: a caller has at most ${limits.ofOne}; end one, or go on with it`];
    if (known.length >= limits.sessions) return [503, "too many sessions"];
    const server = options.open(true);
    const session: Session = {
      caller,
      server,
      usedAt: clock.monotonic(),
      open: 0,
      transport: new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        maxRequestBodySize: MOST_BODY_BYTES,
        onsessioninitialized(id) {
          beginning.delete(session);
          sessions.set(id, session);
        },
        onsessionclosed: (id) => end(id),
      }),
    };
    beginning.add(session);
    await server.connect(session.transport);
    return session;
  }

  /** A session is valid only for the caller that began it. */
  function resume(id: string, caller: string): Refusal | Session {
    const session = sessions.get(id);
    return session?.caller === caller ? session : [404, "this session is over: begin another one"];
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split("?")[0];
    if (path === "/healthz" || path === "/readyz") return tell(response, 200, "ok");
    const caller = callerOf(request);
    if (typeof caller !== "string") return refuse(response, caller);
    if (path !== PATH) return tell(response, 404, `unknown path; valid: ${PATH}`);
    const asked = asRequest(request);
    const id = request.headers["mcp-session-id"];
    if (id === undefined && (await alone.takes(asked))) return pass(await alone.answer(asked), response);
    const session = typeof id === "string" ? resume(id, caller) : await begin(caller);
    if (!("transport" in session)) return refuse(response, session);
    session.open += 1;
    try {
      await pass(await session.transport.handleRequest(asked), response);
    } finally {
      session.open -= 1;
      session.usedAt = clock.monotonic();
      beginning.delete(session);
      // The request did not begin a session.
      if (session.transport.sessionId === undefined) await session.server.close();
    }
  }

  const answer = (request: IncomingMessage, response: ServerResponse) => {
    response.on("error", () => {});
    handle(request, response).catch((error: unknown) => {
      if (!response.destroyed && !response.headersSent) tell(response, 500, "internal error");
      else response.destroy();
      if (!isGone(error)) onError(error);
    });
  };
  const { server, url, renew, closeConnections } = await openServer(options.listen, answer, options.tls);
  const sweeping = setInterval(sweep, Math.min(limits.idleMs, 60_000)).unref();
  return {
    url: url + PATH,
    sessions: () => sessions.size,
    renew,
    async close() {
      clearInterval(sweeping);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const id of [...sessions.keys()]) end(id);
      await alone.close();
      closeConnections();
      await closed;
    },
  };
}

type Refusal = readonly [status: number, message: string];

const extra: Readonly<Record<number, Record<string, string>>> = {
  401: { "www-authenticate": "Bearer" },
  429: { "retry-after": "60" },
  503: { "retry-after": "60" },
};

function refuse(response: ServerResponse, [status, message]: Refusal): void {
  for (const [name, value] of Object.entries(extra[status] ?? {})) response.setHeader(name, value);
  tell(response, status, message);
}

function tell(response: ServerResponse, status: number, message: string): void {
  const body = JSON.stringify({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null });
  response.writeHead(status, { "content-type": "application/json" }).end(body);
}

function asRequest(request: IncomingMessage): Request {
  const { method = "GET", url = "/" } = request;
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) if (typeof value === "string") headers.set(name, value);
  const hasBody = method !== "GET" && method !== "HEAD";
  const body = hasBody ? { body: Readable.toWeb(request) as globalThis.ReadableStream, duplex: "half" as const } : {};
  return new Request(new URL(url, "http://localhost"), { method, headers, ...body });
}

async function pass(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers.entries()));
  // Sends the headers now, so that a client that waits for events knows that the stream is open.
  response.flushHeaders();
  if (!answer.body) return void response.end();
  await pipeline(Readable.fromWeb(answer.body as ReadableStream), response);
}

/** The client disconnected before it had the whole answer. */
const isGone = (error: unknown) =>
  error instanceof Error && "code" in error && error.code === "ERR_STREAM_PREMATURE_CLOSE";

const digest = (text: string) => createHash("sha256").update(text).digest();
const hash = (text: string): string => digest(text).toString("hex");

/** Compares in constant time. */
const isSame = (given: string, wanted: string): boolean =>
  wanted.length > "Bearer ".length && timingSafeEqual(digest(given), digest(wanted));
