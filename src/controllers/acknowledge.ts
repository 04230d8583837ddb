import type { Deps } from "../engine/observe/deps.ts";
import { conditions, type ReadyState } from "../engine/status/status.ts";
import { writeStatus } from "../engine/write/write.ts";
import type { Kind } from "../kinds/kind.ts";
import type { Requeue } from "../kube/queue/work.ts";
import type { KubeObject } from "../kube/resource.ts";

/** An object that is nothing but its spec is Ready once it was read: tools wait for that. */
export async function acknowledge(deps: Deps, kind: Kind, object: KubeObject): Promise<Requeue> {
  const { generation, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) return "never";
  const standing: ReadyState = kind.spec.safeParse(object.spec).success
    ? { mode: "ready", reason: "Available", message: `${kind.kind} is in effect` }
    : { mode: "stalled", reason: "InvalidSpec", message: "spec is invalid and has no effect" };
  const shown = standing.mode === "ready" ? kind.shows?.(object.spec) : {};
  const status = {
    ...shown,
    observedGeneration: generation,
    conditions: conditions(object, deps.clock.now(), standing),
  };
  await writeStatus(deps, kind, object, status);
  return "never";
}
