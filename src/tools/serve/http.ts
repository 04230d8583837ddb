import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, isIP } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { type Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { Clock } from "../../clock.ts";
import { serveAlone } from "./alone.ts";

export interface HttpOptions {
  listen: { host: string; port: number };
  /** What a client has to bring; read anew for each request. */
  bearer: () => string;
  /** Names by which clients may call it, besides those of the loopback interface. */
  hosts: readonly string[];
  /** Web pages that may call it besides those of this machine, such as https://inspector.example.com. */
  origins: readonly string[];
  /** `kept` is false when the client's next request meets another server. */
  open: (kept: boolean) => Server;
  clock: Clock;
  limits?: Partial<Limits>;
  onError: (error: unknown) => void;
}

interface Limits {
  sessions: number;
  idleMs: number;
}

const usual: Limits = { sessions: 100, idleMs: 30 * 60_000 };
const MOST_BODY_BYTES = 1024 * 1024;
export const PATH = "/mcp";

interface Session {
  transport: WebStandardStreamableHTTPServerTransport;
  server: Server;
  usedAt: number;
  /** Requests that are not answered to their end; an open stream counts. */
  open: number;
}

export interface HttpServing {
  url: string;
  sessions(): number;
  close(): Promise<void>;
}

const isLoopback = (host: string) => host === "localhost" || host === "::1" || /^127\.(\d+\.){2}\d+$/.test(host);
/** The name in a Host header, without port and brackets. */
const nameIn = (host: string) =>
  host
    .replace(/:\d+$/, "")
    .replace(/^\[(.*)\]$/, "$1")
    .toLowerCase();

/** A page of this machine has no name of the network. */
const hostOf = (origin: string) => (URL.canParse(origin) ? nameIn(new URL(origin).host) : "");

/** Streamable HTTP, with a session for each client, or none for those whose requests stand alone. */
export async function serveHttp(options: HttpOptions): Promise<HttpServing> {
  const { clock, origins, hosts, onError } = options;
  const limits = { ...usual, ...options.limits };
  const sessions = new Map<string, Session>();
  const alone = serveAlone(() => options.open(false), MOST_BODY_BYTES);

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

  /** Why a request is not served; undefined when it is. */
  function refused({ headers }: IncomingMessage): [number, string] | undefined {
    const host = nameIn(headers.host ?? "");
    if (!isLoopback(host) && !hosts.some((each) => each.toLowerCase() === host))
      return [403, "this Host is not allowed"];
    const { origin } = headers;
    if (origin !== undefined && !origins.includes(origin) && !isLoopback(hostOf(origin)))
      return [403, "this Origin is not allowed"];
    if (!isSame(headers.authorization ?? "", `Bearer ${options.bearer()}`)) return [401, "a bearer token is required"];
    return undefined;
  }

  async function begin(): Promise<Session | undefined> {
    sweep();
    if (sessions.size >= limits.sessions) return undefined;
    const server = options.open(true);
    const session: Session = {
      server,
      usedAt: clock.monotonic(),
      open: 0,
      transport: new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        maxRequestBodySize: MOST_BODY_BYTES,
        onsessioninitialized: (id) => void sessions.set(id, session),
        onsessionclosed: (id) => end(id),
      }),
    };
    await server.connect(session.transport);
    return session;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split("?")[0];
    if (path === "/healthz" || path === "/readyz") return tell(response, 200, "ok");
    const why = refused(request);
    if (why) {
      if (why[0] === 401) response.setHeader("www-authenticate", "Bearer");
      return tell(response, ...why);
    }
    if (path !== PATH) return tell(response, 404, `there is ${PATH}`);
    const asked = asRequest(request);
    const id = request.headers["mcp-session-id"];
    if (id === undefined && (await alone.takes(asked))) return pass(await alone.answer(asked), response);
    const session = typeof id === "string" ? sessions.get(id) : await begin();
    if (!session) {
      if (typeof id === "string") return tell(response, 404, "this session is over: begin another one");
      response.setHeader("retry-after", "60");
      return tell(response, 503, "too many sessions");
    }
    session.open += 1;
    try {
      await pass(await session.transport.handleRequest(asked), response);
    } finally {
      session.open -= 1;
      session.usedAt = clock.monotonic();
      // Whatever it was, it began no session.
      if (session.transport.sessionId === undefined) await session.server.close();
    }
  }

  const server = createServer({ headersTimeout: 10_000, requestTimeout: 30_000 }, (request, response) => {
    response.on("error", () => {});
    handle(request, response).catch((error: unknown) => {
      if (!response.destroyed && !response.headersSent) tell(response, 500, "internal error");
      else response.destroy();
      if (!isGone(error)) onError(error);
    });
  });
  server.maxConnections = 1_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.listen.port, options.listen.host, resolve);
  });
  const sweeping = setInterval(sweep, Math.min(limits.idleMs, 60_000)).unref();
  const { address, port } = server.address() as AddressInfo;
  return {
    url: `http://${isIP(address) === 6 ? `[${address}]` : address}:${port}${PATH}`,
    sessions: () => sessions.size,
    async close() {
      clearInterval(sweeping);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const id of [...sessions.keys()]) end(id);
      await alone.close();
      server.closeAllConnections();
      await closed;
    },
  };
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
  // A client that waits for events has to know that they will come.
  response.flushHeaders();
  if (!answer.body) return void response.end();
  await pipeline(Readable.fromWeb(answer.body as ReadableStream), response);
}

const isGone = (error: unknown) =>
  error instanceof Error && "code" in error && error.code === "ERR_STREAM_PREMATURE_CLOSE";

/** In a time that tells nothing about where they differ. */
function isSame(given: string, wanted: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return wanted.length > "Bearer ".length && timingSafeEqual(hash(given), hash(wanted));
}
