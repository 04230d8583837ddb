import type { Deps } from "../engine/observe/deps.ts";
import type { ObjectKey } from "../engine/state/object.ts";
import { type Pass, postpone, show } from "../engine/write/record.ts";
import { usesAccount } from "../kinds/kind.ts";
import { DeadlineExceeded, type Requeue } from "../kube/queue/work.ts";
import { orAbort } from "../runtime/clock.ts";

/**
 * Ends a pass when its signal aborts, and says so in the status of its object. What the pass has begun goes on by itself, beside
 * later passes over the same object: it may no longer write, neither to the platform nor to Kubernetes.
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
      return recordTimeout(deps, { key, ...found }, error);
    }
  };

async function recordTimeout(deps: Deps, pass: Pass, { message: why }: DeadlineExceeded): Promise<Requeue> {
  const message = `${why}: what it needs does not answer in time; the operator tries again`;
  const obstacle = { reason: "PlatformUnavailable", message } as const;
  // An object without an Account has the backoff of the queue.
  const memory = deps.memories.of(pass.key);
  const pause = usesAccount(pass.kind) && postpone(deps, { memory, object: pass.object }, obstacle);
  await show(deps, pass, { mode: "reconciling", ...obstacle });
  return pause ? { inMs: pause.inMs } : "backoff";
}
