import { noticeRestore } from "../../../src/controllers/orphans.ts";
import { createAccounts } from "../../../src/engine/accounts/accounts.ts";
import { decide } from "../../../src/engine/decide/decide.ts";
import type { Decision } from "../../../src/engine/decide/decision.ts";
import { execute } from "../../../src/engine/execute/execute.ts";
import type { Deps } from "../../../src/engine/observe/deps.ts";
import { observe } from "../../../src/engine/observe/observe.ts";
import { createCollections } from "../../../src/engine/observe/resource/collections.ts";
import type { Context } from "../../../src/engine/observe/view.ts";
import { createMemories } from "../../../src/engine/state/memory.ts";
import type { ObjectKey } from "../../../src/engine/state/object.ts";
import { createObjects } from "../../../src/engine/state/objects.ts";
import { createPublications } from "../../../src/engine/state/published.ts";
import { undivided } from "../../../src/engine/state/shards.ts";
import type { Signatures } from "../../../src/engine/state/signatures.ts";
import { kinds } from "../../../src/kinds/index.ts";
import type { Kind, ResourceKind } from "../../../src/kinds/kind.ts";
import type { Requeue } from "../../../src/kube/queue/work.ts";
import { type KubeObject, keyOf } from "../../../src/kube/resource.ts";
import type { Connection } from "../../../src/platform/calls/transport.ts";
import { createCatalogues } from "../../../src/platform/products/catalogues.ts";
import { fakeClock } from "../../fake-clock.ts";
import { fakeApiServer } from "./fake-api-server.ts";
import { API, type FakePlatform, fakePlatform } from "./fake-platform.ts";
import { clusterAccountOf, handleOf, objectOf } from "./fixtures.ts";
import { unsealed } from "./unsigned.ts";

export function withResource(kind: Kind): ResourceKind {
  if (!kind.resource) throw new Error(`${kind.kind} has no resource`);
  return { ...kind, resource: kind.resource };
}

export const SETTINGS: Deps["settings"] = {
  createDeadlineMs: 10_000,
  settleMs: 10_000,
  missingMs: 30_000,
  retryMs: 1000,
  annotateAfterMs: 60_000,
  graceMs: 0,
  resyncMs: 300_000,
  recheckMs: 600_000,
};

/** When a stage begins, by a wall clock that is right. */
export const BEGIN = Date.UTC(2026, 0, 1);

let lives = 0;

/**
 * One life of the engine's parts on an API server and a platform of a few lines; a pass is made when the test says so. It is a
 * process of its own, and in a pod of its own unless the test names one.
 */
export function stage(
  initial: readonly KubeObject[],
  {
    platform = fakePlatform(),
    api = fakeApiServer(...initial),
    connection = platform.connectionOf("shop/main"),
    wallTime = BEGIN,
    seal = unsealed,
    pod = `mooring-${++lives}`,
  }: {
    seal?: Signatures;
    platform?: FakePlatform;
    api?: Api;
    connection?: Connection;
    wallTime?: number;
    pod?: string;
  } = {},
) {
  const timers = fakeClock(wallTime);
  let skipped = 0;
  let stepped = 0;
  let moment = 0;
  const clock = {
    ...timers,
    now: () => timers.now() + skipped + stepped,
    monotonic: () => timers.monotonic() + skipped + moment,
  };
  const objects = createObjects(kinds, seal, (error) => {
    throw error;
  });
  const memories = createMemories(clock);
  const events: string[] = [];
  const corrected: string[] = [];
  const cleanups: Promise<void>[] = [];
  const woken: ObjectKey[] = [];
  const terminating = new Set<string>();
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const labels = new Map<string, Record<string, string>>();
  const labelsOf = (name: string) => labels.get(name) ?? {};
  const accounts = createAccounts(objects, { labelsOf });
  accounts.put(handleOf("shop/main", { connection, endpoint: () => API }));
  accounts.put(handleOf("ClusterAccount/shared", { connection, endpoint: () => API, adoption: "None" }));
  const published = createPublications({
    client: api.client,
    clock,
    seal,
    wake: () => {},
    onError: () => {},
  });
  let nonces = 0;
  const deps: Deps = {
    clock,
    log,
    client: api.client,
    objects,
    seal,
    accounts,
    memories,
    shards: undivided,
    namespaces: { isTerminating: (name) => terminating.has(name) },
    // Nobody watches: what this life has written is all that is known.
    published: {
      ...published,
      find: (object, name) => ({ ...published.find(object, name), known: true }),
      outputs: (object) => ({ ...published.outputs(object), known: true }),
    },
    catalogues: createCatalogues(clock),
    spending: { of: () => undefined, sync: async () => {}, close: async () => {} },
    settings: SETTINGS,
    events: {
      record: (_, type, reason, message) => void events.push(`${type} ${reason} ${message}`),
      flush: async () => {},
      close: async () => {},
    },
    collections: createCollections({
      clock,
      log,
      restMs: 300_000,
      busyMs: 1500,
      wake: (key) => void woken.push(key),
    }),
    guard: () => {},
    self: { pod, process: `process-${++lives}`, deadlineMs: SETTINGS.createDeadlineMs },
    nonce: () => `nonce-${++nonces}`,
    suspect: () => {},
    corrected: (kind) => void corrected.push(kind),
    runCleanup: (cleanup) => void cleanups.push(cleanup),
  };
  objects.subscribe((key, change) => {
    const { before, after } = change;
    if (!after || (before && before.metadata.uid !== after.metadata.uid)) {
      memories.forget(key);
      deps.collections.leave(key);
    }
    noticeRestore(deps, key, change);
    if (after) memories.observe(key, after);
  });
  /** The objects as the watch would deliver them. */
  const sync = () => {
    for (const object of initial) {
      const fresh = api.get(object);
      const known = objects.store(object.kind).get(keyOf(object));
      if (fresh) objects.store(object.kind).put(structuredClone(fresh));
      else if (known) {
        const metadata = { ...known.metadata, resourceVersion: api.version };
        objects.store(object.kind).remove({ ...known, metadata });
      }
    }
    for (const { kind } of initial) objects.store(kind).advance(api.version);
  };
  // Older than whatever a test has to say about it.
  const main = objectOf("Account", "main");
  objects.store("Account").put({ ...main, metadata: { ...main.metadata, resourceVersion: "1" } });
  const shared = clusterAccountOf("shared", { default: true, namespaces: { selector: {} } });
  objects.store("ClusterAccount").put({ ...shared, metadata: { ...shared.metadata, resourceVersion: "1" } });
  sync();
  // Reads from here on are newer than anything that was asked for before.
  moment = 1;

  const contextOf = (key: ObjectKey): Context => {
    const found = objects.find(key);
    if (!found) throw new Error(`there is no ${key}`);
    return observe(deps, key, withResource(found.kind), found.object);
  };
  /** One pass, as the engine makes it. */
  async function pass(key: ObjectKey): Promise<{ decision: Decision; again: Requeue }> {
    const context = contextOf(key);
    const decision = decide(context.view);
    return { decision, again: await execute(deps, context, decision) };
  }
  /** Passes for as long as the engine wants the next one at once; the steps that were made. */
  async function passes(key: ObjectKey, most = 10): Promise<string[]> {
    const steps: string[] = [];
    for (let again: Requeue = "now"; again === "now" && steps.length < most; ) {
      const made = await pass(key);
      steps.push("reason" in made.decision ? `${made.decision.step} ${made.decision.reason}` : made.decision.step);
      again = made.again;
    }
    return steps;
  }
  /** Time passes in the middle of something, without a timer that fires. */
  const skip = (ms: number) => {
    skipped += ms;
  };
  /** Somebody sets the wall clock of the machine. */
  const stepWallClock = (ms: number) => {
    stepped += ms;
  };
  return {
    deps,
    clock,
    skip,
    stepWallClock,
    terminating,
    labels,
    woken,
    api,
    platform,
    objects,
    accounts,
    events,
    corrected,
    cleanups,
    sync,
    contextOf,
    pass,
    passes,
  };
}
type Api = ReturnType<typeof fakeApiServer>;
export type Stage = ReturnType<typeof stage>;
