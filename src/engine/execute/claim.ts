import { isSuccessive } from "../../kinds/kind.ts";
import { isConflict, isNotFound } from "../../kube/client/errors.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { platformTime } from "../../platform/calls/platform-time.ts";
import { inProgress } from "../decide/waiting.ts";
import { type Deps, deadlineFrom, leads, overlapOf } from "../observe/deps.ts";
import type { Context } from "../observe/view.ts";
import { keepKey, Overtaken, publicationOf } from "../secrets/keys.ts";
import type { Intent } from "../state/intent.ts";
import type { Creation } from "../state/memory.ts";
import { INTENT } from "../state/names.ts";
import { openIntent } from "../state/object.ts";
import type { Note } from "../state/published.ts";
import type { ResourceStatus } from "../status/schema.ts";
import { conditions, type ReadyState, readFacts, readStatus } from "../status/status.ts";
import { countedAnnotation } from "../status/trust.ts";
import { fetchObject, writeStatus } from "../write/write.ts";
import { deleteUnclaimed, undo } from "./delete-unclaimed.ts";

/** What was made and not yet claimed. */
export type Unclaimed = Extract<Creation, { phase: "made" }>;

/**
 * Writes the id that answers an open intent. When the intent no longer stands, another leader has gone on without this
 * resource. What this process made itself is then deleted, for nobody else knows of it; what it only found is left.
 */
export async function claim(deps: Deps, context: Context, found: Unclaimed, marked = false): Promise<void> {
  const { kind, memory } = context;
  const { intent, begunAt, made, issued, searched, own = false } = found;
  // The key first: it is shown once, and the Secret carries the id, so that neither can be lost alone. Who no longer
  // leads leaves the Secret to the next one, and still has to see to what it made.
  if (issued && leads(deps)) {
    await keepKey(deps, context, made.id, intent.nonce, issued).catch((error: unknown) => {
      // What is claimed below, or not, decides.
      if (!(error instanceof Overtaken)) throw error;
    });
  }
  const kept = keptKey(deps, context, intent);
  const waiting = inProgress(kind, "create");
  const contract = context.account?.connection.contractNumber;
  for (let object: KubeObject | undefined = context.object; ; ) {
    const before = readStatus(object);
    const { left, leftBehind, lossAllowed } = before;
    const succeeds = intent.succeeds !== undefined;
    const previous = succeeds ? former(deps, context, kept ? before : made) : before.previous;
    const isReady = before.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
    // The former one works until it is deleted: nobody has to wait for the new one.
    const state: ReadyState =
      succeeds && isReady
        ? { mode: "ready", reason: "Available", message: `${kind.kind} is up to date` }
        : { mode: "reconciling", ...waiting };
    const base = {
      ...readFacts(object),
      observedGeneration: object.metadata.generation,
      conditions: conditions(object, deps.clock.now(), state),
    };
    // Nobody has its key: what is in the Secret goes on working.
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
            // The Secret may lose its note before the object rests.
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
    // So late another shard may take it for what an equal has made: it has to be marked first, by a later pass.
    if (deps.shards.divided() && !marked && deadlineFrom(deps, begunAt) <= 0) return;
    try {
      deps.guard();
      const claimed = await writeStatus(deps, kind, object, status);
      memory.creation = { intent, begunAt, own, made, phase: "claimed" };
      const request = made.request ? `, request ${made.request.id}` : "";
      const older = !succeeds || !previous ? "" : kept ? `; ${previous.id} works until ${previous.until}` : LOST;
      // A key that is a resource is there with the answer; anything else is told once it was seen at rest.
      const [reason, done] = isSuccessive(kind) ? ["Created", "Created"] : ["Creating", "creating"];
      deps.events.record(claimed, "Normal", reason, `${done} ${kind.kind} ${made.id}${request}${older}`);
      return;
    } catch (error) {
      // Who leads tries again in a later pass.
      if (!isConflict(error) && !isNotFound(error) && leads(deps)) throw error;
      object = await fetchObject(deps, kind, object);
    }
    if (object && stands(object, intent)) {
      if (leads(deps)) continue;
      // The process was frozen for a long time, for example. The next leader finds this by the intent, and may have given it to an equal.
      memory.creation = undefined;
      return;
    }
    // Another leader goes on; what was only found is left to it, and so is what it has claimed.
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

/** The former token: deleted when workloads have the new one, or at once if none ever got it. */
function former(
  deps: Deps,
  { account }: Context,
  { id, key }: Pick<ResourceStatus, "id" | "key">,
): ResourceStatus["previous"] {
  const now = platformTime(deps.clock, account?.connection);
  return id === undefined ? undefined : { id, until: new Date(now + (key ? overlapOf(deps) : 0)).toISOString() };
}

/** What is known of the key that answers an intent, when it is in the Secret. */
function keptKey({ published }: Deps, context: Context, { nonce }: Intent): Note["key"] | undefined {
  const publication = publicationOf(context);
  const note = publication && published.find(context.object, publication.name).note;
  return note?.nonce === nonce ? note.key : undefined;
}

/** Whether nobody has gone on without the result of this intent. One whose annotation was taken away still waits for it. */
export function stands(object: KubeObject, { nonce, succeeds }: Intent): boolean {
  const { id, nonce: answered } = readStatus(object);
  const erased = countedAnnotation(object, INTENT) === undefined && id === succeeds && answered !== nonce;
  return erased || openIntent(object)?.nonce === nonce;
}

const REPLACED = "the intent of this object was replaced meanwhile";
