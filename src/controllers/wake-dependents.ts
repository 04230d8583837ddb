import { objectOf } from "../engine/accounts/accounts.ts";
import type { Deps, Log } from "../engine/observe/deps.ts";
import { claimOf, isReleased, type ObjectKey } from "../engine/state/object.ts";
import type { KubeObject } from "../kube/resource.ts";
import { inSlices } from "../runtime/time-slices.ts";
import { dependentsOf, isReady, referrersToWake, usedObjects, waitingForRemoval } from "./wake-ups.ts";

/** Wakes the objects to which a change of another one means something. */
export function wakeDependents(
  deps: Deps,
  key: ObjectKey,
  { before, after }: { before: KubeObject | undefined; after: KubeObject | undefined },
  { wake, wakeSoon, requeueForUsage }: Record<"wake" | "wakeSoon" | "requeueForUsage", (key: ObjectKey) => void>,
): void {
  const { clock, objects, memories, collections } = deps;
  void inSlices(clock, referrersToWake(objects, key, before, after), wake);
  // Many go together: whoever waits for all of them need not look after each.
  if (before && !isReleased(before) && (!after || isReleased(after))) {
    void inSlices(clock, waitingForRemoval(objects, key, before), wakeSoon);
  }
  void inSlices(clock, objects.guests(key), (guest) => {
    if (objects.isConcerned(guest, { before, after })) wake(guest);
  });
  const user = (after ? before && !isReady(before) && isReady(after) : before) && (after ?? before);
  if (user) for (const used of usedObjects(objects, key, user)) collections.refresh(used);
  const [held, holds] = [before && claimOf(before), after && claimOf(after)];
  if (held?.id === holds?.id) return;
  const since = clock.monotonic();
  void inSlices(clock, dependentsOf(objects, key, held), (each) => {
    memories.clearFailure(each, since);
    if (!held) return;
    collections.refresh(each);
    wake(each);
  });
  // What the contract has in use is about to change; one look serves all that happens in the meantime.
  requeueForUsage(objectOf((holds ?? held)?.account ?? ""));
}

/** A Grant has come to count, or does not any more, because of others beside it: wakes those who use what it opens. */
export function wakeGrantUsers({ clock, objects }: Deps, key: ObjectKey, wake: (key: ObjectKey) => void): void {
  const change = { before: undefined, after: objects.find(key)?.object };
  void inSlices(clock, objects.guests(key), (guest) => {
    if (objects.isConcerned(guest, change)) wake(guest);
  });
}

/** Says once of each namespace that it has more Secrets or ConfigMaps of Mooring than are watched. */
export function warnOverLimit(log: Log): (kind: string, namespace: string) => void {
  const told = new Set<string>();
  return (kind, namespace) => {
    if (told.has(`${kind} ${namespace}`)) return;
    told.add(`${kind} ${namespace}`);
    log.warn({ kind, namespace }, "too many labelled objects; the others are read by name");
  };
}
