import { titlesOf } from "../../kinds/contents.ts";
import { livesIn } from "../../kinds/lives.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import { deletionIn } from "../../platform/activity/deletion-logs.ts";
import { PlatformError } from "../../platform/answers/errors.ts";
import { isShared } from "../accounts/accounts.ts";
import { type Deps, readLimit } from "../observe/deps.ts";
import { notUnderstood } from "../observe/platform-errors.ts";
import type { Shared } from "../observe/resource/collections.ts";
import type { Context } from "../observe/view.ts";
import { type Claim, SKEW_MS } from "../state/intent.ts";
import { ALLOW_NON_EMPTY_DELETE } from "../state/names.ts";
import { type AbsenceFacts, interrupted, missed } from "../state/presence.ts";
import { recordFailure, recordPlatformError } from "../write/record.ts";
import { insideOf } from "./inside.ts";

/** Recheck interval after a read of one resource was asked for. */
export const READ_MS = 2000;

/** Reads this one resource and its request without waiting for the next list; at most once in half of `READ_MS`. */
export async function confirm(deps: Deps, context: Context): Promise<void> {
  const { identity, object, view, shared, memory } = context;
  const { claim, observation, request } = view.resource;
  const at = deps.clock.monotonic();
  if (!shared || !claim || at - (memory.askedAt ?? Number.NEGATIVE_INFINITY) < READ_MS / 2) return;
  memory.askedAt = at;
  const { collection } = shared;
  collection.ask(identity);
  if (observation.seen !== "absent") return;
  try {
    const item = await shared.source.get?.(identity, readLimit());
    if (item) {
      collection.refresh([identity]);
      memory.absence = undefined;
      return;
    }
    // An open request of Mooring has its own outcome: no log is needed.
    const isPending = request && request.outcome !== "DONE";
    const since = memory.seenAt ?? (Date.parse(object.metadata.creationTimestamp ?? "") || 0);
    const logs = isPending ? { logged: false } : await knownDeletion(context, shared, claim, since);
    // Without a complete list, a missing member proves nothing.
    const credible = collection.problem === undefined && collection.listedAt !== undefined && !shared.lacksMany();
    memory.absence = missed(memory.absence, { at, credible, logs });
  } catch (error) {
    memory.absence = interrupted(memory.absence);
    throw error;
  }
}

/** The deletion of a resource in the logs of the platform since it was known to exist. */
export async function knownDeletion(
  { kind, account }: Pick<Context, "kind" | "account">,
  { logs, path }: Shared,
  { id, parents, born }: Pick<Claim, "id" | "parents" | "born">,
  since: number,
): Promise<Pick<AbsenceFacts, "deletion" | "logged">> {
  const reusesIds = kind.resource.identity.reusesIds ?? false;
  const whereabouts = { id, born, collection: path, within: livesIn(kind, parents), reusesIds };
  const found = await deletionIn(logs, whereabouts, since - 2 * SKEW_MS);
  if (!found.deletion || !account || !isShared(account.key)) return found;
  // In a shared contract the names of other users are not shown.
  const { by, ...anonymous } = found.deletion;
  return { ...found, deletion: anonymous };
}

/** Two readings that are further apart are not a row: nobody knows what was inside in between. */
const LONGEST_GAP_MS = 600_000;

/** Reads what is inside a resource before it is deleted: in its own answer, or in lists of what would be lost. */
export async function inspect(deps: Deps, context: Context): Promise<Requeue> {
  const { kind, account, view, memory } = context;
  const { claim, unfinished, request } = view.resource;
  if (!account || !claim) return "now";
  const asOf = deps.clock.monotonic();
  const before = memory.contents;
  memory.contents = undefined;
  const isNext =
    before?.names.length === 0 && before.asOf > view.times.desiredSince && asOf - before.asOf < LONGEST_GAP_MS;
  const note = (names: string[]) => {
    memory.contents = { asOf, names, since: isNext && names.length === 0 ? before.since : asOf };
  };
  try {
    note(titlesOf(await insideOf(deps, context, claim)));
  } catch (error) {
    if (!(error instanceof PlatformError)) return recordFailure(deps, context, notUnderstood(kind, error));
    if (error.status !== 409) throw error;
    // The platform lists nothing in a resource whose creation or deletion has failed.
    if (!unfinished && !request) return recordPlatformError(deps, context, error, {}, unseen);
    note([]);
  }
  return "now";
}
const unseen = (said: string) => `${said}; so its contents are unknown (${ALLOW_NON_EMPTY_DELETE} deletes them)`;
