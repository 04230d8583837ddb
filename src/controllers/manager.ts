import { randomUUID } from "node:crypto";
import { accountKinds, accountOf, createAccounts, isShared, objectOf } from "../engine/accounts/accounts.ts";
import { explain } from "../engine/decide/decide.ts";
import { execute } from "../engine/execute/execute.ts";
import { awaitsCaches, observe } from "../engine/observe/observe.ts";
import { createCollections } from "../engine/observe/resource/collections.ts";
import { createMemories } from "../engine/state/memory.ts";
import { CREDENTIALS, FINALIZER, RECONCILE_AT, RECREATE } from "../engine/state/names.ts";
import { isReleased, type ObjectKey } from "../engine/state/object.ts";
import { createObjects } from "../engine/state/objects.ts";
import { createPublications } from "../engine/state/published.ts";
import { createSpending } from "../engine/state/spending.ts";
import { hasResource } from "../kinds/kind.ts";
import type { Priority } from "../kube/queue/queue.ts";
import { type Requeue, work } from "../kube/queue/work.ts";
import type { Watcher } from "../kube/watch/watch.ts";
import { tellingNews } from "../kube/watch/watch-failures.ts";
import { createHeldSecrets } from "../kube/write/held-secrets.ts";
import { createCatalogues } from "../platform/products/catalogues.ts";
import { inSlices, yieldIfDue } from "../runtime/time-slices.ts";
import { createAccountController } from "./accounts/controller.ts";
import { type AccountDeps, secretOf } from "./accounts/reconcile.ts";
import { createTokenStore } from "./accounts/token-store.ts";
import { acknowledge } from "./acknowledge.ts";
import { createCleanupTasks } from "./cleanup-tasks.ts";
import { createDestinationClients, type DestinationDeps } from "./exports/destinations.ts";
import { reconcileExport } from "./exports/reconcile.ts";
import { createShardScope, finishHandover, handOver, leaveAccount } from "./handover.ts";
import type { Manager, ManagerOptions, ObjectObserver } from "./manager-options.ts";
import { noticeRestore, restoreFinalizer, undoCreation } from "./orphans.ts";
import { overLimit, refuseOverLimit } from "./over-limit.ts";
import { timed } from "./timeout.ts";
import { wakeDependents, wakeGrantUsers, warnOverLimit } from "./wake-dependents.ts";
import { allKeys, isEdited, laneOf, lostFinalizer, usersOf } from "./wake-ups.ts";
import { watchKinds } from "./watch-kinds.ts";

const USAGE_MS = 20_000;
const SOON_MS = 250;

/** Puts the parts together: changes of either cache become keys on the queue, and each key one decided step. */
export function createManager(options: ManagerOptions): Manager {
  const { kinds, clock, log, client, seal, queue, settings, random = Math.random } = options;
  const report = (error: unknown) => log.error({ err: error }, "listener failed");
  const crowds = {
    ...(options.limit && { limit: options.limit }),
    shifted(key: ObjectKey) {
      wake(key);
      wakeGrantUsers(deps, key, wake);
    },
  };
  const objects = createObjects(kinds, seal, report, (name) => namespaces.labelsOf(name), crowds);
  const memories = createMemories(clock);
  const cleanup = createCleanupTasks(log);
  const watchers: Watcher[] = [];
  const interrupted = (kind: string) =>
    tellingNews(clock, (error, isNews, retryInMs) =>
      log[isNews ? "warn" : "debug"]({ kind, err: error, retryInMs }, "watch interrupted"),
    );
  /** Until it works, nothing is to be looked at; then everything is. */
  let working = false;
  // Objects of other shards are known, but not worked on; ClusterAccounts are read by all.
  const wake = (key: ObjectKey, priority: Priority = "normal") => {
    if (working && (shards.serves(key) || isShared(key))) queue.add(key, priority);
  };
  const wakeSoon = (key: ObjectKey) => {
    if (working && shards.serves(key)) queue.addAfter(key, SOON_MS);
  };
  const rechecked = () => settings.recheckMs * (0.8 + 0.4 * random());
  /** As soon as a look can come to anything; or else when its time has come. */
  const wakeWhenReadable = (key: ObjectKey) => {
    if (working && shards.serves(key) && awaitsCaches(deps, key)) queue.returnAfter(key, rechecked(), "background");
    else wake(key);
  };

  const { namespaces, shards } = createShardScope({
    client,
    clock,
    objects: () => objects,
    namespace: options.namespace,
    shard: options.shard,
    relabelled(key, isMoved) {
      wake(key);
      if (!isMoved) return;
      handOver(deps, key);
      observeObject(key, objects.find(key)?.object);
      // By then the shard before has ended what it had begun.
      if (shards.serves(key)) queue.addAfter(key, settings.createDeadlineMs + settings.settleMs, "background");
    },
    onError: interrupted("Namespace"),
  });
  const observeObject: ObjectObserver = (key, object) =>
    options.observeObject?.(key, shards.serves(key) ? object : undefined);
  const { home = "mooring-system" } = options;
  const requeueForUsage = (key: ObjectKey) => {
    if (working && shards.serves(key)) queue.addAfter(key, USAGE_MS, "background");
  };
  const deps: AccountDeps & DestinationDeps = {
    clock,
    log,
    client,
    seal,
    objects,
    memories,
    shards,
    namespaces,
    published: createPublications({
      client,
      clock,
      seal,
      ...(options.namespace !== undefined && { namespace: options.namespace }),
      wake,
      onError: interrupted("Secret"),
      ...(options.limit && { limit: options.limit }),
      crowded: warnOverLimit(log),
    }),
    catalogues: createCatalogues(clock),
    spending: createSpending({
      client,
      clock,
      namespace: options.namespace === undefined ? home : undefined,
      changed: requeueForUsage,
      onError: interrupted("ConfigMap"),
    }),
    settings,
    events: options.events,
    guard: options.guard,
    transport: options.transport,
    destinations: createDestinationClients(options.transport),
    home,
    kept: createTokenStore(options, home),
    sites: options.sites ?? { endpoints: {}, isAllowed: () => true },
    accounts: createAccounts(objects, namespaces),
    collections: createCollections({
      clock,
      log,
      restMs: settings.resyncMs,
      busyMs: options.busyMs,
      wake(key, since) {
        if (!memories.hasLooked(key, since)) wake(key);
      },
    }),
    secrets: createHeldSecrets({
      label: CREDENTIALS,
      finalizer: FINALIZER,
      client,
      clock,
      ...(options.namespace !== undefined && { namespace: options.namespace }),
      wake: (account) => wake(objectOf(account), "people"),
      onError: interrupted("Secret"),
    }),
    self: { ...options.self, deadlineMs: settings.createDeadlineMs },
    nonce: randomUUID,
    suspect: (account) => wake(objectOf(account), "people"),
    corrected: (kind) => options.observeDrift?.(kind),
    changed(account, since) {
      void inSlices(clock, usersOf(deps, account), (key) => {
        if ((objects.accountOf(key) ?? account) === account) memories.clearFailure(key, since);
        if (!memories.hasLooked(key, since)) wakeWhenReadable(key);
      });
    },
    hasCleanup: cleanup.isPending,
    runCleanup: cleanup.run,
  };

  const keeper = createAccountController();
  objects.subscribe((key, change) => {
    const { before, after, last } = change;
    const account = accountOf(key);
    observeObject(key, after);
    if (last) undoCreation(deps, key, last);
    if (!after || (before && before.metadata.uid !== after.metadata.uid)) {
      memories.forget(key);
      deps.collections.leave(key);
    }
    noticeRestore(deps, key, change);
    const isAsked = (name: string) => before?.metadata.annotations?.[name] !== after?.metadata.annotations?.[name];
    if (before && after && [RECONCILE_AT, RECREATE].some(isAsked)) {
      memories.clearFailure(key, clock.monotonic());
      deps.collections.refresh(key);
    }
    if (after) memories.observe(key, after);
    if (before && after && lostFinalizer(before, after)) restoreFinalizer(deps, key, after);
    // Own writes come back as changes as well. They are no reason to look again: that would undo every backoff.
    if (!after) queue.forget(key);
    else if (!before) wake(key, account === undefined ? "new" : "people");
    else if (isEdited(before, after) && !isReleased(after)) wake(key, "people");
    if (!working) return;
    wakeDependents(deps, key, { before, after }, { wake, wakeSoon, requeueForUsage });
    if (account !== undefined && (!before || !after)) deps.changed(account, clock.monotonic());
    if (account !== undefined && !after) keeper.forget(account);
    if (!after) deps.runCleanup(account === undefined ? deps.destinations.close(key) : leaveAccount(deps, account));
  });

  async function reconcile(key: ObjectKey, within: typeof deps): Promise<Requeue> {
    const found = objects.find(key);
    if (!found) return "never";
    const { kind, object } = found;
    const account = accountOf(key);
    if (!shards.serves(key) && !isShared(key)) return finishHandover(within, key, kind, object);
    const excess = overLimit(within, key, kind, object);
    if (excess) return refuseOverLimit(within, key, kind, object, excess).then(() => "never");
    if (account !== undefined) return keeper.keep(within, account, kind, object);
    if (kind.task) return reconcileExport(within, key, kind, object);
    if (!hasResource(kind)) return acknowledge(within, kind, object);
    const context = observe(within, key, kind, object);
    context.memory.lookedAt = context.view.times.now;
    const { rule, decision } = explain(context.view);
    const reason = "reason" in decision ? { reason: decision.reason } : {};
    log.debug({ object: key, rule, step: decision.step, ...reason }, "decided");
    return execute(within, context, decision);
  }

  /** Looking at an Account costs a call, and it says itself when that is due. */
  function resyncAfter(key: ObjectKey, again: Requeue): number | undefined {
    const kind = objects.find(key)?.kind;
    const isDue = kind && shards.serves(key) && (again === "never" || hasResource(kind));
    return isDue ? rechecked() : undefined;
  }

  return {
    laneOf: (key) => laneOf(deps, key),
    namespaces: () => namespaces.values(),
    async sync() {
      watchers.push(...watchKinds(deps, options.namespace, interrupted));
      const first = [deps.published.sync(), deps.secrets.sync(), namespaces.begin(), deps.spending.sync()];
      await Promise.all([...watchers.map(({ synced }) => synced), ...first]);
    },
    judgeAgain: () => objects.judgeAgain(() => yieldIfDue(clock)),
    unknown: () => objects.unknown.size,
    run(workers, signal) {
      const accounts = accountKinds.flatMap(({ kind }) => [...objects.store(kind).values()]);
      const named = new Set(accounts.map((each) => secretOf(each, deps.home)));
      if (options.shard === undefined) deps.runCleanup(deps.secrets.releaseOthers(named));
      working = true;
      void inSlices(clock, allKeys(objects), (key) => {
        if (accountOf(key) !== undefined) wake(key, "people");
        // Its collection may be listed before its turn comes here.
        else if (!memories.hasLooked(key)) wakeWhenReadable(key);
      });
      return work(
        { queue, clock, log, reconcile: timed(deps, reconcile), resyncAfter, observe: options.observe },
        workers,
        signal,
      );
    },
    async close() {
      deps.collections.close();
      const watching = [deps.secrets, deps.published, namespaces, deps.spending];
      await Promise.all([...watchers.map((watcher) => watcher.stop()), ...watching.map((each) => each.close())]);
      await cleanup.settled();
    },
  };
}
