import { setTimeout as delay } from "node:timers/promises";
import type { Kind } from "../../src/kinds/kind.ts";
import type { Platform } from "../cluster/chaos-platform.ts";
import { TooLate, until } from "../cluster/chaos-wait.ts";
import { editAccount } from "./account-edits.ts";
import { badMoment } from "./bad-moment.ts";
import { chance, oneOf } from "./chance.ts";
import { loseKey } from "./key-loss.ts";
import { startLeaders } from "./leaders.ts";
import { createPerson, type Deeds } from "./person.ts";
import { soakedKinds } from "./population.ts";
import { createSoakObjects, type Done, type SoakObjects } from "./soak-objects.ts";
import { moveIn, openTenants, soakObjectsOf, type Tenant } from "./tenants.ts";
import { RESYNC_MS, trouble } from "./trouble.ts";
import { judge, type Problem, unrest } from "./verdict.ts";
import { lastWrites } from "./witness.ts";

export interface SoakOptions {
  kubeconfig: string;
  objects: number;
  /** Namespaces that share the objects. Several of them need an API server of their own. Default 4. */
  tenants?: number;
  /** Operators that contend for the Lease; 1 works without it. Default 2. */
  leaders?: number;
  /** Of which kinds; all that can be many, unless it says so. */
  kinds?: readonly Kind[];
  /** How long everything goes wrong. */
  chaosMs: number;
  /** Decides who is edited, deleted and created when, and which calls fail. */
  seed: number;
  /** How long it may take until all is at rest afterwards. */
  patienceMs: number;
  onProgress?(line: string): void;
}

export interface SoakResult {
  problems: Problem[];
  /** What was done to the objects. */
  done: Done;
  /** How often a leader was killed or stopped, and somebody else took over. */
  killed: number;
  stopped: number;
  accountEdits: number;
  /** How often the signing key was deleted, again and again for a while. */
  keyLosses: number;
  /** What people did on the platforms. */
  deeds: Deeds;
  /** How many calls the platforms got while everything went wrong. */
  calls: number;
  /** Everything the operators logged. */
  log: string;
}

const KILLS = 3;
const STOPS = 3;
/** Four of each sort. */
const ACCOUNT_EDITS = 16;
const KEY_LOSSES = 2;

/** Lets a population live through `chaosMs` of trouble, then through quiet, and says what must not be. */
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
  /** So often, spread evenly; never at the very beginning or end. */
  const repeatedly = async (times: number, work: (nth: number) => Promise<void>) => {
    for (let nth = 0; nth < times; nth += 1) {
      await delay(Math.max(0, ((nth + 1) * chaosMs) / (times + 1) - elapsed()));
      await work(nth);
    }
  };
  const meddling = async () => {
    // As often as every object is touched once in a quarter of a minute, and not more often than the platform keeps up.
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
  // Whatever was done by hand last is seen by the next look at everything.
  await delay(RESYNC_MS);
  const places = tenants.map((tenant) => ({ tenant, stage: tenant.stage, wanted: soakObjects.wantedOf(tenant) }));
  const missing = async () => {
    const obstacles = await Promise.all(places.map(({ stage, wanted }) => unrest(stage, wanted)));
    return obstacles.find((obstacle) => obstacle !== undefined);
  };
  try {
    await until(missing, { title: "quiet", forMs: patienceMs, everyMs: 1000 });
  } catch (error) {
    // Who is stuck is named by the verdict.
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

/** A person does something to the resource of one object, which nobody else touches meanwhile. */
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
    // The sooner the server goes, the less time there is to learn of the volume.
    if (attached && random() < 0.6) await soakObjects.remove(soaked);
  });
}

const sum = (a: Deeds, b: Deeds): Deeds => ({
  attached: a.attached + b.attached,
  renamed: a.renamed + b.renamed,
  removed: a.removed + b.removed,
  lans: a.lans + b.lans,
});
