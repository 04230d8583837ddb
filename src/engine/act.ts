import type { Operation } from "../kinds/kind.ts";
import type { KubeObject } from "../kube/resource.ts";
import { NotFound, PlatformError, Retry, Terminal, Unauthorized } from "../platform/errors.ts";
import type { Reply } from "../platform/transport.ts";
import { claim, create } from "./create.ts";
import { type Decision, type Obstacle, underWay } from "./decide.ts";
import type { Deps } from "./deps.ts";
import { EXTERNAL_ID, INTENT } from "./names.ts";
import { obstacleOf } from "./problems.ts";
import { products } from "./products.ts";
import type { Reason } from "./reasons.ts";
import { search } from "./search.ts";
import { conditions, readFacts, type Standing } from "./status.ts";
import type { ResourceStatus } from "./status-schema.ts";
import type { Scene } from "./view.ts";
import { release, writeMetadata, writeStatus } from "./write.ts";

/** When the object wants to be looked at again if nothing happens before: never, at a time, now, or ever later. */
export type Again = "never" | "now" | "backoff" | { inMs: number; background?: boolean };

/** Performs one step and records its outcome. */
export async function act(deps: Deps, scene: Scene, decision: Decision): Promise<Again> {
  switch (decision.step) {
    case "ignore":
      return "never";
    case "rest":
      return rest(deps, scene);
    case "wait":
      return wait(deps, scene, decision);
    case "stall":
      await stall(deps, scene, decision.reason, decision.message);
      return decision.retryMs === undefined ? "never" : { inMs: decision.retryMs };
    case "fail":
      return fail(deps, scene, decision);
    case "create":
      return attemptCreation(deps, scene);
    case "search":
      return withPlatform(deps, scene, async () => {
        if (scene.view.intent) await search(deps, scene, scene.view.intent);
        return "now";
      });
    case "claim":
      return takeOver(deps, scene, decision.id);
    case "forget":
      return forget(deps, scene);
    case "update":
      return update(deps, scene, decision.operation);
    case "delete":
      return remove(deps, scene);
    case "release":
      await release(deps, scene.kind, scene.object);
      deps.events.record(scene.object, "Normal", decision.reason, sentence(decision.message));
      return "never";
  }
}

/** Writes a status in which only what `changes` names is different; undefined takes a field away. */
async function record(
  deps: Deps,
  { kind, object, status }: Scene,
  standing: Standing,
  changes: { [K in keyof ResourceStatus]?: ResourceStatus[K] | undefined } = {},
  facts = readFacts(object),
): Promise<KubeObject> {
  return writeStatus(deps, kind, object, {
    ...facts,
    ...status,
    ...changes,
    observedGeneration: object.metadata.generation,
    conditions: conditions(object, deps.clock.now(), standing),
  });
}

async function rest(deps: Deps, scene: Scene): Promise<Again> {
  const { kind, shared, view, memory, object } = scene;
  const { claim: owned } = view;
  if (!owned || !shared) return "never";
  const item = shared.collection.read(owned.id).item;
  const ready: Standing = { mode: "ready", reason: "Available", message: `the ${kind.resource.noun} is as wanted` };
  const known = { id: owned.id, parents: owned.parents, account: scene.account?.key, state: item?.state };
  const facts = item ? kind.resource.facts(item.raw) : readFacts(object);
  await record(deps, scene, ready, { ...known, request: undefined, drift: undefined }, facts);
  shared.collection.untrack(owned.id);
  memory.failure = undefined;
  memory.absentAt = undefined;
  return annotate(deps, scene);
}

/**
 * Some time into its rest, an object's intent gives way to the id: it survives a backup that has no status. While
 * neighbours are still being built, their writes go first.
 */
async function annotate(deps: Deps, { key, kind, view, account, memory, shared }: Scene): Promise<Again> {
  const object = deps.objects.find(key)?.object;
  const owned = view.claim;
  if (!object || !owned || object.metadata.annotations?.[INTENT] === undefined) return "never";
  const now = deps.clock.now();
  if (shared && shared.collection.inFlux > 0) memory.restingSince = now;
  memory.restingSince ??= now;
  const inMs = memory.restingSince + deps.settings.annotateAfterMs - now;
  if (inMs > 0) return { inMs, background: true };
  const { id, parents } = owned;
  await writeMetadata(deps, kind, object, {
    [EXTERNAL_ID]: JSON.stringify({ id, parents, account: account?.key ?? owned.account }),
  });
  memory.restingSince = undefined;
  return "never";
}

/** Reasons that a young object is not bothered with: what it waits for usually comes in the same breath. */
const SHORTLIVED: ReadonlySet<Reason> = new Set([
  "ReferenceNotFound",
  "ReferenceNotReady",
  "AccountNotFound",
  "AccountNotReady",
]);

async function wait(deps: Deps, scene: Scene, decision: Extract<Decision, { step: "wait" }>): Promise<Again> {
  const { object, shared, view } = scene;
  if (decision.look === "list") shared?.collection.refresh();
  if (decision.look === "member") await confirm(deps, scene);
  const again: Again = decision.recheckMs === undefined ? "never" : { inMs: decision.recheckMs };
  // Until the platform was looked at, what the status says is the best that is known.
  if (decision.reason === "Observing") return again;
  const bornAt = Date.parse(object.metadata.creationTimestamp ?? "") || 0;
  const youngFor = bornAt + deps.settings.graceMs - view.now;
  if (SHORTLIVED.has(decision.reason) && youngFor > 0 && !view.claim) return { inMs: youngFor };
  const { reason, message } = decision;
  const drift = view.observation.seen === "present" ? view.observation.comparison?.drift : undefined;
  await record(deps, scene, { mode: "reconciling", reason, message }, drift?.length ? { drift } : {});
  return again;
}

/** Asks for this one resource and its request, instead of waiting for the next list. */
async function confirm(deps: Deps, { view, shared, memory }: Scene): Promise<void> {
  const id = view.claim?.id;
  if (!shared || id === undefined) return;
  shared.collection.ask(id);
  if (view.observation.seen !== "absent") return;
  const askedAt = deps.clock.now();
  const item = await shared.source.get?.(id, AbortSignal.timeout(deps.settings.createDeadlineMs));
  if (item) shared.collection.refresh();
  else memory.absentAt = askedAt;
}

async function stall(deps: Deps, scene: Scene, reason: Reason, message: string, changes = {}): Promise<void> {
  const { drift } = comparison(scene);
  const before = scene.object;
  const after = await record(
    deps,
    scene,
    { mode: "stalled", reason, message },
    { ...(drift && { drift }), ...changes },
  );
  if (after !== before) deps.events.record(after, "Warning", reason, sentence(message));
}

function comparison({ view }: Scene): { drift?: { field: string; wanted: string; found: string }[] } {
  const { observation } = view;
  return observation.seen === "present" && observation.comparison ? { drift: observation.comparison.drift } : {};
}

async function fail(deps: Deps, scene: Scene, decision: Extract<Decision, { step: "fail" }>): Promise<Again> {
  const { request } = scene.status;
  const changes = {
    request: request && { ...request, status: "FAILED" as const },
    ...(decision.gone && { id: undefined, state: undefined, parents: undefined }),
  };
  const inMs = postpone(deps, scene, decision);
  await stall(deps, scene, decision.reason, decision.message, changes);
  if (decision.gone) deps.collections.leave(scene.key);
  return { inMs };
}

/** Remembers that an attempt was in vain; the wait doubles with each. */
function postpone(deps: Deps, { memory, object }: Scene, { reason, message }: Omit<Obstacle, "stalled">): number {
  const generation = object.metadata.generation ?? 1;
  const attempts = memory.failure?.generation === generation ? memory.failure.attempts + 1 : 0;
  const inMs = deps.settings.retryMs * 2 ** Math.min(attempts, 5);
  memory.failure = { reason, message, generation, attempts, retryAt: deps.clock.now() + inMs };
  return inMs;
}

async function attemptCreation(deps: Deps, scene: Scene): Promise<Again> {
  const result = await create(deps, scene);
  switch (result.outcome) {
    case "claimed":
      return "now";
    case "obstructed":
      return report(deps, scene, result.obstacle, "backoff");
    case "unknown":
      await report(deps, refreshed(deps, scene), obstacleOf(result.error), "backoff");
      return "now";
    case "refused":
      return refuse(deps, refreshed(deps, scene), result.error, { nonce: result.intent.nonce });
  }
}

/** The scene with the object as this process last wrote it. */
function refreshed(deps: Deps, scene: Scene): Scene {
  const object = deps.objects.find(scene.key)?.object ?? scene.object;
  return { ...scene, object };
}

async function report(deps: Deps, scene: Scene, { reason, message }: Obstacle, again: Again): Promise<Again> {
  await record(deps, scene, { mode: "reconciling", reason, message });
  return again;
}

/** The platform said no, or certainly did nothing: say so, and come back when it makes sense. */
async function refuse(deps: Deps, scene: Scene, error: PlatformError, changes: object = {}): Promise<Again> {
  const obstacle = obstacleOf(error);
  if (error instanceof Terminal && error.busy) return { inMs: BUSY_MS };
  if (error instanceof Unauthorized && scene.account) deps.suspect(scene.account.key);
  if (!obstacle.stalled || error instanceof Unauthorized) {
    await record(deps, scene, { mode: "reconciling", reason: obstacle.reason, message: obstacle.message });
    return error instanceof Retry && error.afterMs !== undefined ? { inMs: error.afterMs } : "backoff";
  }
  const inMs = postpone(deps, scene, obstacle);
  await stall(deps, scene, obstacle.reason, obstacle.message, changes);
  return { inMs };
}

const BUSY_MS = 2000;

/** Runs a call; an error of the platform becomes a standing instead of a failure of the operator. */
async function withPlatform(deps: Deps, scene: Scene, call: () => Promise<Again>): Promise<Again> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof PlatformError) return refuse(deps, scene, error);
    throw error;
  }
}

async function takeOver(deps: Deps, scene: Scene, id: string): Promise<Again> {
  const { intent } = scene.view;
  if (!intent) return "now";
  const { unclaimed, search: found } = scene.memory;
  const request = found?.requests[id];
  const known =
    unclaimed?.id === id
      ? unclaimed
      : { nonce: intent.nonce, id, since: Date.parse(intent.at), ...(request && { request }) };
  await claim(deps, scene, intent, known);
  return "now";
}

async function forget(deps: Deps, scene: Scene): Promise<Again> {
  const { noun } = scene.kind.resource;
  const message = `the ${noun} ${scene.view.claim?.id} is no longer on the platform; it will be created again`;
  const nothing = { id: undefined, state: undefined, parents: undefined, request: undefined, drift: undefined };
  await writeMetadataWithoutClaim(deps, scene);
  const after = refreshed(deps, scene);
  await record(deps, after, { mode: "reconciling", reason: "Vanished", message }, nothing);
  deps.events.record(after.object, "Warning", "Vanished", sentence(message));
  deps.collections.leave(scene.key);
  scene.memory.absentAt = undefined;
  return "now";
}

/** An id that no longer means anything must not come back out of the annotation. */
async function writeMetadataWithoutClaim(deps: Deps, { kind, object }: Scene): Promise<void> {
  if (object.metadata.annotations?.[EXTERNAL_ID] !== undefined) await writeMetadata(deps, kind, object, {});
}

async function update(deps: Deps, scene: Scene, operation: Operation): Promise<Again> {
  const { action, method, path, body } = operation;
  const fields = comparison(scene).drift?.map(({ field }) => field);
  return withPlatform(deps, scene, async () => {
    const since = deps.clock.now();
    const reply = await send(deps, scene, method, path, body);
    await follow(deps, scene, action, reply, since);
    deps.events.record(scene.object, "Normal", "Updated", `Asked the platform to ${action}: ${fields?.join(", ")}`);
    return "now";
  });
}

async function remove(deps: Deps, scene: Scene): Promise<Again> {
  const { kind, view } = scene;
  const owned = view.claim;
  if (!owned) return "now";
  const { collection, deleteQuery = "" } = kind.resource;
  const path = `${collection(owned.parents)}/${encodeURIComponent(owned.id)}${deleteQuery}`;
  try {
    const since = deps.clock.now();
    const reply = await send(deps, scene, "DELETE", path);
    await follow(deps, scene, "delete", reply, since);
    return "now";
  } catch (error) {
    if (error instanceof NotFound) {
      scene.shared?.collection.refresh();
      return { inMs: BUSY_MS };
    }
    if (error instanceof PlatformError) return refuse(deps, scene, error);
    throw error;
  }
}

function send(
  deps: Deps,
  { kind, account }: Scene,
  method: "DELETE" | Operation["method"],
  path: string,
  body?: unknown,
): Promise<Reply> {
  if (!account) throw new Error("a call to the platform needs an account");
  const access = products[kind.resource.product];
  const url = access.url(account.endpoint(access.endpoint), path);
  return account.connection.send({
    method,
    url,
    priority: "people",
    guard: deps.guard,
    ...(body !== undefined && { body }),
  });
}

/** Notes down what the platform is now working on. */
async function follow(deps: Deps, scene: Scene, action: string, reply: Reply, since: number): Promise<void> {
  const request = { ...reply.request, action, status: "BUSY" as const, since: new Date(since).toISOString() };
  const { reason, message } = underWay({ noun: scene.kind.resource.noun }, action);
  const changes = {
    request,
    state: "BUSY",
    ...(scene.view.claim && { id: scene.view.claim.id, parents: scene.view.claim.parents }),
    ...comparison(scene),
  };
  await record(deps, scene, { mode: "reconciling", reason, message }, changes);
}

/** For people: begins with a capital. */
function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
