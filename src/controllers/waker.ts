import { isShared } from "../engine/accounts/accounts.ts";
import { awaitsCaches } from "../engine/observe/awaits-caches.ts";
import type { Deps } from "../engine/observe/deps.ts";
import type { ObjectKey } from "../engine/state/object.ts";
import type { Priority, Queue } from "../kube/queue/queue.ts";

const SOON_MS = 250;
const USAGE_MS = 20_000;

/** Puts keys on the queue. Before `start` it does nothing: at the start, everything is looked at anyway. */
export interface Waker {
  start(): void;
  readonly isWorking: boolean;
  /** Objects of other shards are known, but not worked on; ClusterAccounts are read by all. */
  wake(key: ObjectKey, priority?: Priority): void;
  /** After a moment: many objects go together, and whoever waits for all of them need not look after each. */
  wakeSoon(key: ObjectKey): void;
  /** After a while: one pass serves all that happens meanwhile to what a contract has in use. */
  wakeForUsage(key: ObjectKey): void;
  /** As soon as a pass can come to anything, or else when a recheck is due. */
  wakeWhenReadable(deps: Deps, key: ObjectKey): void;
  /** The time to the next recheck, ±20 %. */
  recheckMs(): number;
}

export function createWaker(
  queue: Queue,
  { serves }: Pick<Deps["shards"], "serves">,
  settings: Pick<Deps["settings"], "recheckMs">,
  random: () => number,
): Waker {
  let isWorking = false;
  const recheckMs = () => settings.recheckMs * (0.8 + 0.4 * random());
  const wake: Waker["wake"] = (key, priority = "normal") => {
    if (isWorking && (serves(key) || isShared(key))) queue.add(key, priority);
  };
  return {
    start() {
      isWorking = true;
    },
    get isWorking() {
      return isWorking;
    },
    wake,
    wakeSoon(key) {
      if (isWorking && serves(key)) queue.addAfter(key, SOON_MS);
    },
    wakeForUsage(key) {
      if (isWorking && serves(key)) queue.addAfter(key, USAGE_MS, "background");
    },
    wakeWhenReadable(deps, key) {
      if (isWorking && serves(key) && awaitsCaches(deps, key)) queue.returnAfter(key, recheckMs(), "background");
      else wake(key);
    },
    recheckMs,
  };
}
