import { accountOf, isShared } from "../engine/accounts/accounts.ts";
import { explain } from "../engine/decide/decide.ts";
import { execute } from "../engine/execute/execute.ts";
import type { Deps } from "../engine/observe/deps.ts";
import { observe } from "../engine/observe/observe.ts";
import { claimOf, type ObjectKey, openIntent } from "../engine/state/object.ts";
import type { Obstacle } from "../engine/status/reasons.ts";
import { conditions, type ReadyState } from "../engine/status/status.ts";
import { unknownKey } from "../engine/status/trust.ts";
import { type Pass, show } from "../engine/write/record.ts";
import { writeStatus } from "../engine/write/write.ts";
import { hasResource } from "../kinds/kind.ts";
import type { Requeue } from "../kube/queue/work.ts";
import { type AccountDeps, keepAccount, leaveAccount } from "./accounts/reconcile.ts";
import type { DestinationDeps } from "./exports/destinations.ts";
import { reconcileExport } from "./exports/reconcile.ts";
import { finishHandover } from "./handover.ts";

/** Reconciles one object, by what it is: an Account, an export, a spec without a resource, or a resource of the platform. */
export async function reconcile(deps: AccountDeps & DestinationDeps, key: ObjectKey): Promise<Requeue> {
  const account = accountOf(key);
  const found = deps.objects.find(key);
  if (!found) return account === undefined ? "never" : leaveAccount(deps, account);
  const { kind, object } = found;
  const pass = { key, kind, object };
  if (!deps.shards.serves(key) && !isShared(key)) return finishHandover(deps, pass);
  const excess = overLimit(deps, pass);
  if (excess) {
    // The change that makes room wakes the object.
    await show(deps, pass, { mode: "stalled", ...excess });
    return "never";
  }
  const pauseMs = pauseOfRepairs(deps, key);
  if (pauseMs > 0) return { inMs: pauseMs };
  if (account !== undefined) return keepAccount(deps, account, pass);
  if (kind.task) return reconcileExport(deps, pass);
  if (!hasResource(kind)) return acknowledge(deps, pass);
  const context = observe(deps, key, kind, object);
  context.memory.reconciledAt = context.view.times.now;
  const { rule, decision } = explain(context.view);
  const reason = "reason" in decision ? { reason: decision.reason } : {};
  deps.log.debug({ object: key, rule, step: decision.step, ...reason }, "decided");
  return execute(deps, context, decision);
}

/** Somebody undoes what is written to the object: it is written again after a pause, or when the desired state changes. */
function pauseOfRepairs({ memories, clock }: Deps, key: ObjectKey): number {
  const repeated = Object.values(memories.of(key).writes ?? {}).filter(({ times }) => times > 0);
  return Math.max(0, ...repeated.map(({ retryAt }) => retryAt - clock.monotonic()));
}

/**
 * Why nothing is begun for an object: its namespace has as many older ones of its kind as it may have. An object with something on
 * the platform goes on, and so does an Account that such objects use: nobody else could clean up.
 */
function overLimit({ objects }: Pick<Deps, "objects">, { key, kind, object }: Pass): Obstacle | undefined {
  if (object.metadata.deletionTimestamp !== undefined) return undefined;
  const excess = objects.excess(kind, object);
  if (!excess) return undefined;
  const account = accountOf(key);
  const isUsed = account !== undefined && objects.users(account).length > 0;
  return isUsed || claimOf(object) || openIntent(object) || unknownKey(object) ? undefined : excess;
}

/** An object that is nothing but its spec is Ready once it was read: tools wait for that. */
async function acknowledge(deps: Deps, { kind, object }: Pass): Promise<Requeue> {
  const { generation, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) return "never";
  const isValid = kind.spec.safeParse(object.spec).success;
  const condition: ReadyState = isValid
    ? { mode: "ready", reason: "Available", message: `${kind.kind} is in effect` }
    : { mode: "stalled", reason: "InvalidSpec", message: "spec is invalid and has no effect" };
  await writeStatus(deps, kind, object, {
    ...(isValid && kind.shows?.(object.spec)),
    observedGeneration: generation,
    conditions: conditions(object, deps.clock.now(), condition),
  });
  return "never";
}
