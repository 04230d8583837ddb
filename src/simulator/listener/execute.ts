import type { IncomingMessage } from "node:http";
import { notedAs } from "../activity/names.ts";
import { alter, emptied, shallower, takeBack } from "../faults/answers.ts";
import { type Injection, noInjection } from "../faults/chooser.ts";
import type { Call, Method, Reply, Route } from "../http/exchange.ts";
import { originOf } from "../http/incoming.ts";
import { errorCode, invalid, Refusal, refusal } from "../http/refusal.ts";
import { type Documents, NoTransaction } from "../store/documents.ts";
import type { History } from "../store/history.ts";
import type { SimulatedClock } from "../time.ts";
import type { Contracts, World } from "../world.ts";
import type { Logins } from "./logins.ts";

export interface ExecutionParts {
  /** By contract, all with the same templates. */
  routesOf(world: World): Route[];
  contracts: Contracts;
  documents: Documents;
  history: History;
  clock: SimulatedClock;
  /** Whole seconds to wait, or 0 to pass. */
  rateLimit(credential: string): number;
}

/** The parts of a call that come from its HTTP request. */
export type Asked = Pick<Call, "path" | "query" | "params" | "from" | "body" | "bytes">;

/**
 * Executes matched calls: admits the caller, handles the call in a transaction and applies the faults to the answer.
 */
export function createExecution(parts: ExecutionParts, logins: Logins, ownOrigin: () => string) {
  const { documents, clock } = parts;
  const ownRoute = createRouteTables(parts);

  async function execute(
    request: IncomingMessage,
    method: Method,
    route: Route,
    asked: Asked,
    { ending, deliveries, effects }: Injection,
  ): Promise<Reply> {
    const { headers } = request;
    if (ending?.fault === "status") throw injected(ending.status, ending.message, ending.retryAfter);
    const wait = route.access === "user" ? parts.rateLimit(headers.authorization ?? "") : 0;
    if (wait > 0) throw injected(429, "The rate limit is exceeded", wait);
    const origin = originOf(request) ?? ownOrigin();
    const at = clock.now();
    const caller = logins.admit(request, route, { ...asked, at, origin, method });
    const call: Call = { ...asked, method, headers, origin, caller, at, effects };
    const world = worldOf(parts, route, call);
    logins.called(world, route, call);
    if (ending?.fault === "token-revoked" && caller.tokenId !== null) {
      const { tokenId } = caller;
      documents.transaction(() => world.identity.tokens.delete(tokenId));
      // Now the call is refused with 401.
      return execute(request, method, route, asked, noInjection);
    }
    const own = ownRoute(world, route);
    if (own.prepare !== undefined) await own.prepare(call);
    const reply = delivered(parts, world, own, call);
    if (deliveries === 2 && method !== "GET") {
      try {
        delivered(parts, world, own, call);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
    }
    const shown = emptied(reply, route, effects);
    return { ...shown, body: alter(shown.body, effects.alterations) };
  }

  return execute;
}

/** The contract that a call is about: the caller's or, for steering, the one that the query names. */
function worldOf({ contracts }: ExecutionParts, { access }: Route, { caller, query }: Call): World {
  const named = access === "steering" ? query.get("contract") : null;
  const number = named === null ? caller.contractNumber || contracts.first.contractNumber : Number(named);
  const world = contracts.of(number);
  if (world === undefined) throw invalid("contract", `there is no contract ${named}`);
  if (named !== null) query.delete("contract");
  return world;
}

/** Finds the route of a contract that has the method and template of a matched route. */
function createRouteTables({ routesOf }: ExecutionParts) {
  const tables = new Map<World, Map<string, Route>>();
  const nameOf = ({ method, template }: Route) => `${method} ${template}`;
  return (world: World, route: Route): Route => {
    const table = tables.get(world) ?? new Map(routesOf(world).map((each) => [nameOf(each), each]));
    tables.set(world, table);
    const own = table.get(nameOf(route));
    if (own === undefined) throw new Error(`contract ${world.contractNumber} has no route ${nameOf(route)}`);
    return own;
  };
}

/** Handles a call once, with its entry in the activity log. */
function delivered(parts: ExecutionParts, world: World, route: Route, call: Call): Reply {
  const { documents } = parts;
  const { effects, caller } = call;
  const handle = (at: number) => {
    const work = () => {
      const reply = route.handle({ ...call, at });
      if (effects.notDone) takeBack(world, reply);
      return reply;
    };
    const noted = () => world.activity.called(call, route, work);
    return route.access === "user" ? world.viewer.as(caller.user, noted) : noted();
  };
  try {
    const stale = effects.stale > 0 ? asItWas(parts, handle, call) : undefined;
    const reply = stale ?? documents.transaction(() => handle(call.at));
    return effects.shallow === null ? reply : { ...reply, body: shallower(reply.body, effects.shallow) };
  } catch (error) {
    // The transaction of the call is undone, so the entry of the refusal needs one of its own.
    if (error instanceof Refusal && notedAs(route) !== undefined) {
      documents.transaction(() => world.activity.refused(call, route, error));
    }
    throw error;
  }
}

/** The answer as of an earlier instant; undefined for a read that writes, because the past cannot be written. */
function asItWas({ history }: ExecutionParts, handle: (at: number) => Reply, call: Call): Reply | undefined {
  const at = call.at - call.effects.stale;
  try {
    return history.asOf(at, () => handle(at));
  } catch (error) {
    if (error instanceof NoTransaction) return undefined;
    throw error;
  }
}

function injected(status: number, message: string, retryAfter: number | null): Refusal {
  const codes: Record<number, string> = { 401: errorCode.unauthorized, 403: errorCode.denied, 404: errorCode.missing };
  const code = status === 429 ? errorCode.tooMany : (codes[status] ?? errorCode.refused);
  return refusal(status, code, message, retryAfter === null ? {} : { "Retry-After": String(retryAfter) });
}
