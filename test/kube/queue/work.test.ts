import { expect, test } from "vitest";
import { createQueue } from "../../../src/kube/queue/queue.ts";
import { type Requeue, work } from "../../../src/kube/queue/work.ts";
import { createPacer } from "../../../src/platform/pace/pacer.ts";
import { isInPass, yieldWorker } from "../../../src/runtime/workers.ts";
import { fakeClock } from "../../fake-clock.ts";

const noLog = { debug: () => {}, error: () => {} };

/** Workers whose passes call `reconcile`. Keys begin with their Account. */
function atWork(workers: number, reconcile: (key: string, signal: AbortSignal) => Promise<void>) {
  const clock = fakeClock();
  const laneOf = (key: string) => ({ account: key.charAt(0), namespace: key.charAt(0), shared: false });
  const queue = createQueue({ clock, workers, laneOf, random: () => 1 });
  const begun: string[] = [];
  const done: string[] = [];
  const results: string[] = [];
  const stopping = new AbortController();
  const options = {
    queue,
    clock,
    log: noLog,
    resyncAfter: () => undefined,
    observe: ({ result }: { result: string }) => void results.push(result),
    async reconcile(key: string, signal: AbortSignal): Promise<Requeue> {
      begun.push(key);
      await reconcile(key, signal);
      done.push(key);
      return "never";
    },
  };
  const ended = work(options, workers, stopping.signal);
  return { clock, queue, begun, done, results, stop: () => stopping.abort(), ended };
}

test("a call that waits for the pacer holds no worker", async () => {
  const pacers = new Map<string, ReturnType<typeof createPacer>>();
  const { clock, queue, begun, done } = atWork(4, async (key) => {
    const pacer = pacers.get(key.charAt(0)) ?? createPacer({ clock, rate: 1, burst: 1 });
    pacers.set(key.charAt(0), pacer);
    if (key !== "b1") await pacer.enter("background");
    (await pacer.enter("normal")).leave();
  });
  for (const account of ["v", "w", "x", "y"]) queue.add(`${account}1`);
  await clock.advance(0);
  expect(begun).toHaveLength(4);
  queue.add("b1");
  await clock.advance(0);
  expect(done).toEqual(["b1"]);
  await clock.advance(1_000);
  expect(done).toHaveLength(5);
});

test("there are as many workers as before once everybody is back", async () => {
  const back: (() => void)[] = [];
  const goOn: (() => void)[] = [];
  const wait = (list: (() => void)[]) => new Promise<void>((resolve) => list.push(resolve));
  const { clock, queue, begun, done, stop, ended } = atWork(4, async (key) => {
    if (key.endsWith("1")) {
      const [comeBack, again] = [yieldWorker(), yieldWorker()];
      await wait(back);
      comeBack();
      again();
    }
    await wait(goOn);
  });
  for (const account of ["v", "w"]) queue.add(`${account}1`);
  for (const account of ["a", "b", "c", "d", "e"]) queue.add(`${account}2`);
  await clock.advance(0);
  expect(begun).toEqual(["v1", "w1", "a2", "b2", "c2", "d2"]);
  for (const resolve of back) resolve();
  await clock.advance(0);
  expect(goOn).toHaveLength(6);
  // Six passes run in four places, so two must end before a new one starts.
  goOn.shift()?.();
  goOn.shift()?.();
  await clock.advance(0);
  expect(begun).toHaveLength(6);
  goOn.shift()?.();
  await clock.advance(0);
  expect(begun).toHaveLength(7);
  for (const key of ["f2", "g2", "h2"]) queue.add(key);
  await clock.advance(0);
  expect(begun).toHaveLength(7);
  stop();
  for (const resolve of goOn) resolve();
  await ended;
  expect(done).toHaveLength(7);
});

test("work that a pass has started takes no worker after it", async () => {
  let waitLater = () => {};
  const stuck = () => new Promise<void>(() => {});
  const { clock, queue, begun } = atWork(4, async (key) => {
    if (key !== "a1") return stuck();
    void new Promise<void>((resolve) => {
      waitLater = resolve;
    }).then(() => yieldWorker());
    yieldWorker();
  });
  queue.add("a1");
  await clock.advance(0);
  waitLater();
  for (const account of ["v", "w", "x", "y", "z"]) queue.add(`${account}1`);
  await clock.advance(0);
  expect(begun).toEqual(["a1", "v1", "w1", "x1", "y1"]);
});

test("a pass that takes too long is told so, has a moment to say why, and counts as timed out", async () => {
  const { clock, queue, begun, done, results } = atWork(1, async (_, signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
  queue.add("a1");
  queue.add("b1");
  await clock.advance(59_999);
  expect(begun).toEqual(["a1"]);
  await clock.advance(1);
  expect(done).toEqual(["a1"]);
  expect(begun).toEqual(["a1", "b1"]);
  expect(results).toEqual(["timeout"]);
});

test("a pass that does not end by itself is left to itself, and comes back with a growing pause", async () => {
  const begunAt: number[] = [];
  const { clock, queue, done, results } = atWork(1, async (key) => {
    if (key !== "a1") return;
    begunAt.push(clock.monotonic());
    await new Promise(() => {});
  });
  queue.add("a1");
  await clock.advance(0);
  queue.add("b1");
  await clock.advance(70_000);
  expect(done).toEqual(["b1"]);
  await clock.advance(600_000);
  const pauses = begunAt.map((at, nth) => at - (begunAt[nth - 1] ?? at) - 70_000).slice(1);
  expect(pauses.length).toBeGreaterThan(3);
  for (const [nth, pause] of pauses.entries()) expect(pause).toBeGreaterThan(pauses[nth - 1] ?? 0);
  expect(results.filter((result) => result === "timeout").length).toBe(begunAt.length - 1);
});

test("a call is attributed to its pass until the pass ends or times out", async () => {
  const seen: boolean[] = [];
  const notice = () => seen.push(isInPass());
  const { clock, queue } = atWork(2, async (key) => {
    notice();
    if (key === "a1") {
      clock.after(60_001, notice);
      await new Promise(() => {});
    }
    clock.after(1, notice);
  });
  queue.add("a1");
  queue.add("b1");
  await clock.advance(2);
  expect(seen).toEqual([true, true, false]);
  await clock.advance(60_000);
  expect(seen).toEqual([true, true, false, false]);
  expect(isInPass()).toBe(false);
});
