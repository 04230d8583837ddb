import { isSuccessive } from "../../kinds/kind.ts";
import { isConflict, isNotFound } from "../../kube/client/errors.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { platformTime } from "../../platform/calls/platform-time.ts";
import { inProgress } from "../decide/waiting.ts";
import { type Deps, deadlineFrom, leads, overlapOf } from "../observe/deps.ts";
import { noteWith } from "../observe/secrets/secret-state.ts";
import type { Context } from "../observe/view.ts";
import { keepKey, Overtaken } from "../secrets/keys.ts";
import type { Intent } from "../state/intent.ts";
import type { Creation } from "../state/memory.ts";
import { INTENT } from "../state/names.ts";
import { openIntent } from "../state/object.ts";
import type { ResourceStatus } from "../status/schema.ts";
import { conditions, type ReadyState, readFacts, readStatus, readyOf } from "../status/status.ts";
import { countedAnnotation } from "../status/trust.ts";
import { fetchObject, writeStatus } from "../write/write.ts";
import { deleteUnclaimed, undo } from "./delete-unclaimed.ts";

export type Unclaimed = Extract<Creation, { phase: "made" }>;

/**
 * Writes the id that answers an open intent. If the intent was replaced, another leader goes on without this resource: one that this
 * process created is deleted, one that it only found is left.
 */
export async function claim(deps: Deps, context: Context, found: Unclaimed, marked = false): Promise<void> {
  const { kind, memory } = context;
  const { intent, begunAt, made, issued, searched, own = false } = found;
  // The Secret comes first: the key is shown only once, and the Secret also has the id. A process that is no longer the leader
  // leaves the Secret to the next one, and goes on with the resource.
  if (issued && leads(deps)) {
    await keepKey(deps, context, made.id, intent.nonce, issued).catch((error: unknown) => {
      if (!(error instanceof Overtaken)) throw error;
    });
  }
  const kept = noteWith(deps, context, intent.nonce)?.key;
  const contract = context.account?.connection.contractNumber;
  for (let object: KubeObject | undefined = context.object; ; ) {
    const before = readStatus(object);
    const { left, leftBehind, lossAllowed } = before;
    const succeeds = intent.succeeds !== undefined;
    const previous = succeeds ? former(deps, context, kept ? before : made) : before.previous;
    const isReady = readyOf(object)?.status === "True";
    // The previous key works until it is deleted, so the object stays Ready.
    const state: ReadyState =
      succeeds && isReady
        ? { mode: "ready", reason: "Available", message: `${kind.kind} is up to date` }
        : { mode: "reconciling", ...inProgress(kind, "create") };
    const base = {
      ...readFacts(object),
      observedGeneration: object.metadata.generation,
      conditions: conditions(object, deps.clock.now(), state),
    };
    // The new key was lost: the key in the Secret stays in use.
    const unused = { ...before, ...base, nonce: intent.nonce, previous };
    const status =
      succeeds && !kept
        ? unused
        : {
            ...base,
            id: made.id,
            born: made.born,
            state: "BUSY",
            account: intent.account,
            endpoint: intent.endpoint,
            userId: intent.userId,
            parents: intent.parents,
            ...(contract !== undefined && { contract }),
            nonce: intent.nonce,
            fixed: intent.fixed,
            // The Secret may lose its note before the object is up to date.
            key: kept,
            left,
            leftBehind,
            lossAllowed,
            previous,
            request: {
              ...made.request,
              action: "create",
              status: "BUSY",
              since: new Date(deps.clock.now()).toISOString(),
            },
          };
    // After the deadline another shard may claim it for an equal intent: a later pass marks it first.
    if (deps.shards.divided() && !marked && deadlineFrom(deps, begunAt) <= 0) return;
    try {
      deps.guard();
      const claimed = await writeStatus(deps, kind, object, status);
      memory.creation = { intent, begunAt, own, made, phase: "claimed" };
      const request = made.request ? `, request ${made.request.id}` : "";
      const older = !succeeds || !previous ? "" : kept ? `; ${previous.id} works until ${previous.until}` : LOST;
      // A key that is a resource is complete with the answer. Others get their Event when they are available.
      const [reason, done] = isSuccessive(kind) ? ["Created", "Created"] : ["Creating", "creating"];
      deps.events.record(claimed, "Normal", reason, `${done} ${kind.kind} ${made.id}${request}${older}`);
      return;
    } catch (error) {
      // A leader tries again in a later pass.
      if (!isConflict(error) && !isNotFound(error) && leads(deps)) throw error;
      object = await fetchObject(deps, kind, object);
    }
    if (object && stands(object, intent)) {
      if (leads(deps)) continue;
      // The next leader finds it by the intent, and may have given it to an object with an equal intent.
      memory.creation = undefined;
      return;
    }
    // Another leader has claimed it, or it was only found.
    if (searched || (object && readStatus(object).id === made.id)) {
      memory.creation = undefined;
      return;
    }
    if (!object) return undo(deps, context, { memory, last: context.object });
    memory.creation = undefined;
    deps.runCleanup(deleteUnclaimed(deps, context, found, made, REPLACED), intent.account);
    return;
  }
}

const LOST = "; its value was lost, and it is deleted";

/** The previous token. It is deleted when workloads have the new one, or at once if it was never in the Secret. */
function former(
  deps: Deps,
  { account }: Context,
  { id, key }: Pick<ResourceStatus, "id" | "key">,
): ResourceStatus["previous"] {
  const now = platformTime(deps.clock, account?.connection);
  return id === undefined ? undefined : { id, until: new Date(now + (key ? overlapOf(deps) : 0)).toISOString() };
}

/** Whether an object still waits for the result of this intent, also if its annotation was removed. */
export function stands(object: KubeObject, { nonce, succeeds }: Intent): boolean {
  const { id, nonce: answered } = readStatus(object);
  const erased = countedAnnotation(object, INTENT) === undefined && id === succeeds && answered !== nonce;
  return erased || openIntent(object)?.nonce === nonce;
}

const REPLACED = "the intent of this object was replaced meanwhile";
