import { isShared } from "../engine/accounts/accounts.ts";
import type { Deps } from "../engine/observe/deps.ts";
import { awaitsCaches } from "../engine/observe/observe.ts";
import type { ObjectKey } from "../engine/state/object.ts";
import type { Priority, Queue } from "../kube/queue/queue.ts";

const SOON_MS = 250;
const USAGE_MS = 20_000;

export type Waker = ReturnType<typeof createWaker>;

/** Puts keys on the queue. Before `start` it does nothing: the start wakes every object. */
export function createWaker(queue: Queue, { serves }: Deps["shards"], recheckMs: () => number) {
  let isWorking = false;
  // Objects of other shards are known, but not worked on; ClusterAccounts are read by all.
  const wake = (key: ObjectKey, priority: Priority = "normal"): void => {
    if (isWorking && (serves(key) || isShared(key))) queue.add(key, priority);
  };
  const wakeAfter = (ms: number, key: ObjectKey, priority?: Priority): void => {
    if (isWorking && serves(key)) queue.addAfter(key, ms, priority);
  };
  return {
    start(): void {
      isWorking = true;
    },
    isWorking: () => isWorking,
    wake,
    /** Objects are often deleted together: one that waits for all of them need not reconcile after each. */
    wakeSoon: (key: ObjectKey) => wakeAfter(SOON_MS, key),
    /** The usage of a contract changes often: one pass serves all changes of a while. */
    wakeForUsage: (key: ObjectKey) => wakeAfter(USAGE_MS, key, "background"),
    /** Enqueues at once, or at the next recheck if a pass could only wait for its Account or collection. */
    wakeWhenReadable(deps: Deps, key: ObjectKey): void {
      if (isWorking && serves(key) && awaitsCaches(deps, key)) queue.returnAfter(key, recheckMs(), "background");
      else wake(key);
    },
  };
}
