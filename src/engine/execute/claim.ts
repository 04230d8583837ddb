import { isSuccessive } from "../../kinds/kind.ts";
import { isConflict, isNotFound } from "../../kube/client/errors.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { latestTime, reachedTime } from "../../platform/calls/platform-time.ts";
import { inProgress } from "../decide/waiting.ts";
import { type Deps, deadlineFrom, leads, overlapOf } from "../observe/deps.ts";
import { noteWith } from "../observe/secrets/secret-state.ts";
import type { Context } from "../observe/view.ts";
import { keepKey, Overtaken } from "../secrets/keys.ts";
import type { Intent } from "../state/intent.ts";
import type { OpenCreation } from "../state/memory.ts";
import { INTENT } from "../state/names.ts";
import { openIntent } from "../state/object.ts";
import type { ResourceStatus } from "../status/schema.ts";
import { conditions, type ReadyState, readFacts, readStatus, readyOf } from "../status/status.ts";
import { countedAnnotation } from "../status/trust.ts";
import { fetchObject, writeStatus } from "../write/write.ts";
import { deleteUnclaimed, undo } from "./delete-unclaimed.ts";

export type Unclaimed = Extract<OpenCreation, { phase: "made" }>;

/**
 * Writes the id that answers an open intent. If the intent was replaced, another leader goes on without this resource:
 * one that this process created is deleted, one that it only found is left.
 */
export async function claim(deps: Deps, context: Context, found: Unclaimed, marked = false): Promise<void> {
  const { kind, memory } = context;
  const { intent, begunAt, made, issued, searched = false, own = false } = found;
  // The Secret comes first: the key is shown only once, and the Secret also has the id. Without the lead, the Secret is left to
  // the next leader.
  if (issued && leads(deps)) {
    await keepKey(deps, context, made.id, intent.nonce, issued).catch((error: unknown) => {
      if (!(error instanceof Overtaken)) throw error;
    });
  }
  const kept = noteWith(deps, context, intent.nonce)?.key;
  for (let object: KubeObject | undefined = context.object; ; ) {
    const status = claimedStatus(deps, context, object, found, kept);
    // After the deadline another shard may claim it for an equal intent: a later pass marks it first.
    if (deps.shards.divided() && !marked && deadlineFrom(deps, begunAt) <= 0) return;
    try {
      deps.guard();
      const claimed = await writeStatus(deps, kind, object, status);
      memory.creation = { intent, begunAt, own, made, phase: "claimed" };
      const request = made.request ? `, request ${made.request.id}` : "";
      const { previous } = intent.succeeds === undefined ? {} : status;
      const works = previous && (kept ? `; ${previous.id} works until ${previous.until}` : LOST);
      // A key that is a resource is complete with the answer. Others get their Event when they are available.
      const [reason, done] = isSuccessive(kind) ? ["Created", "Created"] : ["Creating", "creating"];
      deps.events.record(claimed, "Normal", reason, `${done} ${kind.kind} ${made.id}${request}${works ?? ""}`);
      return;
    } catch (error) {
      // A leader tries again in a later pass.
      if (!isConflict(error) && !isNotFound(error) && leads(deps)) throw error;
      object = await fetchObject(deps, kind, object);
    }
    if (object && stillAwaits(object, intent) && leads(deps)) continue;
    if (!object && !searched) return undo(deps, context);
    memory.creation = undefined;
    // The next leader finds it by the intent, or has claimed it.
    const isLeft = searched || (object && (stillAwaits(object, intent) || readStatus(object).id === made.id));
    if (!isLeft) deps.runCleanup(deleteUnclaimed(deps, context, found, made, REPLACED), intent.account);
    return;
  }
}

const LOST = "; its value was lost, and it is deleted";
const REPLACED = "the intent of this object was replaced meanwhile";

/** The status with this claim. `kept` is the key in the Secret that answers the intent. */
function claimedStatus(
  deps: Deps,
  { kind, account: connected }: Context,
  object: KubeObject,
  { intent, made }: Unclaimed,
  kept: ResourceStatus["key"],
) {
  const before = readStatus(object);
  const { left, leftExternalId, leftBehind, lossAllowed } = before;
  const { nonce, revision, account, endpoint, userId, parents, fixed } = intent;
  const sent = { account, endpoint, userId, parents, fixed };
  const succeeds = intent.succeeds !== undefined;
  const contract = connected?.connection.contractNumber;
  // The token to delete: the previous one when workloads have the new one, or at once a new one that is not in the Secret.
  const { id, key }: Pick<ResourceStatus, "id" | "key"> = kept ? before : made;
  const until = key
    ? latestTime(deps.clock, connected?.connection) + overlapOf(deps)
    : reachedTime(deps.clock, connected?.connection);
  const outgoing = id === undefined ? undefined : { id, until: new Date(until).toISOString() };
  // The previous key works until it is deleted, so the object stays Ready.
  const state: ReadyState =
    succeeds && readyOf(object)?.status === "True"
      ? { mode: "ready", reason: "Available", message: `${kind.kind} is up to date` }
      : { mode: "reconciling", ...inProgress(kind, "create") };
  const base = {
    ...readFacts(object),
    observedGeneration: object.metadata.generation,
    conditions: conditions(object, deps.clock.now(), state),
    nonce,
    revision,
    previous: succeeds ? outgoing : before.previous,
  };
  // The new key was lost: the key in the Secret stays in use.
  if (succeeds && !kept) return { ...before, ...base };
  const since = new Date(deps.clock.now()).toISOString();
  return {
    ...base,
    ...sent,
    ...(contract !== undefined && { contract }),
    left,
    leftExternalId,
    leftBehind,
    lossAllowed,
    id: made.id,
    born: made.born,
    notBefore: made.notBefore,
    state: "BUSY",
    // The Secret may lose its note before the object is up to date.
    key: kept,
    request: { ...made.request, action: "create", status: "BUSY", since },
  };
}

/** Whether an object still waits for the result of this intent, also if its annotation was removed. */
export function stillAwaits(object: KubeObject, { nonce, succeeds }: Intent): boolean {
  const { id, nonce: answered } = readStatus(object);
  const isErased = countedAnnotation(object, INTENT) === undefined && id === succeeds && answered !== nonce;
  return isErased || openIntent(object)?.nonce === nonce;
}
