import { expect, test } from "vitest";
import { createQueue } from "../../src/kube/queue/queue.ts";
import { restingDatacenters } from "../engine/support/resting.ts";
import { accountOf, credentials, runEngine } from "../engine/support/running-engine.ts";
import { fakeClock } from "../fake-clock.ts";
import { turnsOf } from "../turns.ts";

const COUNT = 10_000;
const WORKERS = 16;
/** The longest allowed stretch of work without a turn of the event loop. */
const PROMISED_MS = 25;
const PASS_MS = 0.1;
const WAKE_MS = 0.01;

test(`a restart with ${COUNT} objects looks at each once, and gives the event loop a turn every few passes and wakes`, {
  timeout: 300_000,
}, async () => {
  const clock = fakeClock();
  const { platform, objects } = restingDatacenters(COUNT);
  using passes = turnsOf();
  using wakes = turnsOf();
  const queue = createQueue({ clock });
  const rested = new Set<string>();
  let reads = 0;
  const note = (fields: object) => {
    const step = Reflect.get(fields, "step");
    if (step !== undefined) reads += 1;
    if (step === "rest") rested.add(String(Reflect.get(fields, "object")));
  };
  const add: typeof queue.add = (key, priority) => {
    wakes.count();
    clock.spend(WAKE_MS);
    queue.add(key, priority);
  };
  await using engine = await runEngine([accountOf("main"), credentials, ...objects], {
    clock,
    platform,
    log: { debug: note, info: () => {}, warn: () => {}, error: () => {} },
    workers: WORKERS,
    queue: { ...queue, add },
    observe() {
      passes.count();
      clock.spend(PASS_MS);
    },
  });
  while (rested.size < COUNT) await clock.advance(0);
  for (let n = 0; n < 20; n++) await clock.advance(500);
  expect(reads).toBe(COUNT);
  expect(engine.api.calls.filter(({ path }) => path.includes("/datacenters/"))).toEqual([]);
  console.log(`most without a turn: ${passes.most()} passes, ${wakes.most()} wakes`);
  expect(passes.most()).toBeLessThanOrEqual(PROMISED_MS / PASS_MS);
  expect(wakes.most()).toBeLessThanOrEqual(PROMISED_MS / WAKE_MS);
});
