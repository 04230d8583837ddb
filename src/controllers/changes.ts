import { accountOf, objectOf } from "../engine/accounts/accounts.ts";
import type { Deps } from "../engine/observe/deps.ts";
import { RECONCILE_AT, RECREATE } from "../engine/state/names.ts";
import { claimOf, isReleased, type ObjectKey } from "../engine/state/object.ts";
import type { Queue } from "../kube/queue/queue.ts";
import type { KubeObject } from "../kube/resource.ts";
import type { Change } from "../kube/watch/store.ts";
import { inSlices } from "../runtime/time-slices.ts";
import type { AccountDeps } from "./accounts/reconcile.ts";
import type { DestinationDeps } from "./exports/destinations.ts";
import { noticeRestore, restoreFinalizer, undoCreation } from "./orphans.ts";
import {
  dependentsOf,
  isEdited,
  isReady,
  lostFinalizer,
  referrersToWake,
  usedObjects,
  waitingForRemoval,
} from "./wake-ups.ts";
import type { Waker } from "./waker.ts";

/** Reacts to a change of an object: updates its memory, undoes what it leaves behind, and wakes it and the objects it concerns. */
export function noticeChange(
  deps: AccountDeps & DestinationDeps,
  { queue, waker }: { queue: Queue; waker: Waker },
  key: ObjectKey,
  change: Omit<Change<KubeObject>, "key">,
): void {
  const { clock, memories, collections } = deps;
  const { before, after, last, rewound } = change;
  const account = accountOf(key);
  if (last) undoCreation(deps, key, last);
  if (!after || (before && before.metadata.uid !== after.metadata.uid)) {
    memories.forget(key);
    collections.leave(key);
  }
  noticeRestore(deps, key, change);
  const isChanged = (name: string) => before?.metadata.annotations?.[name] !== after?.metadata.annotations?.[name];
  if (before && after && [RECONCILE_AT, RECREATE].some(isChanged)) {
    memories.clearFailure(key, clock.monotonic());
    collections.refresh(key);
  }
  if (after) memories.observe(key, after);
  if (before && after && lostFinalizer(before, after)) restoreFinalizer(deps, key, after);
  // Own writes are changes, too. They wake nothing: that would undo every backoff. An earlier status may be all that was restored.
  if (!after) queue.forget(key);
  else if (!before || rewound) waker.wake(key, account === undefined ? "new" : "people");
  else if (isEdited(before, after) && !isReleased(after)) waker.wake(key, "people");
  if (!waker.isWorking()) return;
  wakeDependents(deps, waker, key, change);
  if (account !== undefined && (!before || !after)) deps.changed(account, clock.monotonic());
  if (!after && account === undefined) deps.runCleanup(deps.destinations.close(key));
  // By then no creation with this Account is under way.
  else if (!after) queue.addAfter(key, deps.settings.createDeadlineMs + deps.settings.settleMs, "background");
}

/** Wakes the objects that a change of another one concerns. */
function wakeDependents(
  { clock, objects, memories, collections }: Deps,
  { wake, wakeSoon, wakeForUsage }: Waker,
  key: ObjectKey,
  change: Omit<Change<KubeObject>, "key">,
): void {
  const { before, after } = change;
  void inSlices(clock, referrersToWake(objects, key, before, after), wake);
  if (before && !isReleased(before) && (!after || isReleased(after))) {
    void inSlices(clock, waitingForRemoval(objects, key, before), wakeSoon);
  }
  void inSlices(clock, objects.guestsOf(key, change), wake);
  const becameReady = before && after && !isReady(before) && isReady(after);
  const user = becameReady || !after ? (after ?? before) : undefined;
  if (user) for (const used of usedObjects(objects, key, user)) collections.refresh(used);
  const [claimBefore, claim] = [before && claimOf(before), after && claimOf(after)];
  if (claimBefore?.id === claim?.id) return;
  const since = clock.monotonic();
  void inSlices(clock, dependentsOf(objects, key, claimBefore), (each) => {
    memories.clearFailure(each, since);
    if (!claimBefore) return;
    collections.refresh(each);
    wake(each);
  });
  wakeForUsage(objectOf((claim ?? claimBefore)?.account ?? ""));
}
