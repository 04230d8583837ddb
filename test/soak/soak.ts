import { setTimeout as delay } from "node:timers/promises";
import type { Kind } from "../../src/kinds/kind.ts";
import { KubeError } from "../../src/kube/errors.ts";
import { startPlatform } from "../cluster/chaos-platform.ts";
import { openStage, type Stage } from "../cluster/chaos-stage.ts";
import { supervise } from "../cluster/chaos-supervisor.ts";
import { TooLate, until } from "../cluster/chaos-wait.ts";
import type { Problem } from "../crash/verdict.ts";
import { at, type Inhabitant, populate, populous, secret, wantedAt } from "./population.ts";
import { judge, unrest } from "./verdict.ts";

export interface SoakOptions {
  kubeconfig: string;
  objects: number;
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
  /** What was done to the objects, and how often the operator was killed. */
  done: { created: number; edited: number; deleted: number; killed: number };
  /** How many calls the platform got while everything went wrong. */
  calls: number;
  /** Everything the operator logged. */
  log: string;
}

const SPEED = 20;

/**
 * One call in five goes wrong. Left out is what no operator could mend: a write that the platform itself executes twice,
 * and a token that is revoked. 429 is rare, because each halves the pace: with many, hardly a call would be made.
 */
const trouble = [
  { fault: "response-lost", probability: 0.035 },
  { fault: "request-lost", probability: 0.035 },
  { fault: "reset", probability: 0.035 },
  { fault: "hang", seconds: 4, executed: true, probability: 0.01 },
  { fault: "hang", seconds: 4, probability: 0.01 },
  { fault: "status", status: 429, retryAfter: 1, probability: 0.0007 },
  { fault: "status", status: 429, probability: 0.0003 },
  { fault: "status", status: 500, probability: 0.027 },
  { fault: "status", status: 503, probability: 0.027 },
  { fault: "slow", seconds: 0.5, probability: 0.02 },
  { route: "POST *", fault: "late-visibility", seconds: 2 * SPEED, probability: 0.2 },
  { route: "POST *", fault: "request-failed", probability: 0.03 },
  { route: "* *", fault: "slow-provisioning", factor: 3, probability: 0.05 },
  { route: "GET *", fault: "missing-item", seconds: SPEED, probability: 0.03 },
  { route: "GET *", fault: "clock-skew", seconds: 60, probability: 0.03 },
];

/** Lets a population live through `chaosMs` of trouble, then through quiet, and says what must not be. */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { objects, kinds = populous, chaosMs, seed, patienceMs, onProgress = () => {} } = options;
  await using cleanup = new AsyncDisposableStack();
  const platform = cleanup.use(await startPlatform({ seed, speed: SPEED }));
  const stage = cleanup.use(await openStage(options.kubeconfig));
  const operator = cleanup.use(supervise(() => stage.operator({ flags: ["--no-leader-election"] })));
  const { prerequisites, inhabitants } = populate(objects, platform.url, kinds);
  await stage.apply(secret(platform.token));
  await stage.apply(...prerequisites);
  for (const { kind, metadata } of prerequisites) await stage.untilReady(kind, metadata.name);

  const random = chance(seed);
  const done = { created: 0, edited: 0, deleted: 0, killed: 0 };
  /** The stage of life of everybody who is there, or ought to be. */
  const ages = new Map<Inhabitant, number>();
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  let told = 0;
  let killAt = chaosMs / 4;
  await platform.steering.call("PUT", "/_simulator/faults", { seed, rules: trouble });
  await platform.steering.resetCalls();
  while (elapsed() < chaosMs) {
    const inhabitant = inhabitants[Math.floor(random() * inhabitants.length)];
    if (inhabitant) await meddle(stage, inhabitant, ages, random, done);
    if (elapsed() > killAt) {
      killAt += chaosMs / 4;
      done.killed += 1;
      await operator.kill();
    }
    if (elapsed() - told > 15_000) {
      told = elapsed();
      const { total } = await platform.steering.calls();
      onProgress(`${Math.round(told / 1000)} s: ${ages.size} objects wanted, ${total} calls, ${JSON.stringify(done)}`);
    }
    // As often as every object is touched once in a quarter of a minute, and not more often than the platform keeps up.
    await delay(Math.max(100, 15_000 / objects));
  }

  const { total: calls } = await platform.steering.calls();
  await platform.steering.faults();
  onProgress("quiet: waiting until everything is at rest");
  for (const inhabitant of inhabitants) {
    const age = ages.get(inhabitant);
    if (age !== undefined) await insist(stage, inhabitant, age);
  }
  const wanted = [
    ...prerequisites.map(({ kind, metadata }) => ({ kind, name: metadata.name })),
    ...inhabitants.flatMap((each) => (ages.has(each) ? [wantedAt(each, ages.get(each) ?? 0)] : [])),
  ];
  try {
    await until(() => unrest(stage, wanted), { title: "quiet", forMs: patienceMs, everyMs: 1000 });
  } catch (error) {
    // Who is stuck is named by the verdict.
    if (!(error instanceof TooLate)) throw error;
    onProgress(error.message);
  }
  return { problems: await judge(stage, platform.steering, wanted), done, calls, log: operator.log() };
}

/** Does to an object what comes next: creates, changes or deletes it. */
async function meddle(
  stage: Stage,
  inhabitant: Inhabitant,
  ages: Map<Inhabitant, number>,
  random: () => number,
  done: SoakResult["done"],
): Promise<void> {
  const { kind, name, stages } = inhabitant;
  const age = ages.get(inhabitant);
  if (age === undefined) {
    // One that is still on its way out keeps its name.
    if (await stage.read(kind, name)) return;
    await stage.apply(at(inhabitant, 0));
    ages.set(inhabitant, 0);
    done.created += 1;
  } else if (age + 1 < stages.length && random() < 0.6) {
    await stage.apply(at(inhabitant, age + 1));
    ages.set(inhabitant, age + 1);
    done.edited += 1;
  } else if (random() < 0.5) {
    await stage.remove(kind, name);
    ages.delete(inhabitant);
    done.deleted += 1;
  }
}

/** Applies an object once more, when what stood in the way of it is gone. */
async function insist(stage: Stage, inhabitant: Inhabitant, age: number): Promise<void> {
  try {
    await stage.apply(at(inhabitant, age));
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
  }
}

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
