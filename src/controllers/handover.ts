import { accountOf } from "../engine/accounts/accounts.ts";
import { stillAwaits } from "../engine/execute/claim.ts";
import { deleteUnclaimed } from "../engine/execute/delete-unclaimed.ts";
import type { ObjectKey } from "../engine/state/object.ts";
import { readStatus } from "../engine/status/status.ts";
import type { Pass } from "../engine/write/record.ts";
import { fetchObject } from "../engine/write/write.ts";
import { hasResource } from "../kinds/kind.ts";
import type { Requeue } from "../kube/queue/work.ts";
import type { AccountDeps } from "./accounts/reconcile.ts";

/**
 * The namespace of an object has moved to another shard, or to this one. This process ends the creations that it has begun, and
 * forgets the rest, because another process writes now or did before. Each goes by the records in the object, as after a crash.
 */
export function handOver(deps: AccountDeps, key: ObjectKey): void {
  deps.memories.handOver(key);
  const account = accountOf(key);
  const handle = account === undefined ? undefined : deps.accounts.get(account);
  const isServed = deps.shards.serves(key);
  // Its credentials may have changed. Cleanup goes on with those that the connection has.
  if (handle && isServed) handle.obstacle = { reason: "Observing", message: "not checked yet" };
  if (isServed) return;
  deps.collections.leave(key);
  if (account !== undefined) deps.secrets.forget(account);
}

/**
 * Cleans up after a pass that was running when the namespace moved to another shard. If that pass created a resource and did not
 * claim it, the other shard finds it by the intent. Once the intent is closed, only this process knows of it, and deletes it.
 */
export async function finishHandover(deps: AccountDeps, { key, kind, object }: Pass): Promise<Requeue> {
  deps.collections.leave(key);
  const memory = deps.memories.of(key);
  const { creation } = memory;
  if (creation?.phase !== "made" || creation.searched || !hasResource(kind)) return "never";
  const fresh = await fetchObject(deps, kind, object);
  if (fresh && stillAwaits(fresh, creation.intent)) return { inMs: READ_MS, background: true };
  memory.creation = undefined;
  if (fresh && readStatus(fresh).id === creation.made.id) return "never";
  const made = { key, kind, object, account: deps.accounts.get(creation.intent.account) };
  const deletion = deleteUnclaimed(deps, made, creation, creation.made, "another shard has gone on without it");
  deps.runCleanup(deletion, creation.intent.account);
  return "never";
}

const READ_MS = 5000;
