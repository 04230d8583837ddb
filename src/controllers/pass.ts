import type { Deps } from "../engine/observe/deps.ts";
import type { ObjectKey } from "../engine/state/object.ts";
import { conditions, type ReadyState, readFacts, readStatus } from "../engine/status/status.ts";
import { recordWarning } from "../engine/write/warnings.ts";
import { writeStatus } from "../engine/write/write.ts";
import type { Kind } from "../kinds/kind.ts";
import type { KubeObject } from "../kube/resource.ts";

/** One pass over one object. */
export interface Pass {
  key: ObjectKey;
  kind: Kind;
  object: KubeObject;
}

/** Writes how the object stands. Of the rest of its status only `changes` is different. */
export async function show(
  deps: Deps,
  { key, kind, object }: Pass,
  standing: ReadyState,
  changes: object = {},
): Promise<KubeObject> {
  const after = await writeStatus(deps, kind, object, {
    ...readFacts(object),
    ...readStatus(object),
    ...changes,
    observedGeneration: object.metadata.generation,
    conditions: conditions(object, deps.clock.now(), standing),
  });
  recordWarning(deps, key, { before: object, after, standing });
  return after;
}
