import type { KubeObject } from "../../kube/resource.ts";
import { PlatformError, Retry, Terminal, Unauthorized } from "../../platform/errors.ts";
import type { Again, Deps } from "../look/deps.ts";
import { obstacleOf } from "../look/problems.ts";
import type { Scene } from "../look/view.ts";
import type { Claim } from "../objects/intent.ts";
import type { Obstacle, Reason } from "../schema/reasons.ts";
import { conditions, readFacts, readStatus, type Standing } from "../schema/status.ts";
import type { ResourceStatus } from "../schema/status-schema.ts";
import { writeStatus } from "./write.ts";

/** Writes a status in which only what `changes` names is different; undefined takes a field away. */
export async function record(
  deps: Deps,
  { kind, object, status }: Scene,
  standing: Standing,
  changes: { [K in keyof ResourceStatus]?: ResourceStatus[K] | undefined } = {},
  facts = readFacts(object),
): Promise<KubeObject> {
  deps.guard();
  return writeStatus(deps, kind, object, {
    ...facts,
    ...status,
    ...changes,
    observedGeneration: object.metadata.generation,
    conditions: conditions(object, deps.clock.now(), standing),
  });
}

export async function stall(deps: Deps, scene: Scene, reason: Reason, message: string, changes = {}): Promise<void> {
  const { drift } = comparison(scene);
  const before = scene.object;
  const after = await record(
    deps,
    scene,
    { mode: "stalled", reason, message },
    { ...(drift && { drift }), ...changes },
  );
  if (after !== before) deps.events.record(after, "Warning", reason, message);
}

export function comparison({ view }: Scene): { drift?: { field: string; wanted: string; found: string }[] } {
  const { observation } = view;
  return observation.seen === "present" && observation.comparison ? { drift: observation.comparison.drift } : {};
}

/** A claim as status keeps it, wherever it was read. */
export function ownership({ view: { claim }, account }: Scene): Partial<Claim> {
  if (!claim) return {};
  const contract = claim.contract ?? account?.connection.contractNumber;
  return { ...claim, account: account?.key ?? claim.account, ...(contract !== undefined && { contract }) };
}

/** Remembers that an attempt was in vain; the wait doubles with each. */
export function postpone(
  deps: Deps,
  { memory, object }: Scene,
  { reason, message }: Omit<Obstacle, "stalled">,
): number {
  const generation = object.metadata.generation ?? 1;
  const attempts = memory.failure?.generation === generation ? memory.failure.attempts + 1 : 0;
  const inMs = deps.settings.retryMs * 2 ** Math.min(attempts, 5);
  memory.failure = { reason, message, generation, attempts, retryAt: deps.clock.now() + inMs };
  return inMs;
}

/** The scene with the object as this process last wrote it. */
export function refreshed(deps: Deps, scene: Scene): Scene {
  const object = deps.objects.find(scene.key)?.object ?? scene.object;
  return { ...scene, object, status: readStatus(object) };
}

export async function report(deps: Deps, scene: Scene, { reason, message }: Obstacle, again: Again): Promise<Again> {
  await record(deps, scene, { mode: "reconciling", reason, message });
  return again;
}

/** The platform said no, or certainly did nothing: say so, and come back when it makes sense. */
export async function refuse(
  deps: Deps,
  scene: Scene,
  error: PlatformError,
  changes: object = {},
  hide: (text: string) => string = (text) => text,
): Promise<Again> {
  const named = obstacleOf(error, scene.kind.resource.place.privilege);
  const obstacle = { ...named, message: hide(named.message) };
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

/** Until a resource that is being changed is tried again. */
export const BUSY_MS = 2000;

/** Runs a call; an error of the platform becomes a standing instead of a failure of the operator. */
export async function withPlatform(deps: Deps, scene: Scene, call: () => Promise<Again>): Promise<Again> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof PlatformError) return refuse(deps, scene, error);
    throw error;
  }
}
