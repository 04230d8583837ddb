import { accountKinds, objectOf } from "../../engine/accounts/accounts.ts";
import { keptAdoptions } from "../../engine/state/adoptions.ts";
import { FINALIZER } from "../../engine/state/names.ts";
import { type Found, resourceOf } from "../../engine/state/object.ts";
import { isSaidAgain } from "../../engine/status/reasons.ts";
import { alsoHolds, conditions, type ReadyState } from "../../engine/status/status.ts";
import { type Pass, withTime } from "../../engine/write/record.ts";
import { recordWarning } from "../../engine/write/warnings.ts";
import { release, writeMetadata, writeStatus } from "../../engine/write/write.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { fetchObject } from "../../kube/watch/followed.ts";
import { reachedTime, skewOf } from "../../platform/calls/platform-time.ts";
import { type AccountDeps, check, readSpec, readState, revokeTokens } from "./check.ts";
import { skewIn, usedBy } from "./condition.ts";

export type { AccountDeps } from "./check.ts";

/** Reconciles an Account, and wakes its users when it was edited: a new endpoint may be what they wait for. */
export async function keepAccount(deps: AccountDeps, account: string, pass: Pass): Promise<Requeue> {
  const before = deps.accounts.get(account);
  const since = deps.clock.monotonic();
  const again = await reconcileAccount(deps, account, pass);
  const { generation } = pass.object.metadata;
  const handle = deps.accounts.get(account);
  if (!handle || handle === before || handle.reportedGeneration === generation) return again;
  // After the first check, `adjust` has woken them already.
  if (handle.reportedGeneration !== undefined) deps.changed(account, since);
  handle.reportedGeneration = generation;
  return again;
}

/**
 * Reconciles one Account: Ready while a cheap authenticated call succeeds. The call is made when spec or Secret change, when
 * a call of the Account was refused, and once per resync.
 */
export async function reconcileAccount(deps: AccountDeps, account: string, { kind, object }: Found): Promise<Requeue> {
  const key = objectOf(account);
  const isKept = deps.shards.serves(key);
  const deleting = object.metadata.deletionTimestamp !== undefined;
  const users = deps.objects.users(account);
  if (isKept && deleting && users.length === 0) {
    return deps.hasCleanup(account) ? { inMs: CLEANUP_RECHECK_MS } : letGo(deps, account, { kind, object });
  }
  const lacksFinalizer = isKept && !deleting && !object.metadata.finalizers?.includes(FINALIZER);
  const current = lacksFinalizer ? await writeMetadata(deps, kind, object) : object;
  const checked = await check(deps, account, current);
  // The watch wakes the Account when its Secret was read.
  if (checked === "later") return "never";
  const { condition: found, again } = checked;
  adjust(deps, account, found);
  // Another shard keeps this Account, and writes its status.
  if (!isKept) return again;
  // Only the status says when it is tried again: its objects are not woken each time.
  const due = typeof again === "object" ? deps.clock.now() + again.inMs : 0;
  const condition = deleting ? usedBy(deps, users) : { ...found, message: withTime(found, due) };
  const shown = conditions(current, deps.clock.now(), condition);
  const clusterName = deps.clusterName();
  const skew = skewIn(deps.memories.of(key), skewOf(deps.accounts.get(account)?.connection));
  const written = await writeStatus(deps, kind, current, {
    ...checked.facts,
    ...keptAdoptions(current),
    ...(clusterName !== undefined && { clusterName }),
    observedGeneration: current.metadata.generation,
    conditions: skew ? alsoHolds(current, deps.clock.now(), shown, skew) : shown,
  });
  recordWarning(deps, key, { before: current, after: written, condition });
  return again;
}

const CLEANUP_RECHECK_MS = 1000;

/** Notes whether an Account works, and wakes its objects if that changed: before the write of its status, which may fail. */
function adjust(deps: AccountDeps, account: string, { mode, reason, message }: ReadyState): void {
  const handle = deps.accounts.get(account);
  if (!handle) return;
  const before = handle.obstacle;
  // A short failure concerns the Account alone: its objects notice by themselves whether they are affected.
  if (mode === "reconciling" && !before) return;
  const now = mode === "ready" ? undefined : { reason, message };
  const { contractNumber, identity } = handle.connection;
  const worksAs = now ? handle.worksAs : `${contractNumber} ${identity?.userId}`;
  if (isSaidAgain(before, now) && worksAs === handle.worksAs) return;
  handle.obstacle = now;
  handle.worksAs = worksAs;
  deps.changed(account, deps.clock.monotonic());
}

/** Releases an Account that nothing uses any more: without it, no resource of its users could be deleted. */
async function letGo(deps: AccountDeps, account: string, { kind, object }: Found): Promise<Requeue> {
  const spec = readSpec(object);
  const { name, key = "" } = spec?.credentialsSecretRef ?? {};
  // A new process has to read the Secret before it can release it.
  if (name && !deps.secrets.read(account, object.metadata.namespace ?? deps.home, name, key).known) return "never";
  const state = readState(deps, account, object);
  const again = typeof state === "object" && "handle" in state ? await revokeTokens(state) : undefined;
  if (again !== undefined) return again;
  // Also the record of tokens that could not be revoked: nobody uses them any more.
  await deps.tokenStore.write(account, undefined);
  await leaveAccount(deps, account);
  await release(deps, kind, object);
  return "never";
}

/** An Account is gone, or goes now. If somebody removed its finalizer, its tokens are left: they are revoked by their own value. */
export async function leaveAccount(deps: AccountDeps, account: string): Promise<Requeue> {
  const [key, before] = [objectOf(account), deps.accounts.get(account)];
  const isKept = deps.shards.serves(key);
  await (isKept ? deps.secrets.release(account) : deps.secrets.forget(account));
  // Objects and cleanup go on with the connection of this process.
  if ((before && deps.objects.users(account)[0]) || deps.hasCleanup(account)) return { inMs: deps.settings.retryMs };
  await before?.connection.close();
  deps.accounts.remove(account);
  const { record, token = "" } = await deps.tokenStore.read(account);
  const [namespace, name = ""] = account.split("/");
  const kind = accountKinds.find((each) => key.startsWith(`${each.kind}/`));
  if (!isKept || !record || !kind) return "never";
  // The cache may not show a new Account yet.
  if (await fetchObject(deps.client, resourceOf(kind), { namespace, name })) return "never";
  const handle = { key: account, connection: deps.transport.connect(account), endpoint: () => record.endpoint };
  const again = await revokeTokens({ deps, given: { token }, handle }).finally(() => handle.connection.close());
  const hasExpired = (record.current?.expiresAt ?? 0) <= reachedTime(deps.clock, handle.connection);
  if (again !== undefined && !hasExpired) return again;
  if (!token || record.intent) deps.log.warn({ object: key }, "unknown token not revoked: it expires by itself");
  await deps.tokenStore.write(account, undefined);
  return "never";
}

/** The Secret that an Account names, as namespace/name. */
export const credentialsSecretOf = (object: KubeObject, home: string): string =>
  `${object.metadata.namespace ?? home}/${readSpec(object)?.credentialsSecretRef.name}`;
