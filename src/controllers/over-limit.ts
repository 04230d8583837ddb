import { accountOf } from "../engine/accounts/accounts.ts";
import type { Deps } from "../engine/observe/deps.ts";
import { claimOf, type ObjectKey, openIntent } from "../engine/state/object.ts";
import type { Obstacle } from "../engine/status/reasons.ts";
import { conditions, type ReadyState, readFacts, readStatus } from "../engine/status/status.ts";
import { unknownKey } from "../engine/status/trust.ts";
import { recordWarning } from "../engine/write/warnings.ts";
import { writeStatus } from "../engine/write/write.ts";
import type { Kind } from "../kinds/kind.ts";
import type { KubeObject } from "../kube/resource.ts";

/**
 * Why nothing is begun for an object: its namespace has as many of its kind as it may have that are older. What has something on the
 * platform goes on, and an Account through which others have: else nobody could clean it up.
 */
export function overLimit(
  { objects }: Pick<Deps, "objects">,
  key: ObjectKey,
  kind: Kind,
  object: KubeObject,
): Obstacle | undefined {
  if (object.metadata.deletionTimestamp !== undefined) return undefined;
  const excess = objects.excess(kind, object);
  if (!excess) return undefined;
  const account = accountOf(key);
  const isUsed = account !== undefined && objects.users(account).length > 0;
  return isUsed || claimOf(object) || openIntent(object) || unknownKey(object) ? undefined : excess;
}

/** Says so; whatever makes room has the object reconciled. */
export async function refuseOverLimit(
  deps: Deps,
  key: ObjectKey,
  kind: Kind,
  object: KubeObject,
  why: Obstacle,
): Promise<void> {
  const standing: ReadyState = { mode: "stalled", ...why };
  const written = await writeStatus(deps, kind, object, {
    ...readFacts(object),
    ...readStatus(object),
    observedGeneration: object.metadata.generation,
    conditions: conditions(object, deps.clock.now(), standing),
  });
  recordWarning(deps, key, { before: object, after: written, standing });
}
