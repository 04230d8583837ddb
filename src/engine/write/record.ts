import type { ResourceKind } from "../../kinds/kind.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { PlatformError, Retry, Unauthorized } from "../../platform/answers/errors.ts";
import { type AccountHandle, addressOf } from "../accounts/accounts.ts";
import { backoffMs, type Deps } from "../observe/deps.ts";
import { obstacleFrom } from "../observe/platform-errors.ts";
import type { Context } from "../observe/view.ts";
import type { Claim } from "../state/intent.ts";
import { RECONCILE_AT } from "../state/names.ts";
import { needsPerson, type Obstacle, type Reason } from "../status/reasons.ts";
import type { ResourceStatus } from "../status/schema.ts";
import { conditions, paused, type ReadyState, readFacts, readStatus } from "../status/status.ts";
import { tellOutcome } from "./outcome.ts";
import { recordWarning } from "./warnings.ts";
import { writeStatus } from "./write.ts";

/** Writes a status in which only what `changes` names is different; undefined takes a field away. */
export async function record(
  deps: Deps,
  context: Context,
  standing: ReadyState,
  changes: { [K in keyof ResourceStatus]?: ResourceStatus[K] | undefined } = {},
  facts = readFacts(context.object),
): Promise<KubeObject> {
  const { key, kind, object, status, accountKey, view } = context;
  deps.guard();
  const after = await writeStatus(deps, kind, object, {
    ...facts,
    ...status,
    // Which Account is meant is settled with the first word about the object.
    account: accountKey ?? status.account,
    ...changes,
    observedGeneration: object.metadata.generation,
    conditions: conditions(object, deps.clock.now(), standing),
  });
  recordWarning(deps, key, { before: object, after, standing, youngUntil: view.graceUntil });
  tellOutcome(deps, context, after);
  return after;
}

/** Says that the object is paused; everything else stays as it was. */
export async function pause(deps: Deps, { kind, object, status }: Context): Promise<void> {
  deps.guard();
  const conditions = paused(object, deps.clock.now());
  await writeStatus(deps, kind, object, { ...readFacts(object), ...status, conditions });
}

export async function stall(
  deps: Deps,
  context: Context,
  reason: Reason,
  message: string,
  changes = {},
): Promise<void> {
  const { drift } = comparison(context);
  const standing = { mode: "stalled", reason, message } as const;
  await record(deps, context, standing, { ...(drift && { drift }), ...changes });
}

export const comparison = ({ view: { observation } }: Context): Pick<ResourceStatus, "drift"> =>
  observation.seen === "present" && observation.comparison ? { drift: observation.comparison.drift } : {};

/**
 * A claim as status keeps it, wherever it was read. It moves to the object's present Account only when that Account leads to the
 * resource: otherwise the signature would confirm what nobody has checked.
 */
export function ownership({ view: { claim, accountObstacle }, account, kind }: Context): Partial<Claim> {
  if (!claim || !account || accountObstacle) return { ...claim };
  const { userId, ...where } = located(account, kind);
  // Another user than the one who made it counts only where the Account accepts that: its token may have been exchanged just now.
  const isAccepted = userId !== undefined && (claim.userId === undefined || account.acceptsUser === userId);
  return { ...where, ...claim, account: account.key, ...(isAccepted && { userId }) };
}

/** Where what is made with an Account is, and as whom: a claim that it no longer leads to is not gone. */
export function located(
  account: AccountHandle,
  { resource }: ResourceKind,
): Pick<Claim, "contract" | "endpoint" | "userId"> {
  const { contractNumber, identity } = account.connection;
  const endpoint = addressOf(account, resource.place.product);
  return {
    endpoint,
    ...(contractNumber !== undefined && { contract: contractNumber }),
    ...(identity?.userId !== undefined && { userId: identity.userId }),
  };
}

/**
 * Remembers that an attempt was in vain: nothing is sent for the object before the pause is over, which doubles with each
 * until the object rests or spec changes, and is never shorter than what the platform asked for.
 */
export function postpone(
  deps: Deps,
  { memory, object }: Pick<Context, "memory" | "object">,
  obstacle: Obstacle,
  afterMs = 0,
): { inMs: number; message: string } {
  const generation = object.metadata.generation ?? 1;
  const before = memory.failure?.generation === generation ? memory.failure.attempts : { waited: 0, stalled: 0 };
  const which = needsPerson(obstacle.reason) ? "stalled" : "waited";
  const attempts = { ...before, [which]: before[which] + 1 };
  const inMs = Math.max(pauseAfter(deps, obstacle, before[which]), afterMs);
  const message = withTime(obstacle, deps.clock.now() + inMs);
  const at = deps.clock.monotonic();
  memory.failure = { ...obstacle, message, at, generation, attempts, retryAt: at + inMs };
  return { inMs, message };
}

/** Says when it goes on by itself, where each attempt is news anyway. */
export function withTime({ reason, message }: Obstacle, at: number): string {
  const time = `${new Date(Math.ceil(at / 1000) * 1000).toISOString().slice(0, 19)}Z`;
  if (reason === "RateLimited") return `${message} until ${time}`;
  if (reason !== "ProvisioningFailed") return message;
  return `${message}; next attempt at ${time}; set the annotation ${RECONCILE_AT} to retry now`;
}

const PASSING_MS = 1000;

/** What passes by itself is tried again soon; where somebody has to act, waiting less long does not help. */
export const pauseAfter = ({ settings }: Pick<Deps, "settings">, { reason }: Obstacle, attempts: number): number =>
  needsPerson(reason) ? backoffMs(settings, attempts) : PASSING_MS * 2 ** Math.min(attempts, 6);

/** The context with what this process has just written. Whoever has written since, another shard for example, is not overwritten. */
export const withWritten = (context: Context, object: KubeObject): Context => ({
  ...context,
  object,
  status: readStatus(object),
});

/**
 * The context with the object as last read: people may have edited it since. Another process may have written to it
 * as well: what is on record of creations and requests is changed only where it is still this process's own.
 */
export function refreshed(deps: Deps, context: Context): Context {
  const object = deps.objects.find(context.key)?.object ?? context.object;
  return { ...context, object, status: readStatus(object) };
}

/** The platform said no, or certainly did nothing: say so, and come back when it makes sense. */
export async function recordPlatformError(
  deps: Deps,
  context: Context,
  error: PlatformError,
  changes: object = {},
  hide: (text: string) => string = (text) => text,
): Promise<Requeue> {
  const named = obstacleFrom(error, context.kind);
  // A credential that is refused is the Account's trouble, and waits for it.
  const reason = error instanceof Unauthorized ? "AccountNotReady" : named.reason;
  const obstacle = { reason, message: hide(named.message) };
  if (error instanceof Unauthorized && context.account) deps.suspect(context.account.key);
  return recordFailure(deps, context, obstacle, { changes, ...(error instanceof Retry && { afterMs: error.afterMs }) });
}

/** Writes down why an attempt was in vain, and makes the next one wait. */
export async function recordFailure(
  deps: Deps,
  context: Context,
  obstacle: Obstacle,
  { changes = {}, afterMs }: { changes?: object; afterMs?: number | undefined } = {},
): Promise<Requeue> {
  const { reason } = obstacle;
  const { inMs, message } = postpone(deps, context, obstacle, afterMs);
  if (needsPerson(reason)) await stall(deps, context, reason, message, changes);
  else await record(deps, context, { mode: "reconciling", reason, message }, changes);
  return { inMs };
}

/** Runs a call; an error of the platform becomes a standing instead of a failure of the operator. */
export async function withPlatform(deps: Deps, context: Context, call: () => Promise<Requeue>): Promise<Requeue> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof PlatformError) return recordPlatformError(deps, context, error);
    throw error;
  }
}
