import type { Call, Reply } from "../../http/exchange.ts";
import type { Outcome, RequestRecord } from "../../records/requests.ts";
import { basePath, type Resource } from "../../store/resource.ts";
import type { World } from "../../world.ts";
import type { Kind, Span } from "../kind/kind.ts";
import { kindOf } from "../table.ts";

/** One write that becomes a request: its call, its targets and its outcomes. */
export interface Write {
  readonly world: World;
  readonly call: Call;
  readonly targets: Resource[];
  readonly onDone: Outcome[];
  /** Applied in this order: a resource that others may use comes last. */
  readonly onFailed: Outcome[];
  /** In simulated milliseconds: that of the longest operation. */
  duration: number;
  /** When reads begin to show what the write creates, all of it at once. */
  readonly visibleAt: number;
}

/** New resources cannot be seen for this long, in simulated milliseconds. */
const invisible = [200, 1000] as const;

export function newWrite(world: World, call: Call): Write {
  const invisibleFor = Math.round(world.chance.between("visibility", ...invisible));
  const visibleAt = call.at + Math.max(invisibleFor, call.effects.invisibleFor);
  return { world, call, targets: [], onDone: [], onFailed: [], duration: 0, visibleAt };
}

/** Draws the duration of an operation. The write takes at least that long. */
export function drawDuration(write: Write, operation: string, [low, high]: Span): void {
  const drawn = write.world.chance.between(`duration/${operation}`, low * 1000, high * 1000);
  write.duration = Math.max(write.duration, drawn);
}

/**
 * Removes a resource when the request ends DONE. Until then it is BUSY, and reads show it unless a fault hides it.
 */
export function removeLater(write: Write, kind: Kind, resource: Resource): void {
  const hidden = write.call.effects.hideWhileDeleting;
  write.world.resources.put({ ...resource, state: "BUSY", shownState: kind.states?.delete, hidden });
  write.targets.push(resource);
  write.onDone.push({ op: "remove", key: resource.key });
  write.onFailed.push({ op: "settle", key: resource.key });
}

const secretHeaders = new Set(["authorization", "proxy-authorization", "cookie"]);

/** Turns a write about one resource into a running request. */
export function startRequest(write: Write, about: Resource): RequestRecord {
  const { world } = write;
  const record = newRecord(write, [about, ...write.targets.filter(({ key }) => key !== about.key)]);
  world.requests.put(record.id, record);
  world.activity.accepted(write.call, record);
  putOnAgenda(world, record);
  return record;
}

const done = "Request has been successfully executed";

function newRecord({ world, call, ...write }: Write, targets: readonly Resource[]): RequestRecord {
  const id = world.chance.uuid("request");
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(call.headers)) {
    if (value !== undefined && !secretHeaders.has(name)) headers[name] = String(value);
  }
  const query = call.query.size > 0 ? `?${call.query}` : "";
  return {
    id,
    status: "BUSY",
    message: "Request is being processed",
    method: call.method,
    url: `${call.origin}${call.path}${query}`,
    headers,
    body: call.body,
    createdAt: call.at,
    createdBy: call.caller.user.id,
    dueAt: call.at + Math.round(write.duration * call.effects.slowdown),
    targets: targets.map(({ key, id, type }) => ({ key, id, type })),
    failure: call.effects.failWith,
    onDone: write.onDone,
    onFailed: write.onFailed,
  };
}

const location = (call: Call, { id }: RequestRecord) => ({
  Location: `${call.origin}${basePath}/requests/${id}/status`,
});

/** Starts the request of a call and gives the 202 that answers it. */
export function accept(write: Write, about: Resource, body?: unknown): Reply {
  return { status: 202, headers: location(write.call, startRequest(write, about)), body };
}

/** Notes a finished write as a request, for clients that wait for one. The body is left out: it may have a password. */
export function acceptDone(world: World, call: Call, reply: Reply, targets: readonly Resource[]): Reply {
  const write = newWrite(world, { ...call, body: "" });
  const record = { ...newRecord(write, targets), status: "DONE" as const, message: done };
  world.requests.put(record.id, record);
  return { ...reply, headers: { ...reply.headers, ...location(call, record) } };
}

/** Schedules the ends of the requests that an earlier run had started. */
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
    message: failure ?? done,
    onDone: [],
    onFailed: [],
  });
  world.activity.ended({ ...record, message: done }, failure);
}

function apply(world: World, outcome: Outcome): void {
  const resource = world.resources.get(outcome.key);
  if (resource === undefined) return;
  const next = after(world, outcome, resource);
  if (next === undefined) world.resources.remove(outcome.key);
  else world.resources.put(next);
}

/** The resource after the outcome; undefined: it is removed. */
function after(world: World, outcome: Outcome, resource: Resource): Resource | undefined {
  const { idle: shownState } = kindOf(resource.type).states ?? {};
  const idle: Resource = { ...resource, state: "AVAILABLE", shownState, hidden: false };
  switch (outcome.op) {
    case "settle":
      return { ...idle, properties: { ...idle.properties, ...outcome.merge } };
    case "become": {
      const refs = outcome.refs.filter((ref) => world.resources.get(ref) !== undefined);
      return { ...idle, properties: outcome.properties, refs };
    }
    case "remove":
      return undefined;
    case "remove-unused":
      return world.resources.referrers(outcome.key, "nic").length > 0 ? idle : undefined;
  }
}
