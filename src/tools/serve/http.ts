import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import type { Server } from "@modelcontextprotocol/server";
import type { Clock } from "../../runtime/clock.ts";
import { openServer } from "../../server/open-server.ts";
import type { Pair } from "../../server/serving-certificate.ts";
import { serveAlone } from "./alone.ts";
import { type Admission, callerOf, type Refusal } from "./callers.ts";
import { createSessions, type Limits } from "./sessions.ts";

export interface HttpOptions extends Admission {
  listen: { host: string; port: number };
  /** Absent: plain HTTP. */
  tls?: Pair | undefined;
  /** `kept` is false if the client's next request gets another server. */
  open: (kept: boolean) => Server;
  clock: Clock;
  limits?: Partial<Limits>;
  onError: (error: unknown) => void;
}

const defaults: Limits = { sessions: 100, ofOne: 20, idleMs: 30 * 60_000 };
const MOST_BODY_BYTES = 1024 * 1024;
export const PATH = "/mcp";

export interface HttpServing {
  url: string;
  sessions(): number;
  /** Switches to another certificate. */
  renew(tls: Pair): void;
  close(): Promise<void>;
}

/** Streamable HTTP: a session per client, or no session for newer clients. */
export async function serveHttp(options: HttpOptions): Promise<HttpServing> {
  const { clock, onError } = options;
  const limits = { ...defaults, ...options.limits };
  const alone = serveAlone(() => options.open(false), MOST_BODY_BYTES);
  const open = () => options.open(true);
  const sessions = createSessions({ open, clock, limits, maxRequestBodySize: MOST_BODY_BYTES, onError });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split("?")[0];
    if (path === "/healthz" || path === "/readyz") return tell(response, 200, "ok");
    const caller = callerOf(request, options);
    if (typeof caller !== "string") return refuse(response, caller);
    if (path !== PATH) return tell(response, 404, `unknown path; valid: ${PATH}`);
    const asked = asRequest(request);
    const id = request.headers["mcp-session-id"];
    if (id === undefined && (await alone.takes(asked))) return pass(await alone.answer(asked), response);
    const session = typeof id === "string" ? sessions.resume(id, caller) : await sessions.begin(caller);
    if (!("transport" in session)) return refuse(response, session);
    await sessions.use(session, async (transport) => pass(await transport.handleRequest(asked), response));
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
  const sweeping = setInterval(sessions.sweep, Math.min(limits.idleMs, 60_000)).unref();
  return {
    url: url + PATH,
    sessions: sessions.count,
    renew,
    async close() {
      clearInterval(sweeping);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      sessions.endAll();
      await alone.close();
      closeConnections();
      await closed;
    },
  };
}

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
