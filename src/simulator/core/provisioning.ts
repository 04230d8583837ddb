import type { Call, Reply } from "../http/exchange.ts";
import type { Resource } from "../store/resource.ts";
import type { World } from "../world.ts";
import type { Span } from "./kind.ts";
import { basePath } from "./href.ts";
import type { Outcome, RequestRecord } from "./request-record.ts";

/** Collects what one accepted write does until it is opened as a request. */
export interface Work {
  targets: Resource[];
  onDone: Outcome[];
  onFailed: Outcome[];
  /** Simulated milliseconds; the longest part decides. */
  lasts: number;
}

export const newWork = (): Work => ({ targets: [], onDone: [], onFailed: [], lasts: 0 });

/** Draws how long an operation takes and lets the work last at least that long. */
export function takes(world: World, work: Work, operation: string, [low, high]: Span): void {
  work.lasts = Math.max(work.lasts, world.chance.between(`duration/${operation}`, low * 1000, high * 1000));
}

const secretHeaders = new Set(["authorization", "proxy-authorization", "cookie"]);

/** Turns work into a running request and gives the 202 that answers the call. */
export function accept(world: World, call: Call, work: Work, body?: unknown): Reply {
  const id = world.chance.uuid("request");
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(call.headers)) {
    if (value !== undefined && !secretHeaders.has(name)) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  const query = call.query.size > 0 ? `?${call.query}` : "";
  const now = world.clock.now();
  const record: RequestRecord = {
    id,
    status: "BUSY",
    message: "Request is being processed",
    method: call.method,
    url: `${call.origin}${call.path}${query}`,
    headers,
    body: call.body,
    createdAt: now,
    createdBy: call.caller.user.id,
    dueAt: now + Math.round(work.lasts * call.effects.slowdown),
    targets: work.targets.map(({ key, id, type }) => ({ key, id, type })),
    failure: call.effects.failWith,
    onDone: work.onDone,
    onFailed: work.onFailed,
  };
  world.requests.put(id, record);
  putOnAgenda(world, record);
  return {
    status: 202,
    headers: { Location: `${call.origin}${basePath}/requests/${id}/status` },
    body,
  };
}

/** Puts running requests of an earlier run back on the agenda. */
export function resumeRequests(world: World): void {
  for (const record of world.requests.values()) if (record.status === "BUSY") putOnAgenda(world, record);
}

function putOnAgenda(world: World, record: RequestRecord): void {
  world.agenda.schedule(record.dueAt, () => world.documents.transaction(() => end(world, record.id)));
}

function end(world: World, id: string): void {
  const record = world.requests.get(id);
  if (record === undefined || record.status !== "BUSY") return;
  const main = record.targets[0];
  const vanished = main !== undefined && world.resources.get(main.key) === undefined;
  const failure = record.failure ?? (vanished ? "[VDC-5-309] The resource was removed meanwhile" : null);
  for (const outcome of failure === null ? record.onDone : record.onFailed) apply(world, outcome);
  world.requests.put(id, {
    ...record,
    status: failure === null ? "DONE" : "FAILED",
    message: failure ?? "Request has been successfully executed",
    onDone: [],
    onFailed: [],
  });
}

function apply(world: World, outcome: Outcome): void {
  const resource = world.resources.get(outcome.key);
  if (resource === undefined) return;
  switch (outcome.op) {
    case "settle":
      return world.resources.put({
        ...resource,
        state: "AVAILABLE",
        properties: { ...resource.properties, ...outcome.merge },
      });
    case "become":
      return world.resources.put({
        ...resource,
        state: "AVAILABLE",
        properties: outcome.properties,
        refs: outcome.refs.filter((ref) => world.resources.get(ref) !== undefined),
      });
    case "remove":
      return world.resources.remove(outcome.key);
    case "remove-unused":
      if (world.resources.referrers(outcome.key, "nic").length > 0) {
        return world.resources.put({ ...resource, state: "AVAILABLE" });
      }
      return world.resources.remove(outcome.key);
  }
}
