import type { Deps } from "../engine/observe/deps.ts";
import type { ObjectKey } from "../engine/state/object.ts";
import { conditions, type ReadyState, readFacts, readStatus } from "../engine/status/status.ts";
import { postpone } from "../engine/write/record.ts";
import { recordWarning } from "../engine/write/warnings.ts";
import { writeStatus } from "../engine/write/write.ts";
import { type Kind, usesAccount } from "../kinds/kind.ts";
import { orAbort } from "../kube/client/deadline.ts";
import { DeadlineExceeded, type Requeue } from "../kube/queue/work.ts";
import type { KubeObject } from "../kube/resource.ts";

/**
 * Ends a pass when its signal aborts, and has its object say so. What the pass has not ended goes on by itself, while others over
 * the same object follow: it writes nothing any more, neither to the platform nor to Kubernetes.
 */
export const timed =
  <D extends Deps>(deps: D, reconcile: (key: ObjectKey, deps: D) => Promise<Requeue>) =>
  async (key: ObjectKey, signal: AbortSignal): Promise<Requeue> => {
    const guard = () => {
      signal.throwIfAborted();
      deps.guard();
    };
    try {
      return await orAbort(reconcile(key, { ...deps, guard }), signal);
    } catch (error) {
      const found = deps.objects.find(key);
      if (!(error instanceof DeadlineExceeded) || !found || !deps.shards.serves(key)) throw error;
      return recordTimeout(deps, key, found, error);
    }
  };

async function recordTimeout(
  deps: Deps,
  key: ObjectKey,
  { kind, object }: { kind: Kind; object: KubeObject },
  { message: why }: DeadlineExceeded,
): Promise<Requeue> {
  const obstacle = {
    reason: "PlatformUnavailable",
    message: `${why}: what it needs does not answer in time; the operator tries again`,
  } as const;
  // What has no Account of its own has no such pause: the queue's grows as well.
  const pause = usesAccount(kind) && postpone(deps, { memory: deps.memories.of(key), object }, obstacle);
  const standing: ReadyState = { mode: "reconciling", ...obstacle };
  deps.guard();
  const after = await writeStatus(deps, kind, object, {
    ...readFacts(object),
    ...readStatus(object),
    observedGeneration: object.metadata.generation,
    conditions: conditions(object, deps.clock.now(), standing),
  });
  recordWarning(deps, key, { before: object, after, standing });
  return pause ? { inMs: pause.inMs } : "backoff";
}
