import { isSuccessive, type ResourceKind } from "../../kinds/kind.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { type PlatformError, Retry, Unauthorized } from "../../platform/answers/errors.ts";
import { several, shortened } from "../../runtime/text.ts";
import { type AccountHandle, addressOf } from "../accounts/accounts.ts";
import { backoffMs, type Deps } from "../observe/deps.ts";
import { obstacleFrom } from "../observe/platform-errors.ts";
import { effectOf } from "../observe/resource/pending-request.ts";
import type { Context } from "../observe/view.ts";
import type { Claim } from "../state/intent.ts";
import { statusIn } from "../state/memory.ts";
import { RECONCILE_AT } from "../state/names.ts";
import type { Found, ObjectKey } from "../state/object.ts";
import { needsPerson, type Obstacle } from "../status/reasons.ts";
import type { ResourceStatus } from "../status/schema.ts";
import { conditions, paused, type ReadyState, readFacts, readStatus } from "../status/status.ts";
import { recordWarning } from "./warnings.ts";
import { writeStatus } from "./write.ts";

export type StatusChanges = { [K in keyof ResourceStatus]?: ResourceStatus[K] | undefined };

/** One pass over one object. */
export interface Pass extends Found {
  key: ObjectKey;
}

/** Writes the Ready condition and `changes`, in which undefined removes a field. The rest of status stays. */
export async function show(
  deps: Deps,
  { key, kind, object }: Pass,
  condition: ReadyState,
  changes: object = {},
  { facts = readFacts(object), graceUntil = 0 } = {},
): Promise<KubeObject> {
  deps.guard();
  const after = await writeStatus(deps, kind, object, {
    ...facts,
    ...statusIn(object, deps.memories.of(key)),
    ...changes,
    observedGeneration: object.metadata.generation,
    conditions: conditions(object, deps.clock.now(), condition),
  });
  recordWarning(deps, key, { before: object, after, condition, graceUntil });
  return after;
}

/**
 * The same for an object with a resource. `facts` are the fields that its kind shows. The marks of a request that is DONE
 * are among them, because the next request takes its place.
 */
export async function record(
  deps: Deps,
  context: Context,
  condition: ReadyState,
  changes: StatusChanges = {},
  facts: Record<string, unknown> = { ...readFacts(context.object), ...effectOf(context.view.resource.request) },
): Promise<KubeObject> {
  const { status, view } = context;
  // The object keeps the Account of its first status until spec changes.
  const account = view.account.key ?? status.account;
  const uses = deps.objects.uses(context.key, status.uses);
  const { graceUntil } = view.times;
  const after = await show(deps, context, condition, { account, uses, ...changes }, { facts, graceUntil });
  context.memory.unwritten = undefined;
  recordOutcome(deps, context, after);
  return after;
}

/** Records an Event when a request is over and its effect was seen: the resource was created, or drift was corrected. */
function recordOutcome(deps: Deps, { kind, status, view }: Context, after: KubeObject): void {
  const { request: before, drift = [], id } = status;
  const { observation } = view.resource;
  if (!before || observation.seen !== "present" || observation.busy || observation.broken !== undefined) return;
  const written = readStatus(after);
  if (before.action === "create" && written.request?.action !== "create" && !isSuccessive(kind)) {
    deps.events.record(after, "Normal", "Created", `Created ${kind.kind} ${id}`);
  }
  if (!before.corrects) return;
  const left = new Set(written.drift?.map(({ field }) => field));
  const corrected = drift.filter(({ field }) => !left.has(field));
  if (corrected.length === 0) return;
  deps.corrected(kind.kind);
  const fields = corrected.map(
    ({ field, found, wanted }) => `${field} from ${shortened(found)} back to ${shortened(wanted)}`,
  );
  deps.events.record(after, "Normal", "DriftCorrected", `corrected drift: ${several(fields)}`);
}

/** Adds the condition Paused, and changes nothing else. */
export async function pause(deps: Deps, { kind, object }: Found): Promise<Requeue> {
  deps.guard();
  const conditions = paused(object, deps.clock.now());
  await writeStatus(deps, kind, object, { ...readFacts(object), ...readStatus(object), conditions });
  return "never";
}

export async function stall(deps: Deps, context: Context, { reason, message }: Obstacle, changes = {}): Promise<void> {
  await record(deps, context, { mode: "stalled", reason, message }, { ...driftSeen(context), ...changes });
}

/** The drift of the last comparison, for status. */
export const driftSeen = ({ view }: Context): Pick<ResourceStatus, "drift"> => {
  const { observation } = view.resource;
  return observation.seen === "present" && observation.comparison ? { drift: observation.comparison.drift } : {};
};

/** The claim for status. It names the current Account only if that leads to the resource: nothing else is confirmed. */
export function ownership({ view, account, kind }: Context): Partial<Claim> {
  const { claim } = view.resource;
  if (!claim || !account || view.account.obstacle) return { ...claim };
  const { userId, ...where } = located(account, kind);
  // The token may have been exchanged just now: another user counts only if the Account accepts it.
  const isAccepted = userId !== undefined && (claim.userId === undefined || account.acceptsUser === userId);
  return { ...where, ...claim, account: account.key, ...(isAccepted && { userId }) };
}

/** The contract, endpoint and user of what is created with an Account. */
export function located(account: AccountHandle, { resource }: ResourceKind) {
  const { contractNumber, identity } = account.connection;
  return {
    endpoint: addressOf(account, resource.place.product),
    ...(contractNumber !== undefined && { contract: contractNumber }),
    ...(identity?.userId !== undefined && { userId: identity.userId }),
  };
}

/** Remembers a failed attempt. The backoff doubles until the object is up to date or edited; it is at least `afterMs`. */
export function postpone(deps: Deps, about: Pick<Context, "memory" | "object">, obstacle: Obstacle, afterMs = 0) {
  const { memory, object } = about;
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

/** Adds the time of the next attempt, for reasons whose message changes with each attempt anyway. */
export function withTime({ reason, message }: Obstacle, at: number): string {
  const time = `${new Date(Math.ceil(at / 1000) * 1000).toISOString().slice(0, 19)}Z`;
  if (reason === "RateLimited") return `${message} until ${time}`;
  if (reason !== "ProvisioningFailed") return message;
  return `${message}; next attempt at ${time}; set the annotation ${RECONCILE_AT} to retry now`;
}

const PASSING_MS = 1000;
const SHORT_ATTEMPTS = 6;

/**
 * The backoff is short unless a person has to act. An adoption only reads, and a new resource may not be visible yet: its first
 * attempts follow soon.
 */
export function pauseAfter({ settings }: Pick<Deps, "settings">, { reason }: Obstacle, attempts: number): number {
  const first = reason === "NotAdoptable" ? SHORT_ATTEMPTS : needsPerson(reason) ? 0 : Number.POSITIVE_INFINITY;
  return attempts < first
    ? PASSING_MS * 2 ** Math.min(attempts, SHORT_ATTEMPTS)
    : backoffMs(settings, attempts - first);
}

/** The context with the object that this process has just written. A later write of another process causes a conflict. */
export function withWritten(context: Context, object: KubeObject): Context {
  return { ...context, object, status: statusIn(object, context.memory) };
}

/** The context with the object as the watch has it now. An intent or a request in it may be that of another process. */
export const refreshed = (deps: Deps, context: Context): Context =>
  withWritten(context, deps.objects.find(context.key)?.object ?? context.object);

/** Records an error of the platform, and when to try again. */
export function recordPlatformError(
  deps: Deps,
  context: Context,
  error: PlatformError,
  changes = {},
  hide = (text: string) => text,
) {
  const named = obstacleFrom(error, context.kind);
  // A refused credential is a problem of the Account, which is checked at once.
  const reason = error instanceof Unauthorized ? "AccountNotReady" : named.reason;
  const isRefusedDeletion = reason === "Rejected" && context.object.metadata.deletionTimestamp !== undefined;
  const way = `; end that on the platform, or set deletionPolicy: Retain, which keeps the ${context.kind.kind} there`;
  const obstacle = { reason, message: `${hide(named.message)}${isRefusedDeletion ? way : ""}` };
  if (error instanceof Unauthorized && context.account) deps.suspect(context.account.key);
  return recordFailure(deps, context, obstacle, changes, error instanceof Retry ? error.afterMs : 0);
}

export async function recordFailure(deps: Deps, context: Context, obstacle: Obstacle, changes = {}, afterMs = 0) {
  const { inMs, message } = postpone(deps, context, obstacle, afterMs);
  if (needsPerson(obstacle.reason)) await stall(deps, context, { ...obstacle, message }, changes);
  else await record(deps, context, { ...obstacle, mode: "reconciling", message }, changes);
  return { inMs };
}
