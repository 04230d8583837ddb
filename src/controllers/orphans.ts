import { isDropped, undo } from "../engine/act/abandon.ts";
import { type Deps, leads } from "../engine/look/deps.ts";
import { type ObjectKey, openIntent } from "../engine/objects/object.ts";
import { writeMetadata } from "../engine/record/write.ts";
import { hasResource } from "../kinds/kind.ts";
import type { KubeObject } from "../kube/resource.ts";

/** Nobody else knows what an object has made that is dropped in spite of its finalizer. */
export function undoCreation(deps: Deps, key: ObjectKey, last: KubeObject): void {
  const memory = deps.memories.of(key);
  const kind = deps.objects.kinds.find((each) => key.startsWith(`${each.kind}/`));
  // A pass that is under way sees to it itself when it is through.
  const underWay = memory.creation?.phase === "posting";
  if (underWay || !kind || !hasResource(kind) || !isDropped(deps, last, memory) || !leads(deps)) return;
  const account = deps.accounts.get(memory.creation?.intent.account ?? "");
  undo(deps, { key, kind, account }, { memory, last });
}

/** A pass that waits for the answer to a creation does not see that the object was bared, and may be killed meanwhile. */
export function markWhilePosting(deps: Deps, key: ObjectKey, object: KubeObject): void {
  const kind = deps.objects.find(key)?.kind;
  const { creation } = deps.memories.of(key);
  if (!kind || creation?.phase !== "posting" || !leads(deps)) return;
  // Another process may have gone on with an intent of its own.
  if ((openIntent(object) ?? creation.intent).nonce !== creation.intent.nonce) return;
  // Whoever wrote in between has it looked at again.
  const marked = writeMetadata(deps, kind, object, { intent: creation.intent }).then(
    () => {},
    (error: unknown) => deps.log.debug({ object: key, err: error }, "finalizer not restored yet; retrying"),
  );
  deps.owe(marked, creation.intent.account);
}
