import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { FaultChooser, Ordeal } from "../faults/chooser.ts";
import { noOrdeal } from "../faults/chooser.ts";
import type { Identity } from "../identity/identity.ts";
import type { Documents } from "../store/documents.ts";
import type { MachineTime, SimulatedClock } from "../time.ts";
import type { CallCounter } from "./calls.ts";
import { type Call, type Caller, type Method, methods, type Reply, type Route } from "./exchange.ts";
import { isLoopback } from "./loopback.ts";
import { errorCode, errorReply, missing, Refusal, refusal } from "./refusal.ts";
import { createRouter } from "./router.ts";

export interface ListenerParts {
  routes: Route[];
  identity: Identity;
  documents: Documents;
  clock: SimulatedClock;
  machine: MachineTime;
  contractNumber: number;
  calls: CallCounter;
  faults: FaultChooser;
  /** Whole seconds to wait, or 0 to pass. */
  rateLimit(credential: string): number;
  /** Brings the platform up to the present moment. */
  catchUp(): void;
  /** Resolves when everything written so far survives the death of the process. */
  durable(): Promise<void>;
  /** Hears of failures of the simulator itself. Never given secrets. */
  onError(where: string, error: unknown): void;
}

export interface Listener {
  /** The origin, e.g. `http://127.0.0.1:8080`. */
  listen(host: string, port: number): Promise<string>;
  close(): Promise<void>;
}

const largestBody = 1024 * 1024;

/** Serves routes over HTTP: matches, counts, injects faults, authenticates, executes in a transaction, answers. */
export function createListener(parts: ListenerParts): Listener {
  const match = createRouter(parts.routes);
  const closing = new AbortController();
  let ownOrigin = "";

  const server = createServer({ keepAliveTimeout: 90_000 }, (request, response) => {
    response.on("error", () => {});
    answer(request, response).catch((error) => {
      parts.onError("no answer", error);
      request.socket.destroy();
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { path, query } = targetOf(request.url ?? "/");
    const found = match(request.method ?? "", path);
    const steering = found.kind === "route" && found.route.access === "steering";
    const name = found.kind === "route" ? found.route.template : "(no such path)";
    const method = methods.find((each) => each === request.method) ?? "GET";
    if (!steering) parts.calls.count(`${request.method} ${name}`);
    const ordeal = steering ? noOrdeal : parts.faults.choose(method, name);
    const { ending } = ordeal;
    if (ending?.fault === "request-lost") return void request.socket.destroy();
    if (ending?.fault === "reset") return void request.socket.resetAndDestroy();
    if (ending?.fault === "hang" && !ending.executed) return silence(request, ending.seconds);

    let reply: Reply;
    try {
      const body = await readBody(request);
      parts.catchUp();
      if (found.kind === "no-path") throw missing();
      if (found.kind === "wrong-method") {
        throw refusal(405, errorCode.refused, `The method ${request.method} is not allowed here`, {
          Allow: found.allowed.join(", "),
        });
      }
      reply = execute(request, method, found.route, { path, query, params: found.params, body }, ordeal);
    } catch (error) {
      // The caller went away while sending.
      if (!request.complete && request.destroyed) return;
      if (!(error instanceof Refusal)) parts.onError(`${method} ${name}`, error);
      reply = errorReply(error instanceof Refusal ? error : refusal(500, errorCode.refused, "Internal error"));
    }
    await parts.durable();
    if (ordeal.delay > 0) await pause(ordeal.delay);
    if (ending?.fault === "response-lost") return void request.socket.destroy();
    if (ending?.fault === "hang") return silence(request, ending.seconds);
    send(response, reply, ordeal.effects.skew);
  }

  function execute(
    request: IncomingMessage,
    method: Method,
    route: Route,
    rest: Pick<Call, "path" | "query" | "params" | "body">,
    { ending, deliveries, effects }: Ordeal,
  ): Reply {
    const { headers } = request;
    if (ending?.fault === "status") throw injected(ending.status, ending.message, ending.retryAfter);
    const wait = route.access === "user" ? parts.rateLimit(headers.authorization ?? "") : 0;
    if (wait > 0) throw injected(429, "The rate limit is exceeded", wait);
    const call: Call = {
      ...rest,
      method,
      headers,
      origin: originOf(headers.host) ?? ownOrigin,
      caller: callerOf(request, route),
      at: parts.clock.now(),
      effects,
    };
    if (ending?.fault === "token-revoked" && call.caller.tokenId !== null) {
      const { tokenId } = call.caller;
      parts.documents.transaction(() => parts.identity.tokens.delete(tokenId));
      return execute(request, method, route, rest, noOrdeal);
    }
    checkContentType(request, rest.body);
    const reply = deliver(route, call);
    if (deliveries === 2 && method !== "GET") {
      try {
        deliver(route, call);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
    }
    return reply;
  }

  const deliver = (route: Route, call: Call) => parts.documents.transaction(() => route.handle(call));

  function callerOf(request: IncomingMessage, route: Route): Caller {
    const { authorization } = request.headers;
    if (route.access === "open") return nobody;
    if (route.access === "steering") {
      if (!isLoopback(request.socket.remoteAddress)) {
        throw refusal(403, errorCode.denied, "The simulator is steered from its own machine only");
      }
      const token = /^bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
      if (token === undefined) throw refusal(401, errorCode.unauthorized, "Send the simulator's token as bearer token");
      if (!parts.identity.isSteeringToken(token)) {
        throw refusal(403, errorCode.denied, "Only the simulator's own token steers it");
      }
      return nobody;
    }
    const caller = parts.identity.authenticate(authorization);
    const contract = request.headers["x-contract-number"];
    if (contract !== undefined && Number(contract) !== parts.contractNumber) {
      throw refusal(403, errorCode.denied, "Access denied: the contract of X-Contract-Number is not yours");
    }
    return caller;
  }

  function send(response: ServerResponse, { status, headers, body, indent }: Reply, skew: number): void {
    const text = body === undefined ? "" : JSON.stringify(body, null, indent ? 2 : 0);
    response.sendDate = false;
    response.writeHead(status, {
      Date: new Date(parts.clock.now() + skew).toUTCString(),
      ...(body !== undefined && { "Content-Type": "application/json" }),
      "Content-Length": Buffer.byteLength(text),
      ...headers,
    });
    response.end(text);
  }

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const cancel = parts.machine.after(ms, resolve);
      closing.signal.addEventListener("abort", () => {
        cancel();
        resolve();
      });
    });

  /** Says nothing until the caller gives up, or for some seconds and then closes. */
  async function silence(request: IncomingMessage, seconds: number | undefined): Promise<void> {
    if (seconds === undefined) return;
    await pause(seconds * 1000);
    request.socket.destroy();
  }

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, host, () => {
          server.removeListener("error", reject);
          const address = server.address();
          const bound = typeof address === "object" && address !== null ? address.port : port;
          ownOrigin = `http://${reachable(host)}:${bound}`;
          resolve(ownOrigin);
        });
      }),
    close: () =>
      new Promise((resolve) => {
        closing.abort();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const nobody: Caller = {
  user: { id: "", username: "", password: "", role: "user", twoFactor: false },
  tokenId: null,
};

function injected(status: number, message: string, retryAfter: number | null): Refusal {
  const codes: Record<number, string> = { 401: errorCode.unauthorized, 403: errorCode.denied, 404: errorCode.missing };
  const code = status === 429 ? errorCode.tooMany : (codes[status] ?? errorCode.refused);
  return refusal(status, code, message, retryAfter === null ? {} : { "Retry-After": String(retryAfter) });
}

/** A wildcard address is a place to listen on, not one to call. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

function originOf(host: string | undefined): string | undefined {
  return host !== undefined && /^[\w.\-[\]:]+$/.test(host) ? `http://${host}` : undefined;
}

/** Splits path and query; accepts the absolute form that proxies send. */
function targetOf(url: string): { path: string; query: URLSearchParams } {
  const relative = url.replace(/^https?:\/\/[^/?]*/i, "");
  const mark = relative.indexOf("?");
  const path = mark < 0 ? relative : relative.slice(0, mark);
  return { path: path || "/", query: new URLSearchParams(mark < 0 ? "" : relative.slice(mark + 1)) };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    // The rest is read and dropped, so that the answer reaches a caller that is still sending.
    if (size <= largestBody) chunks.push(chunk);
  }
  if (size > largestBody)
    throw refusal(413, errorCode.validation, `[(root)] the body is larger than ${largestBody} bytes`);
  return Buffer.concat(chunks).toString();
}

function checkContentType(request: IncomingMessage, body: string): void {
  const type = request.headers["content-type"];
  if (body === "" || type === undefined || /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) return;
  throw refusal(415, errorCode.validation, "The body must be sent as Content-Type: application/json");
}
