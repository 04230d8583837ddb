import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type FaultChooser, type Injection, noInjection } from "../faults/chooser.ts";
import type { CallCounter } from "../http/calls.ts";
import { sendEvents } from "../http/events.ts";
import { methods, type Reply, type Route } from "../http/exchange.ts";
import { readBody, targetOf } from "../http/incoming.ts";
import { corePayload, errorCode, missing, Refusal, refusal } from "../http/refusal.ts";
import { createRouter, type Match } from "../http/router.ts";
import { closeServer, listenOn } from "../http/serve.ts";
import type { MachineTime } from "../time.ts";
import { createExecution, type ExecutionParts } from "./execute.ts";
import { createGate, type Gate } from "./gate.ts";
import { createLogins } from "./logins.ts";

export interface ListenerParts extends ExecutionParts {
  /** The token of the control endpoints. */
  steeringToken: string;
  machine: MachineTime;
  calls: CallCounter;
  faults: FaultChooser;
  /** Runs everything that is due. */
  catchUp(): void;
  /** Resolves when everything written so far survives the death of the process. */
  durable(): Promise<void>;
  /** Reports failures of the simulator itself. Never given secrets. */
  onError(where: string, error: unknown): void;
}

export interface Listener {
  /** The origin, e.g. `http://127.0.0.1:8080`. */
  listen(host: string, port: number): Promise<string>;
  close(): Promise<void>;
}

/** Serves routes over HTTP: matches, counts, injects faults, executes and answers. */
export function createListener(parts: ListenerParts): Listener {
  const { contracts, documents, machine } = parts;
  const match = createRouter(parts.routesOf(contracts.first));
  const gate = createGate(contracts, parts.steeringToken);
  const closing = new AbortController();
  let ownOrigin = "";
  const execute = createExecution(parts, createLogins({ contracts, documents, gate }), () => ownOrigin);
  const pause = (ms: number) => pauseUntil(machine, ms, closing.signal);

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
    const injection = injectionFor(parts, gate, request, found, Number(query.get("depth")));
    const { ending } = injection;
    if (ending?.fault === "request-lost") return void request.socket.destroy();
    if (ending?.fault === "reset") return void request.socket.resetAndDestroy();
    if (ending?.fault === "hang" && !ending.executed) return silence(request, ending.seconds, pause);
    let reply = await replyTo(request, found, { path, query }, injection);
    if (reply === undefined) return;
    if (ending?.fault === "404-everything" && ending.body === "gateway") reply = unknownToGateway;
    await parts.durable();
    if (injection.delay > 0) await pause(injection.delay);
    if (ending?.fault === "response-lost") return void request.socket.destroy();
    if (ending?.fault === "hang") return silence(request, ending.seconds, pause);
    const { effects } = injection;
    const date = new Date(parts.clock.now() + effects.skew + effects.dateSkew).toUTCString();
    send(response, reply, date);
    if (reply.events !== undefined) await sendEvents(response, reply.events, effects, pause);
  }

  /** Undefined: the connection is gone. */
  async function replyTo(
    request: IncomingMessage,
    found: Match,
    asked: ReturnType<typeof targetOf>,
    injection: Injection,
  ): Promise<Reply | undefined> {
    // Read first: a closed connection has no remote address.
    const from = request.socket.remoteAddress ?? "";
    const route = found.kind === "route" ? found.route : undefined;
    try {
      const body = await readBody(request, route);
      if (injection.hold > 0 && (await isDroppedWhileHeld(request, injection, pause, closing.signal))) return undefined;
      parts.catchUp();
      if (injection.ending?.fault === "404-everything" || found.kind === "no-path") throw missing();
      if (found.kind === "wrong-method") throw notAllowed(request, found.allowed);
      const { params } = found;
      return await execute(request, methodOf(request), found.route, { ...asked, params, from, ...body }, injection);
    } catch (error) {
      // The caller went away while sending.
      if (!request.complete && request.destroyed) return undefined;
      if (!(error instanceof Refusal)) parts.onError(`${methodOf(request)} ${templateOf(found)}`, error);
      return refusalReply(error, route);
    }
  }

  return {
    async listen(host, port) {
      ownOrigin = await listenOn(server, host, port);
      return ownOrigin;
    },
    close() {
      closing.abort();
      return closeServer(server);
    },
  };
}

const methodOf = (request: IncomingMessage) => methods.find((each) => each === request.method) ?? "GET";

/** Holds a complete request. True: it is dropped, because its connection was reset or the simulator closes. */
async function isDroppedWhileHeld(
  { socket }: IncomingMessage,
  { hold, resetDrops }: Injection,
  pause: (ms: number) => Promise<void>,
  closing: AbortSignal,
): Promise<boolean> {
  await pause(hold);
  // A connection that was closed without a reset has no error.
  return closing.aborted || (socket.errored !== null && resetDrops);
}

/** Sends nothing until the caller gives up, or for some seconds and then closes. */
async function silence({ socket }: IncomingMessage, seconds: number | undefined, pause: (ms: number) => Promise<void>) {
  if (seconds === undefined) return;
  await pause(seconds * 1000);
  socket.destroy();
}

const notAllowed = ({ method }: IncomingMessage, allowed: readonly string[]) =>
  refusal(405, errorCode.refused, `The method ${method} is not allowed here`, { Allow: allowed.join(", ") });

/** Counts the call and chooses its faults, unless it is for a control endpoint or a local page. */
function injectionFor(
  { calls, faults }: ListenerParts,
  gate: Gate,
  request: IncomingMessage,
  found: Match,
  depth: number,
): Injection {
  if (found.kind === "route" && ["steering", "local"].includes(found.route.access)) return noInjection;
  const template = templateOf(found);
  calls.count(`${request.method} ${template}`, gate.recognize(request));
  return faults.choose({ method: methodOf(request), template, depth });
}

const templateOf = (found: Match) => (found.kind === "route" ? found.route.template : "(no such path)");

/** The answer of an ingress for a path that leads to no service. */
const unknownToGateway: Reply = {
  status: 404,
  headers: { "Content-Type": "text/plain; charset=utf-8" },
  page: "default backend - 404",
};

function refusalReply(error: unknown, { payload = corePayload }: Partial<Route> = {}): Reply {
  const known = error instanceof Refusal ? error : refusal(500, errorCode.refused, "Internal error");
  return { status: known.status, headers: known.headers, body: payload(known) };
}

/** Sends the answer, or only its head when events follow. */
function send(response: ServerResponse, { status, headers, body, indent, page, events }: Reply, date: string): void {
  response.sendDate = false;
  if (events !== undefined) {
    response.writeHead(status, { Date: date, "Content-Type": "text/event-stream", ...headers });
    return;
  }
  const text = page ?? (body === undefined ? "" : JSON.stringify(body, null, indent ? 2 : 0));
  response.writeHead(status, {
    Date: date,
    ...(body !== undefined && { "Content-Type": "application/json" }),
    ...(page !== undefined && { "Content-Type": "text/html; charset=utf-8" }),
    "Content-Length": Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

/** Waits until the time has passed or the signal aborts. */
const pauseUntil = (machine: MachineTime, ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const finish = () => {
      cancel();
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const cancel = machine.after(ms, finish);
    signal.addEventListener("abort", finish);
  });
