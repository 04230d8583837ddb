import { isDropped, leftOnPlatform, undo } from "../engine/execute/delete-unclaimed.ts";
import { type Deps, leads } from "../engine/observe/deps.ts";
import { mayBeListed } from "../engine/observe/resource/lookalike.ts";
import { EXTERNAL_ID, FINALIZER } from "../engine/state/names.ts";
import { claimOf, type ObjectKey, openIntent } from "../engine/state/object.ts";
import { settledAt } from "../engine/status/author.ts";
import { writeMetadata } from "../engine/write/write.ts";
import { hasResource } from "../kinds/kind.ts";
import type { KubeObject } from "../kube/resource.ts";
import type { Change } from "../kube/watch/store.ts";
import { identityOf } from "../platform/collections/numbered.ts";

/** If the API server drops an object despite its finalizer, only this process knows what it created. */
export function undoCreation(deps: Deps, key: ObjectKey, last: KubeObject): void {
  const memory = deps.memories.of(key);
  const kind = deps.objects.kinds.find((each) => key.startsWith(`${each.kind}/`));
  // A pass that is under way does it when it ends.
  const underWay = memory.creation?.phase === "posting";
  if (underWay || !kind || !hasResource(kind) || !isDropped(deps, last, memory) || !leads(deps)) return;
  const account = deps.accounts.get(memory.creation?.intent.account ?? "");
  undo(deps, { key, kind, account, object: last, memory });
}

const WARN_INTERVAL_MS = 60_000;
const RESTORED =
  "the API server was restored to an earlier state: nothing is created until the platform has been read again";

/**
 * An object may be older than its resource: when it was there before this process, came after the API server was restored to an
 * earlier state, or is new and names a resource already. A resource that such an object no longer names is left on the platform.
 */
export function noticeRestore(deps: Deps, key: ObjectKey, change: Omit<Change<KubeObject>, "key">): void {
  const { memories, objects, clock, log } = deps;
  const { before, after, listed, rewound } = change;
  const now = clock.monotonic();
  if (rewound) {
    if (now - (memories.rewound.at ?? Number.NEGATIVE_INFINITY) > WARN_INTERVAL_MS) log.warn({}, RESTORED);
    memories.rewound.at = now;
    memories.handOver(key);
  }
  const isNew = rewound || before?.metadata.uid !== after?.metadata.uid;
  const mayBeOld = listed || memories.rewound.at !== undefined || EXTERNAL_ID in (after?.metadata.annotations ?? {});
  const claimed = rewound && before ? claimOf(before) : undefined;
  if (after && isNew && mayBeOld && mayBeListed(objects.find(key)?.kind)) {
    const memory = memories.of(key);
    const lost = claimed && claimed.id !== claimOf(after)?.id ? identityOf(claimed) : memory.doubt?.lost;
    // The finalizer comes with an intent. If somebody removed that, a result may still be hidden.
    const isCut = after.metadata.finalizers?.includes(FINALIZER) && !claimOf(after) && !openIntent(after);
    memory.doubt = { since: isCut ? settledAt(deps, deps.self, now) : now, lost };
  }
  if (claimed && !after) log.warn({ object: key, id: claimed.id }, leftOnPlatform(key.split("/")[0] ?? ""));
}

/** Puts back a removed finalizer during a creation: the running pass does not notice, and may be killed before the next one. */
export function restoreFinalizer(deps: Deps, key: ObjectKey, object: KubeObject): void {
  const kind = deps.objects.find(key)?.kind;
  const { creation } = deps.memories.of(key);
  if (!kind || creation?.phase !== "posting" || !leads(deps)) return;
  // Another process may have its own intent by now.
  if ((openIntent(object) ?? creation.intent).nonce !== creation.intent.nonce) return;
  // After a conflict, the other write wakes the object.
  const marked = writeMetadata(deps, kind, object, { intent: creation.intent }).then(
    () => {},
    (error: unknown) => deps.log.debug({ object: key, err: error }, "finalizer not restored yet; retrying"),
  );
  deps.runCleanup(marked, creation.intent.account);
}
