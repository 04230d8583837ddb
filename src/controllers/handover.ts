import { accountOf, objectOf } from "../engine/accounts/accounts.ts";
import { stands } from "../engine/execute/claim.ts";
import { deleteUnclaimed } from "../engine/execute/delete-unclaimed.ts";
import type { ObjectKey } from "../engine/state/object.ts";
import type { Objects } from "../engine/state/objects.ts";
import { createShards, isOfShard, type Shards, undivided } from "../engine/state/shards.ts";
import { readStatus } from "../engine/status/status.ts";
import { fetchObject } from "../engine/write/write.ts";
import { hasResource, type Kind } from "../kinds/kind.ts";
import type { KubeClient } from "../kube/client/transport.ts";
import type { Requeue } from "../kube/queue/work.ts";
import type { KubeObject } from "../kube/resource.ts";
import { createNamespaces, type Namespaces } from "../kube/watch/namespaces.ts";
import type { Clock } from "../runtime/clock.ts";
import { inSlices } from "../runtime/time-slices.ts";
import type { AccountDeps } from "./accounts/reconcile.ts";

/** The namespaces, and which of their objects this process works on. `relabelled` hears of every object of one with new labels. */
export function createShardScope(options: {
  client: KubeClient;
  clock: Clock;
  objects: () => Objects;
  namespace: string | undefined;
  shard: string | undefined;
  relabelled: (key: ObjectKey, isMoved: boolean) => void;
  onError: (error: unknown) => void;
}): { namespaces: Namespaces; shards: Shards } {
  const { clock, objects, namespace, shard, relabelled } = options;
  const namespaces = createNamespaces({
    ...options,
    relabelled(name, before) {
      const isMoved = isOfShard(shard, before) !== isOfShard(shard, namespaces.labelsOf(name));
      void inSlices(clock, objects().residents(name), (key) => relabelled(key, isMoved));
    },
  });
  return { namespaces, shards: namespace === undefined ? createShards(shard, namespaces) : undivided };
}

/**
 * The namespace of an object has moved to another shard, or to this one. What this process has begun with it may end, and what
 * only it knows stays its debt: which creations it has begun is kept. All else that it remembers was true of a time in
 * which another process did not write. Both look at what is on record, as after a crash.
 */
export function handOver(deps: AccountDeps, key: ObjectKey): void {
  deps.memories.handOver(key);
  const account = accountOf(key);
  const handle = account === undefined ? undefined : deps.accounts.get(account);
  const isServed = deps.shards.serves(key);
  // Its credentials may be others by now. Debts are still paid with those that it has.
  if (handle && isServed) handle.obstacle = { reason: "Observing", message: "not checked yet" };
  if (isServed) return;
  deps.collections.leave(key);
  if (account !== undefined) deps.secrets.forget(account);
}

/**
 * A key of another shard, of which a pass was under way when its namespace was moved. What that pass has made and could not
 * claim, the other shard finds by the intent. When it has gone on without it, nobody else knows of it.
 */
export async function finishHandover(
  deps: AccountDeps,
  key: ObjectKey,
  kind: Kind,
  object: KubeObject,
): Promise<Requeue> {
  deps.collections.leave(key);
  const memory = deps.memories.of(key);
  const { creation } = memory;
  if (creation?.phase !== "made" || creation.searched || !hasResource(kind)) return "never";
  const fresh = await fetchObject(deps, kind, object);
  if (fresh && stands(fresh, creation.intent)) return { inMs: LOOK_MS, background: true };
  memory.creation = undefined;
  if (fresh && readStatus(fresh).id === creation.made.id) return "never";
  const made = { key, kind, object, account: deps.accounts.get(creation.intent.account) };
  deps.runCleanup(
    deleteUnclaimed(deps, made, creation, creation.made, "another shard has gone on without it"),
    creation.intent.account,
  );
  return "never";
}

const LOOK_MS = 5000;

/** An Account is gone. Its keeper has let go of the Secret before; whoever only used it has a connection that nobody needs. */
export async function leaveAccount(deps: AccountDeps, account: string): Promise<void> {
  if (deps.shards.serves(objectOf(account))) return deps.secrets.release(account);
  deps.secrets.forget(account);
  if (deps.hasCleanup(account)) return;
  const handle = deps.accounts.get(account);
  deps.accounts.remove(account);
  await handle?.connection.close();
}
