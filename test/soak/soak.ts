import { setTimeout as delay } from "node:timers/promises";
import type { Kind } from "../../src/kinds/kind.ts";
import type { Platform } from "../cluster/chaos/platform.ts";
import { TooLate, until } from "../cluster/chaos/wait.ts";
import type { Rewindable } from "../crash/restore/rewindable.ts";
import { bringBack, followMessages, type KnownIds, knownIds } from "./after-restore.ts";
import { chance, oneOf } from "./chance.ts";
import { editAccount } from "./disturbances/account-edits.ts";
import { badMoment } from "./disturbances/bad-moment.ts";
import { loseKey } from "./disturbances/key-loss.ts";
import { type Leaders, startLeaders } from "./disturbances/leaders.ts";
import { createPerson, type Deeds } from "./disturbances/person.ts";
import { RESYNC_MS, trouble } from "./disturbances/trouble.ts";
import { soakedKinds } from "./population.ts";
import { createSoakObjects, type Done, type SoakObjects } from "./soak-objects.ts";
import { moveIn, openTenants, soakObjectsOf, type Tenant } from "./tenants.ts";
import { judge, type Problem, unrest } from "./verdict.ts";
import { lastWrites } from "./witness.ts";

export interface SoakOptions {
  kubeconfig: string;
  /** Restores etcd at the end from a backup of the middle, if it is there. */
  control?: Pick<Rewindable, "backup" | "rewind">;
  objects: number;
  /** Namespaces that share the objects. More than one needs a separate API server. Default 4. */
  tenants?: number;
  /** Operators that compete for the Lease; a single one works without it. Default 2. */
  leaders?: number;
  /** Kinds of the objects; default: all that can be many. */
  kinds?: readonly Kind[];
  /** Duration of the faults. */
  chaosMs: number;
  /** Seed of all choices: which objects are edited, deleted and created when, and which calls fail. */
  seed: number;
  /** How long it may take until everything is at rest afterwards. */
  patienceMs: number;
  onProgress?(line: string): void;
}

/** How often what happened. */
interface Counts {
  /** A leader was killed or stopped, and somebody else took over. */
  killed: number;
  stopped: number;
  accountEdits: number;
  /** The signing key was deleted, again and again for a while. */
  keyLosses: number;
  restores: number;
  /** An object needed what its message says after the restore. */
  adviceFollowed: number;
}

export interface SoakResult extends Counts {
  problems: Problem[];
  /** The actions on objects. */
  done: Done;
  /** The actions of people on the platforms. */
  deeds: Deeds;
  /** Number of calls to the platforms during the faults. */
  calls: number;
  /** The logs of all operators. */
  log: string;
}

/** The participants, and the events so far. */
interface World {
  tenants: readonly Tenant[];
  leaders: Leaders;
  soakObjects: SoakObjects;
  people: ReadonlyMap<Platform, ReturnType<typeof createPerson>>;
  random: () => number;
  counts: Counts;
  onProgress: (line: string) => void;
}

/** Kills and stops by turns. */
const HANDOVERS = 6;
/** Four of each sort. */
const ACCOUNT_EDITS = 16;
const KEY_LOSSES = 2;

/** Runs a population through `chaosMs` of faults, then without faults, and returns the problems. */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { kubeconfig, control, objects, kinds = soakedKinds, chaosMs, seed, onProgress = () => {} } = options;
  await using cleanup = new AsyncDisposableStack();
  const tenants = await openTenants(cleanup, { kubeconfig, count: options.tenants ?? 4, objects, kinds, seed });
  const crowd = { leaders: options.leaders ?? 2, everywhere: tenants.length > 1 };
  const leaders = startLeaders(cleanup, tenants.map(({ stage }) => stage)[0], crowd);
  await Promise.all(tenants.map(moveIn));
  const random = chance(seed);
  const world: World = {
    tenants,
    leaders,
    random,
    soakObjects: createSoakObjects(soakObjectsOf(tenants), random),
    people: new Map(tenants.map(({ platform }) => [platform, createPerson()])),
    counts: { killed: 0, stopped: 0, accountEdits: 0, keyLosses: 0, restores: 0, adviceFollowed: 0 },
    onProgress,
  };
  await startTrouble(world, seed);
  for (const { steering } of world.people.keys()) await steering.resetCalls();
  let ids: KnownIds | undefined;
  if (control) {
    await chaos(world, chaosMs / 2, 0.5);
    const backup = await control.backup();
    await chaos(world, chaosMs / 2, 0.5);
    // Nobody knows of an object afterwards that was being deleted when etcd was restored.
    await rest(world, options);
    ids = await knownIds(tenants);
    onProgress("restoring etcd from the backup");
    await control.rewind(backup);
    world.counts.restores += 1;
    await startTrouble(world, seed);
    await bringBack(tenants, world.soakObjects, ids);
    await delay(chaosMs / 10);
  } else await chaos(world, chaosMs, 1);
  const calls = await callsSoFar(world);
  await rest(world, options, ids);
  return {
    problems: await verdict(world),
    done: world.soakObjects.done,
    ...world.counts,
    deeds: deedsIn(world),
    calls,
    log: leaders.log(),
  };
}

const deedsIn = ({ people }: World): Deeds => [...people.values()].map((each) => each.deeds).reduce(sum);

async function callsSoFar({ people }: World): Promise<number> {
  const calls = await Promise.all([...people.keys()].map(({ steering }) => steering.calls()));
  return calls.reduce((all, { total }) => all + total, 0);
}

async function startTrouble({ people }: World, seed: number): Promise<void> {
  for (const { steering } of people.keys()) {
    await steering.call("PUT", "/_simulator/faults", { seed, rules: trouble });
  }
}

/** Everything goes wrong for a while, with a share of what happens only now and then. */
async function chaos(world: World, chaosMs: number, share: number): Promise<void> {
  const { tenants, leaders, soakObjects, counts, onProgress } = world;
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  /** So often, spread evenly; never at the very beginning or end. */
  const repeatedly = async (times: number, work: () => Promise<void>) => {
    for (let nth = 0; nth < times; nth += 1) {
      await delay(Math.max(0, ((nth + 1) * chaosMs) / (times + 1) - elapsed()));
      await work();
    }
  };
  // As often as every object is touched once in a quarter of a minute, and not more often than the platform keeps up.
  const pauseMs = Math.max(100, 15_000 / soakObjects.count);
  const meddling = async () => {
    for (; elapsed() < chaosMs; await delay(pauseMs)) await soakObjects.step();
  };
  const working = async (tenant: Tenant) => {
    for (; elapsed() < chaosMs; await delay(1000)) await workByHand(world, tenant);
  };
  await Promise.all([
    meddling(),
    ...tenants.map(working),
    repeatedly(HANDOVERS * share, async () => {
      await badMoment(tenants, chaosMs / 20);
      const isKill = counts.killed <= counts.stopped;
      await leaders.handOver(isKill ? "kill" : "stop");
      counts[isKill ? "killed" : "stopped"] += 1;
    }),
    repeatedly(KEY_LOSSES * share, async () => {
      const [home] = tenants;
      if (home) await loseKey(home.stage);
      counts.keyLosses += 1;
    }),
    repeatedly(ACCOUNT_EDITS * share, async () => {
      const nth = counts.accountEdits;
      const tenant = tenants[nth % tenants.length];
      if (tenant) await editAccount(tenant, Math.floor(nth / tenants.length));
      counts.accountEdits += 1;
    }),
    repeatedly(Math.floor(chaosMs / 15_000), async () => {
      const said = { ...soakObjects.done, ...deedsIn(world) };
      onProgress(`${Math.round(elapsed() / 1000)} s: ${await callsSoFar(world)} calls, ${JSON.stringify(said)}`);
    }),
  ]);
}

/** The platform works again: waits until everything is at rest. After a restore, people do what the messages say. */
async function rest(
  { tenants, people, soakObjects, counts, onProgress }: World,
  { patienceMs }: SoakOptions,
  ids?: KnownIds,
): Promise<void> {
  for (const { steering } of people.keys()) await steering.faults();
  onProgress("quiet: waiting until everything is at rest");
  await soakObjects.applyAll();
  // The next resync shows the last manual changes.
  await delay(RESYNC_MS);
  let reportedAt = performance.now();
  const missing = async () => {
    if (ids) counts.adviceFollowed += await followMessages(tenants, soakObjects, ids);
    const obstacles = await Promise.all(tenants.map((each) => unrest(each.stage, soakObjects.wantedOf(each))));
    const found = obstacles.find((obstacle) => obstacle !== undefined);
    if (found !== undefined && performance.now() - reportedAt > 30_000) {
      reportedAt = performance.now();
      onProgress(`waiting: ${found}`);
    }
    return found;
  };
  try {
    await until(missing, { title: "quiet", forMs: patienceMs, everyMs: 1000 });
  } catch (error) {
    // The verdict names the stuck objects.
    if (!(error instanceof TooLate)) throw error;
    onProgress(error.message);
  }
}

async function verdict({ tenants, people, soakObjects, onProgress }: World): Promise<Problem[]> {
  const verdicts = [...people].map(async ([platform, { made }]) => {
    const own = tenants.filter((tenant) => tenant.platform === platform);
    const places = own.map((tenant) => ({ stage: tenant.stage, wanted: soakObjects.wantedOf(tenant) }));
    const problems = await judge(places, platform.steering, made);
    for (const { deed } of problems) {
      if (deed) onProgress([deed.name, ...(await lastWrites(platform.steering, deed))].join("\n  "));
    }
    return problems;
  });
  return (await Promise.all(verdicts)).flat();
}

/** A person does something to the resource of one object, which nobody else touches meanwhile. */
async function workByHand({ soakObjects, people, random }: World, tenant: Tenant): Promise<void> {
  const soaked = oneOf(random, soakObjects.settledOf(tenant));
  if (!soaked) return;
  await soakObjects.whileHeld(soaked, async () => {
    const attached = await people.get(tenant.platform)?.workOn(soaked, random());
    // The sooner the server is deleted, the less time there is to notice the volume.
    if (attached && random() < 0.6) await soakObjects.remove(soaked);
  });
}

const sum = (a: Deeds, b: Deeds): Deeds => ({
  attached: a.attached + b.attached,
  renamed: a.renamed + b.renamed,
  removed: a.removed + b.removed,
  lans: a.lans + b.lans,
});
