import type { Requeue } from "../../kube/queue/work.ts";
import { removeOwned } from "../../kube/write/owned-secret.ts";
import { nextAttempt } from "../../runtime/attempt.ts";
import type { Deps } from "../observe/deps.ts";
import { type OutputWork, outputWork } from "../observe/secrets/output-state.ts";
import type { Context } from "../observe/view.ts";
import { OUTPUT } from "../state/names.ts";
import type { Obstacle } from "../status/reasons.ts";
import { pauseAfter } from "../write/record.ts";
import { publish, unlessRefused } from "./publish.ts";

/**
 * Writes the Secret or ConfigMap of spec.output, then deletes the previous one. It has a backoff of its own: it does not wait for
 * the platform, nor the platform for it.
 */
export async function writeOutput(deps: Deps, context: Context): Promise<Requeue> {
  const { view, item, memory } = context;
  const work = outputWork(deps, context, view.resource.claim, item);
  if (work === undefined || work === "unknown" || "obstacle" in work) return "now";
  const { what } = work;
  const now = deps.clock.monotonic();
  const attempt = nextAttempt(memory.output, what, now);
  const obstacle = await perform(deps, context, work);
  const retryAt = obstacle ? now + pauseAfter(deps, obstacle, attempt.times) : attempt.retryAt;
  memory.output = { ...attempt, retryAt, obstacle };
  return "now";
}

async function perform(deps: Deps, { kind, object }: Context, work: OutputWork): Promise<Obstacle | undefined> {
  const { wanted, stale } = work;
  if (wanted) {
    const { resource, name } = wanted;
    const field = resource.kind === "Secret" ? "output.secretName" : "output.configMapName";
    const content = { ...wanted, labels: { [OUTPUT]: "true" } };
    const options = { shown: deps.published.put, field };
    const written = await unlessRefused(wanted, () => publish(deps, { kind, object }, content, options));
    if ("obstacle" in written) return written.obstacle;
    if (written.outcome === "created")
      deps.events.record(object, "Normal", "OutputCreated", `created ${resource.kind} ${name} for workloads`);
  }
  for (const { resource, object: old } of stale) {
    deps.guard();
    const { name } = old.metadata;
    const removed = await unlessRefused({ resource, name }, () => removeOwned(deps.client, resource, old));
    if (removed) return removed.obstacle;
  }
  return undefined;
}
