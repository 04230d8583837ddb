import type { Requeue } from "../../kube/queue/work.ts";
import { Retry, Unauthorized } from "../../platform/answers/errors.ts";
import { isShared } from "../accounts/accounts.ts";
import type { Shared } from "../observe/collections.ts";
import { type Deps, readLimit } from "../observe/deps.ts";
import type { Context } from "../observe/view.ts";
import { type Claim, type Intent, SKEW_MS } from "../state/intent.ts";
import { livesIn } from "../state/object.ts";
import { type AbsenceFacts, deletionOf, interrupted, missed } from "../state/presence.ts";

export const LOOK_MS = 2000;

/** Asks for this one resource and its request, instead of waiting for the next list; never without a pause between. */
export async function confirm(deps: Deps, context: Context): Promise<Requeue> {
  const { identity, view, shared, memory } = context;
  const at = deps.clock.monotonic();
  if (!shared || !view.claim || at - (memory.askedAt ?? Number.NEGATIVE_INFINITY) < LOOK_MS / 2) return "never";
  memory.askedAt = at;
  shared.collection.ask(identity);
  if (view.observation.seen !== "absent") return "never";
  try {
    const item = await shared.source.get?.(identity, readLimit());
    if (item) {
      shared.collection.refresh([identity]);
      memory.absence = undefined;
      return "never";
    }
    // A request of ours tells by itself what became of it.
    const isPending = view.request && view.request.outcome !== "DONE";
    const logs = isPending ? { logged: false } : await deletionIn(context, shared, view.claim);
    memory.absence = missed(memory.absence, { at, credible: isCredible(shared), logs });
  } catch (error) {
    memory.absence = interrupted(memory.absence);
    throw error;
  }
  return "never";
}

/** Whether what a collection does not show can be missing alone: its list is there, and has what else was to be seen. */
const isCredible = ({ collection, lacksMany }: Shared): boolean =>
  collection.problem === undefined && collection.listedAt !== undefined && !lacksMany();

/** What the platform's logs say about the deletion of a resource since it was last known to be there. */
export async function deletionIn(
  { kind, object, memory, account }: Pick<Context, "kind" | "account"> & Partial<Pick<Context, "object" | "memory">>,
  { logs, path }: Pick<Shared, "logs" | "path">,
  { id, parents, ...claim }: Pick<Claim, "id" | "parents" | "born">,
  begun?: Intent,
): Promise<Pick<AbsenceFacts, "deletion" | "logged">> {
  const known = begun?.at ?? object?.metadata.creationTimestamp ?? "";
  const since = memory?.seenAt ?? (Date.parse(known) || 0);
  const within = livesIn(kind, parents);
  const reusesIds = kind.resource.identity.reusesIds ?? false;
  let logged = false;
  for (const log of logs) {
    const found = await log(since - 2 * SKEW_MS).catch((error: unknown) => {
      // Trouble passes; a log that may not be read is none.
      if (error instanceof Retry || error instanceof Unauthorized) throw error;
    });
    logged ||= found?.complete ?? false;
    const deletion = deletionOf({ id, ...claim, collection: path, within, reusesIds }, found?.deletions ?? []);
    if (!deletion) continue;
    // Who else works with a shared contract is not for everybody to know.
    const { by, ...anonymous } = deletion;
    return { logged, deletion: account && isShared(account.key) ? anonymous : deletion };
  }
  return { logged };
}
