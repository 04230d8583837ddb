import { setTimeout as delay } from "node:timers/promises";
import type { Kind } from "../../src/kinds/kind.ts";
import type { Platform } from "../cluster/chaos/platform.ts";
import { TooLate, until } from "../cluster/chaos/wait.ts";
import { chance, oneOf } from "./chance.ts";
import { editAccount } from "./disturbances/account-edits.ts";
import { badMoment } from "./disturbances/bad-moment.ts";
import { loseKey } from "./disturbances/key-loss.ts";
import { startLeaders } from "./disturbances/leaders.ts";
import { createPerson, type Deeds } from "./disturbances/person.ts";
import { RESYNC_MS, trouble } from "./disturbances/trouble.ts";
import { soakedKinds } from "./population.ts";
import { createSoakObjects, type Done, type SoakObjects } from "./soak-objects.ts";
import { moveIn, openTenants, soakObjectsOf, type Tenant } from "./tenants.ts";
import { judge, type Problem, unrest } from "./verdict.ts";
import { lastWrites } from "./witness.ts";

export interface SoakOptions {
  kubeconfig: string;
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

export interface SoakResult {
  problems: Problem[];
  /** Number of actions on the objects. */
  done: Done;
  /** How often a leader was killed or stopped, and another one took over. */
  killed: number;
  stopped: number;
  accountEdits: number;
  /** How often the signing key was lost for a while. */
  keyLosses: number;
  /** Manual changes on the platforms. */
  deeds: Deeds;
  /** Number of calls to the platforms during the faults. */
  calls: number;
  /** The logs of all operators. */
  log: string;
}

const KILLS = 3;
const STOPS = 3;
/** Four of each type. */
const ACCOUNT_EDITS = 16;
const KEY_LOSSES = 2;

/** Runs a population through `chaosMs` of faults, then without faults, and returns the problems. */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { kubeconfig, objects, kinds = soakedKinds, chaosMs, seed, patienceMs, onProgress = () => {} } = options;
  await using cleanup = new AsyncDisposableStack();
  const tenants = await openTenants(cleanup, { kubeconfig, count: options.tenants ?? 4, objects, kinds, seed });
  const crowd = { leaders: options.leaders ?? 2, everywhere: tenants.length > 1 };
  const leaders = startLeaders(cleanup, tenants.map(({ stage }) => stage)[0], crowd);
  await Promise.all(tenants.map(moveIn));

  const random = chance(seed);
  const soakObjects = createSoakObjects(soakObjectsOf(tenants), random);
  const people = new Map(tenants.map(({ platform }) => [platform, createPerson()]));
  const platforms = [...people.keys()];
  const deeds = () => [...people.values()].map((each) => each.deeds).reduce(sum);
  const callsSoFar = async () =>
    (await Promise.all(platforms.map(({ steering }) => steering.calls()))).reduce((all, { total }) => all + total, 0);
  for (const { steering } of platforms) {
    await steering.call("PUT", "/_simulator/faults", { seed, rules: trouble });
    await steering.resetCalls();
  }

  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  /** Runs the work this many times, spread evenly; never at the very beginning or end. */
  const repeatedly = async (times: number, work: (nth: number) => Promise<void>) => {
    for (let nth = 0; nth < times; nth += 1) {
      await delay(Math.max(0, ((nth + 1) * chaosMs) / (times + 1) - elapsed()));
      await work(nth);
    }
  };
  const meddling = async () => {
    // Every object is touched about once per quarter of a minute, but not more often than the platform can handle.
    for (; elapsed() < chaosMs; await delay(Math.max(100, 15_000 / objects))) await soakObjects.step();
  };
  const working = async (tenant: Tenant) => {
    for (; elapsed() < chaosMs; await delay(1000)) await workByHand(soakObjects, tenant, people, random);
  };
  const telling = () =>
    repeatedly(Math.floor(chaosMs / 15_000), async () => {
      const said = { ...soakObjects.done, ...deeds() };
      onProgress(`${Math.round(elapsed() / 1000)} s: ${await callsSoFar()} calls, ${JSON.stringify(said)}`);
    });
  await Promise.all([
    meddling(),
    ...tenants.map(working),
    repeatedly(KILLS + STOPS, async (nth) => {
      await badMoment(tenants, chaosMs / 20);
      await leaders.handOver(nth % 2 === 0 ? "kill" : "stop");
    }),
    repeatedly(KEY_LOSSES, async () => {
      const [home] = tenants;
      if (home) await loseKey(home.stage);
    }),
    repeatedly(ACCOUNT_EDITS, async (nth) => {
      const tenant = tenants[nth % tenants.length];
      if (tenant) await editAccount(tenant, Math.floor(nth / tenants.length));
    }),
    telling(),
  ]);

  const calls = await callsSoFar();
  for (const { steering } of platforms) await steering.faults();
  onProgress("quiet: waiting until everything is at rest");
  await soakObjects.applyAll();
  // The next resync shows the last manual changes.
  await delay(RESYNC_MS);
  const places = tenants.map((tenant) => ({ tenant, stage: tenant.stage, wanted: soakObjects.wantedOf(tenant) }));
  const missing = async () => {
    const obstacles = await Promise.all(places.map(({ stage, wanted }) => unrest(stage, wanted)));
    return obstacles.find((obstacle) => obstacle !== undefined);
  };
  try {
    await until(missing, { title: "quiet", forMs: patienceMs, everyMs: 1000 });
  } catch (error) {
    // The verdict names the stuck objects.
    if (!(error instanceof TooLate)) throw error;
    onProgress(error.message);
  }
  const verdicts = [...people].map(async ([platform, { made }]) => {
    const own = places.filter(({ tenant }) => tenant.platform === platform);
    const problems = await judge(own, platform.steering, made);
    for (const { deed } of problems) {
      if (deed) onProgress([deed.name, ...(await lastWrites(platform.steering, deed))].join("\n  "));
    }
    return problems;
  });
  return {
    problems: (await Promise.all(verdicts)).flat(),
    done: soakObjects.done,
    killed: KILLS,
    stopped: STOPS,
    accountEdits: ACCOUNT_EDITS,
    keyLosses: KEY_LOSSES,
    deeds: deeds(),
    calls,
    log: leaders.log(),
  };
}

/** A manual change to the resource of one object, which nothing else touches meanwhile. */
async function workByHand(
  soakObjects: SoakObjects,
  tenant: Tenant,
  people: ReadonlyMap<Platform, ReturnType<typeof createPerson>>,
  random: () => number,
): Promise<void> {
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
