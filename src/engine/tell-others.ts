import { inSlices } from "../breath.ts";
import type { KubeObject } from "../kube/resource.ts";
import { objectOf } from "./accounts/accounts.ts";
import type { Deps } from "./look/deps.ts";
import { claimOf, isReleased, type ObjectKey } from "./objects/object.ts";
import { isNewToReferrers, isReady, thoseBelow, thoseUsed, thoseWhoWaited } from "./waking.ts";

/** Wakes the objects to which a change of another one means something. */
export function tellOthers(
  deps: Deps,
  key: ObjectKey,
  { before, after }: { before: KubeObject | undefined; after: KubeObject | undefined },
  { wake, tellUsage }: { wake: (key: ObjectKey) => void; tellUsage: (account: ObjectKey) => void },
): void {
  const { clock, objects, memories, collections } = deps;
  if (isNewToReferrers(before, after)) void inSlices(clock, objects.referrers(key), wake);
  if (before && !isReleased(before) && (!after || isReleased(after))) {
    void inSlices(clock, thoseWhoWaited(objects, key, before), wake);
  }
  void inSlices(clock, objects.guests(key), (guest) => {
    if (objects.isConcerned(guest, { before, after })) wake(guest);
  });
  const user = (after ? before && !isReady(before) && isReady(after) : before) && (after ?? before);
  if (user) for (const used of thoseUsed(objects, key, user)) collections.refresh(used);
  const [held, holds] = [before && claimOf(before), after && claimOf(after)];
  if (held?.id === holds?.id) return;
  const since = clock.monotonic();
  void inSlices(clock, thoseBelow(objects, key, held), (each) => {
    memories.excuse(each, since);
    if (held) collections.refresh(each);
    // What has nothing yet waits until this one is Ready, which is told by itself.
    if (held || objects.accountOf(each) !== undefined) wake(each);
  });
  // What the contract has in use is about to change; one look serves all that happens in the meantime.
  tellUsage(objectOf((holds ?? held)?.account ?? ""));
}
