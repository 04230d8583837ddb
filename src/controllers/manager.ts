import { randomUUID } from "node:crypto";
import { accountKinds, accountOf, createAccounts, objectOf } from "../engine/accounts/accounts.ts";
import type { Deps } from "../engine/observe/deps.ts";
import { createCollections } from "../engine/observe/resource/collections.ts";
import { createMemories } from "../engine/state/memory.ts";
import { CREDENTIALS, FINALIZER } from "../engine/state/names.ts";
import { type ObjectKey, resourceOf } from "../engine/state/object.ts";
import { createObjects } from "../engine/state/objects.ts";
import { createPublications } from "../engine/state/published.ts";
import { createShards, isOfShard, undivided } from "../engine/state/shards.ts";
import { createSpending } from "../engine/state/spending.ts";
import { hasResource } from "../kinds/kind.ts";
import { type Requeue, work } from "../kube/queue/work.ts";
import type { KubeObject } from "../kube/resource.ts";
import { createNamespaces } from "../kube/watch/namespaces.ts";
import { type Watcher, watch } from "../kube/watch/watch.ts";
import { tellingNews } from "../kube/watch/watch-failures.ts";
import { createHeldSecrets } from "../kube/write/held-secrets.ts";
import { createDestinationClients } from "../platform/export/clients.ts";
import { createCatalogues } from "../platform/products/catalogues.ts";
import { createPendingTasks } from "../runtime/pending-tasks.ts";
import { inSlices, yieldIfDue } from "../runtime/time-slices.ts";
import { type AccountDeps, credentialsSecretOf } from "./accounts/reconcile.ts";
import { createTokenStore } from "./accounts/token-store.ts";
import { noticeChange } from "./changes.ts";
import type { DestinationDeps } from "./exports/destinations.ts";
import { handOver } from "./handover.ts";
import { createLabels } from "./labels.ts";
import type { ManagerOptions } from "./manager-options.ts";
import { reconcile } from "./reconcile.ts";
import { timed } from "./timeout.ts";
import { allKeys, laneOf, usersOf } from "./wake-ups.ts";
import { createWaker, type Waker } from "./waker.ts";

/** Puts the parts together: changes of either cache become keys on the queue, and each key one decided step. */
export function createManager(options: ManagerOptions) {
  const { clock, log, client, queue, settings, random = Math.random } = options;
  const within = options.namespace === undefined ? {} : { namespace: options.namespace };
  const namespaces = createNamespaces({ client, clock, ...within, onError: interrupted(options, "Namespace") });
  const shards = options.namespace === undefined ? createShards(options.shard, namespaces) : undivided;
  const report = (error: unknown) => log.error({ err: error }, "listener failed");
  const objects = createObjects(options.kinds, options.seal, report, namespaces.labelsOf, options.limit);
  const recheckMs = () => settings.recheckMs * (0.8 + 0.4 * random());
  const waker = createWaker(queue, shards, recheckMs);
  const cleanup = createPendingTasks((error) => log.error({ err: error }, "cleanup failed"));
  const parts = { namespaces, shards, objects, runCleanup: cleanup.run, hasCleanup: cleanup.isPending };
  const deps = createDeps(options, waker, parts);
  const labels = createLabels(deps, deps.clusterName, random);
  const observeObject = (key: ObjectKey, object: KubeObject | undefined) =>
    options.observeObject?.(key, shards.serves(key) ? object : undefined);

  objects.subscribe((key, change) => {
    observeObject(key, change.after);
    noticeChange(deps, { queue, waker }, key, change);
    labels.notice(key, change);
  });
  objects.onShift((key) => {
    waker.wake(key);
    // A Grant takes effect, or no longer does.
    void inSlices(clock, objects.guestsOf(key, { after: objects.find(key)?.object }), waker.wake);
  });
  namespaces.subscribe((name, before) => {
    const isMoved = isOfShard(options.shard, before) !== isOfShard(options.shard, namespaces.labelsOf(name));
    void inSlices(clock, objects.residents(name), (key) => {
      waker.wake(key);
      if (!isMoved) return;
      handOver(deps, key);
      const after = objects.find(key)?.object;
      if (after) labels.notice(key, { after });
      observeObject(key, objects.find(key)?.object);
      // By then the previous shard has finished what it had begun.
      if (shards.serves(key)) queue.addAfter(key, settings.createDeadlineMs + settings.settleMs, "background");
    });
  });

  const caches = [deps.published, deps.secrets, deps.spending];
  const watchers: Watcher[] = [];
  return {
    /** The Account and the namespace for which a pass over this object makes calls. */
    laneOf: (key: ObjectKey) => laneOf(deps, key),
    /** The known namespaces, with their labels. */
    namespaces: (): Iterable<KubeObject> => namespaces.values(),
    /** Begins to watch; resolves when every kind was listed once. */
    async sync(): Promise<void> {
      // An operator of one namespace neither knows nor manages what belongs to all.
      for (const kind of objects.kinds.filter(({ scope }) => scope !== "Cluster" || options.namespace === undefined)) {
        const [resource, store] = [resourceOf(kind), objects.store(kind.kind)];
        watchers.push(watch({ client, resource, store, clock, onError: interrupted(options, kind.kind), ...within }));
      }
      const synced = [...watchers.map((watcher) => watcher.synced), ...caches.map((cache) => cache.sync())];
      await Promise.all([...synced, namespaces.begin()]);
    },
    /** Judges every object anew after the signing keys changed, and wakes those with another verdict. */
    judgeAgain: () => objects.judgeAgain(() => yieldIfDue(clock)),
    /** How many objects are signed with an unknown key. */
    unknown: () => objects.unknown.size,
    /** Works on the queue until the signal aborts, and finishes what is under way. */
    run(workers: number, signal: AbortSignal): Promise<void> {
      if (options.shard === undefined) deps.runCleanup(releaseUnnamedSecrets(deps));
      waker.start();
      labels.begin(signal);
      deps.runCleanup(wakeGone(deps, waker, options.namespace && `${options.namespace}/`));
      void inSlices(clock, allKeys(objects), (key) => {
        if (accountOf(key) !== undefined) waker.wake(key, "people");
        // A list of its collection may have woken it before its turn comes here.
        else if (!deps.memories.hasReconciled(key)) waker.wakeWhenReadable(deps, key);
      });
      const resyncAfter = (key: ObjectKey, again: Requeue) => (isResynced(deps, key, again) ? recheckMs() : undefined);
      const pass = timed(deps, (key, bounded) => reconcile(bounded, key));
      return work({ queue, clock, log, reconcile: pass, resyncAfter, observe: options.observe }, workers, signal);
    },
    /** Stops watching and waits for what must not be left undone. */
    async close(): Promise<void> {
      deps.collections.close();
      const closing = [...watchers.map((watcher) => watcher.stop()), ...caches.map((cache) => cache.close())];
      await Promise.all([...closing, namespaces.close()]);
      await cleanup.settled();
    },
  };
}

type Parts = Pick<AccountDeps, "shards" | "objects" | "runCleanup" | "hasCleanup"> & {
  namespaces: ReturnType<typeof createNamespaces>;
};

/** The dependencies of every pass. */
function createDeps(options: ManagerOptions, waker: Waker, parts: Parts): AccountDeps & DestinationDeps {
  const { clock, log, client, seal, settings, transport, home = "mooring-system" } = options;
  const within = options.namespace === undefined ? {} : { namespace: options.namespace };
  const wakeAccount = (account: string) => waker.wake(objectOf(account), "people");
  const memories = createMemories(clock);
  const engine: Deps = {
    ...parts,
    clock,
    log,
    client,
    seal,
    settings,
    memories,
    events: options.events,
    guard: options.guard,
    self: { ...options.self, deadlineMs: settings.createDeadlineMs },
    nonce: randomUUID,
    suspect: wakeAccount,
    corrected: (kind) => options.observeDrift?.(kind),
    accounts: createAccounts(parts.objects, parts.namespaces),
    catalogues: createCatalogues(clock),
    published: createPublications({
      ...within,
      client,
      clock,
      seal,
      wake: waker.wake,
      onError: interrupted(options, "Secret"),
      ...(options.limit && { limit: options.limit }),
      crowded: (kind, namespace) =>
        log.warn({ kind, namespace }, "too many labelled objects; the others are read by name"),
    }),
    spending: createSpending({
      client,
      clock,
      namespace: options.namespace === undefined ? home : undefined,
      changed: waker.wakeForUsage,
      onError: interrupted(options, "ConfigMap"),
    }),
    collections: createCollections({
      clock,
      log,
      restMs: settings.resyncMs,
      busyMs: options.busyMs,
      wake(key, since) {
        if (!memories.hasReconciled(key, since)) waker.wake(key);
      },
    }),
  };
  return {
    ...engine,
    hasCleanup: parts.hasCleanup,
    transport,
    home,
    clusterName: () => (options.clusterName ?? parts.namespaces.uidOf("kube-system")) || undefined,
    sites: options.sites ?? { endpoints: {}, isAllowed: () => true },
    destinations: createDestinationClients(transport),
    tokenStore: createTokenStore(options, home),
    secrets: createHeldSecrets({
      ...within,
      label: CREDENTIALS,
      finalizer: FINALIZER,
      client,
      clock,
      wake: wakeAccount,
      onError: interrupted(options, "Secret"),
    }),
    changed(account, since) {
      void inSlices(clock, usersOf(engine, account), (key) => {
        if ((engine.objects.accountOf(key) ?? account) === account) memories.clearFailure(key, since);
        if (!memories.hasReconciled(key, since)) waker.wakeWhenReadable(engine, key);
      });
    },
  };
}

const interrupted = ({ clock, log }: Pick<ManagerOptions, "clock" | "log">, kind: string) =>
  tellingNews(clock, (error, isNews, retryInMs) =>
    log[isNews ? "warn" : "debug"]({ kind, err: error, retryInMs }, "watch interrupted"),
  );

/** A process that died may have held Secrets that no Account names any more. */
function releaseUnnamedSecrets({ objects, secrets, home }: AccountDeps): Promise<void> {
  const accounts = accountKinds.flatMap(({ kind }) => [...objects.store(kind).values()]);
  return secrets.releaseOthers(new Set(accounts.map((account) => credentialsSecretOf(account, home))));
}

/** Wakes the Accounts that went while no process worked, and left tokens. An operator of one namespace leaves others alone. */
async function wakeGone({ tokenStore, objects }: AccountDeps, { wake }: Waker, namespace = ""): Promise<void> {
  for (const { account } of await tokenStore.all(0))
    if (account.startsWith(namespace) && !objects.find(objectOf(account))) wake(objectOf(account));
}

/** Whether an object is rechecked periodically. An Account says itself when the next check is due, because that costs a call. */
function isResynced({ objects, shards }: Deps, key: ObjectKey, again: Requeue): boolean {
  const kind = objects.find(key)?.kind;
  return kind !== undefined && shards.serves(key) && (again === "never" || hasResource(kind));
}
