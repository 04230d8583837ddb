import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { notedAs } from "../activity/names.ts";
import { alter, emptied, shallower, takeBack } from "../faults/answers.ts";
import { type FaultChooser, noOrdeal, type Ordeal } from "../faults/chooser.ts";
import type { CallCounter } from "../http/calls.ts";
import { sendEvents } from "../http/events.ts";
import { type Call, type Method, methods, type Reply, type Route } from "../http/exchange.ts";
import { originOf, readBody, targetOf } from "../http/incoming.ts";
import { corePayload, errorCode, invalid, missing, Refusal, refusal } from "../http/refusal.ts";
import { createRouter } from "../http/router.ts";
import { closeServer, listenOn } from "../http/serve.ts";
import { type Documents, NoTransaction } from "../store/documents.ts";
import type { History } from "../store/history.ts";
import type { MachineTime, SimulatedClock } from "../time.ts";
import type { Contracts, World } from "../world.ts";
import { createGate } from "./gate.ts";
import { createLogins } from "./logins.ts";

export interface ListenerParts {
  /** By contract, all with the same templates. */
  routesOf(world: World): Route[];
  contracts: Contracts;
  /** The token that steers. */
  steeringToken: string;
  documents: Documents;
  history: History;
  clock: SimulatedClock;
  machine: MachineTime;
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

/** Serves routes over HTTP: matches, counts, injects faults, authenticates, executes in a transaction, answers. */
export function createListener(parts: ListenerParts): Listener {
  const { contracts } = parts;
  const match = createRouter(parts.routesOf(contracts.first));
  const gate = createGate(contracts, parts.steeringToken);
  const logins = createLogins({ contracts, documents: parts.documents, gate });
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
    // A connection that is closed later does not tell it any more.
    const from = request.socket.remoteAddress ?? "";
    const found = match(request.method ?? "", path);
    const apart = found.kind === "route" && ["steering", "local"].includes(found.route.access);
    const name = found.kind === "route" ? found.route.template : "(no such path)";
    const method = methods.find((each) => each === request.method) ?? "GET";
    if (!apart) parts.calls.count(`${request.method} ${name}`, gate.recognize(request));
    const ordeal = apart
      ? noOrdeal
      : parts.faults.choose({ method, template: name, depth: Number(query.get("depth")) });
    const { ending } = ordeal;
    if (ending?.fault === "request-lost") return void request.socket.destroy();
    if (ending?.fault === "reset") return void request.socket.resetAndDestroy();
    if (ending?.fault === "hang" && !ending.executed) return silence(request, ending.seconds);

    let reply: Reply;
    try {
      const body = await readBody(request, found.kind === "route" ? found.route : undefined);
      if (ordeal.hold > 0 && !(await held(request, ordeal))) return;
      parts.catchUp();
      if (ending?.fault === "404-everything" || found.kind === "no-path") throw missing();
      if (found.kind === "wrong-method") {
        throw refusal(405, errorCode.refused, `The method ${request.method} is not allowed here`, {
          Allow: found.allowed.join(", "),
        });
      }
      reply = await execute(request, method, found.route, { path, query, params: found.params, from, ...body }, ordeal);
    } catch (error) {
      // The caller went away while sending.
      if (!request.complete && request.destroyed) return;
      if (!(error instanceof Refusal)) parts.onError(`${method} ${name}`, error);
      const { payload = corePayload } = found.kind === "route" ? found.route : {};
      const known = error instanceof Refusal ? error : refusal(500, errorCode.refused, "Internal error");
      reply = { status: known.status, headers: known.headers, body: payload(known) };
    }
    if (ending?.fault === "404-everything" && ending.body === "gateway") reply = unknownToGateway;
    await parts.durable();
    if (ordeal.delay > 0) await pause(ordeal.delay);
    if (ending?.fault === "response-lost") return void request.socket.destroy();
    if (ending?.fault === "hang") return silence(request, ending.seconds);
    if (reply.events === undefined) return send(response, reply, ordeal);
    response.sendDate = false;
    response.writeHead(reply.status, {
      Date: dateFor(ordeal),
      "Content-Type": "text/event-stream",
      ...reply.headers,
    });
    await sendEvents(response, reply.events, ordeal.effects, pause);
  }

  async function execute(
    request: IncomingMessage,
    method: Method,
    route: Route,
    rest: Pick<Call, "path" | "query" | "params" | "from" | "body" | "bytes">,
    { ending, deliveries, effects }: Ordeal,
  ): Promise<Reply> {
    const { headers } = request;
    if (ending?.fault === "status") throw injected(ending.status, ending.message, ending.retryAfter);
    const wait = route.access === "user" ? parts.rateLimit(headers.authorization ?? "") : 0;
    if (wait > 0) throw injected(429, "The rate limit is exceeded", wait);
    const origin = originOf(request) ?? ownOrigin;
    const at = parts.clock.now();
    const caller = logins.admit(request, route, { ...rest, at, origin, method });
    const call: Call = { ...rest, method, headers, origin, caller, at, effects };
    const world = worldOf(route, call);
    logins.called(world, route, call);
    if (ending?.fault === "token-revoked" && caller.tokenId !== null) {
      const { tokenId } = caller;
      parts.documents.transaction(() => world.identity.tokens.delete(tokenId));
      return execute(request, method, route, rest, noOrdeal);
    }
    const own = ownRoute(world, route);
    if (own.prepare !== undefined) await own.prepare(call);
    const handle = (at: number) => {
      const work = () => {
        const reply = own.handle({ ...call, at });
        if (effects.notDone) takeBack(world, reply);
        return reply;
      };
      const noted = () => world.activity.called(call, own, work);
      return route.access === "user" ? world.viewer.as(caller.user, noted) : noted();
    };
    const delivered = () => {
      try {
        return deliver(handle, call);
      } catch (error) {
        // What a refusal undoes would take its own entry along.
        if (error instanceof Refusal && notedAs(own) !== undefined) {
          parts.documents.transaction(() => world.activity.refused(call, own, error));
        }
        throw error;
      }
    };
    const reply = delivered();
    if (deliveries === 2 && method !== "GET") {
      try {
        delivered();
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
    }
    const shown = emptied(reply, route, effects);
    return { ...shown, body: alter(shown.body, effects.alterations) };
  }

  /** The contract that a call is about: the caller's or, when somebody steers, the one he names. */
  function worldOf({ access }: Route, { caller, query }: Call): World {
    const named = access === "steering" ? query.get("contract") : null;
    const number = named === null ? caller.contractNumber || contracts.first.contractNumber : Number(named);
    const world = contracts.of(number);
    if (world === undefined) throw invalid("contract", `there is no contract ${named}`);
    if (named !== null) query.delete("contract");
    return world;
  }

  const tables = new Map<World, Map<string, Route>>();
  const nameOf = ({ method, template }: Route) => `${method} ${template}`;

  /** The route as that contract has it. */
  function ownRoute(world: World, route: Route): Route {
    const table = tables.get(world) ?? new Map(parts.routesOf(world).map((each) => [nameOf(each), each]));
    tables.set(world, table);
    const own = table.get(nameOf(route));
    if (own === undefined) throw new Error(`contract ${world.contractNumber} has no route ${nameOf(route)}`);
    return own;
  }

  function deliver(handle: (at: number) => Reply, call: Call): Reply {
    const { stale, shallow } = call.effects;
    const reply = (stale > 0 && asItWas(handle, call)) || parts.documents.transaction(() => handle(call.at));
    return shallow === null ? reply : { ...reply, body: shallower(reply.body, shallow) };
  }

  /** The answer of a while ago; undefined for a read that writes, because what it makes would not be there. */
  function asItWas(handle: (at: number) => Reply, call: Call): Reply | undefined {
    const at = call.at - call.effects.stale;
    try {
      return parts.history.asOf(at, () => handle(at));
    } catch (error) {
      if (error instanceof NoTransaction) return undefined;
      throw error;
    }
  }

  const dateFor = ({ effects }: Ordeal) => new Date(parts.clock.now() + effects.skew + effects.dateSkew).toUTCString();

  function send(response: ServerResponse, { status, headers, body, indent, page }: Reply, ordeal: Ordeal): void {
    const text = page ?? (body === undefined ? "" : JSON.stringify(body, null, indent ? 2 : 0));
    response.sendDate = false;
    response.writeHead(status, {
      Date: dateFor(ordeal),
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...(page !== undefined && { "Content-Type": "text/html; charset=utf-8" }),
      "Content-Length": Buffer.byteLength(text),
      ...headers,
    });
    response.end(text);
  }

  /** Waits, but not longer than the simulator runs. */
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const finish = () => {
        cancel();
        closing.signal.removeEventListener("abort", finish);
        resolve();
      };
      const cancel = parts.machine.after(ms, finish);
      closing.signal.addEventListener("abort", finish);
    });

  /** Keeps back a request that has come whole. False: it is lost, with its connection or with the simulator. */
  async function held({ socket }: IncomingMessage, { hold, resetDrops }: Ordeal): Promise<boolean> {
    await pause(hold);
    // An orderly end leaves no error behind.
    const wasReset = socket.errored !== null;
    return !closing.signal.aborted && !(wasReset && resetDrops);
  }

  /** Says nothing until the caller gives up, or for some seconds and then closes. */
  async function silence(request: IncomingMessage, seconds: number | undefined): Promise<void> {
    if (seconds === undefined) return;
    await pause(seconds * 1000);
    request.socket.destroy();
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

/** What an ingress answers for a path that leads to no service. */
const unknownToGateway: Reply = {
  status: 404,
  headers: { "Content-Type": "text/plain; charset=utf-8" },
  page: "default backend - 404",
};

function injected(status: number, message: string, retryAfter: number | null): Refusal {
  const codes: Record<number, string> = { 401: errorCode.unauthorized, 403: errorCode.denied, 404: errorCode.missing };
  const code = status === 429 ? errorCode.tooMany : (codes[status] ?? errorCode.refused);
  return refusal(status, code, message, retryAfter === null ? {} : { "Retry-After": String(retryAfter) });
}
