import { expect, test } from "vitest";
import { stepAside } from "../../src/aside.ts";
import { createQueue } from "../../src/kube/queue/queue.ts";
import { type Again, work } from "../../src/kube/queue/work.ts";
import { createPacer } from "../../src/platform/pace/pacer.ts";
import { fakeClock } from "../fake-clock.ts";

const noLog = { debug: () => {}, error: () => {} };

/** Workers whose passes are told by `reconcile`; keys begin with the Account they are worked on for. */
function atWork(workers: number, reconcile: (key: string) => Promise<void>) {
  const clock = fakeClock();
  const laneOf = (key: string) => ({ account: key.charAt(0), namespace: key.charAt(0), shared: false });
  const queue = createQueue({ clock, workers, laneOf });
  const begun: string[] = [];
  const done: string[] = [];
  const stopping = new AbortController();
  const options = {
    queue,
    clock,
    log: noLog,
    comesRound: () => undefined,
    observe: undefined,
    async reconcile(key: string): Promise<Again> {
      begun.push(key);
      await reconcile(key);
      done.push(key);
      return "never";
    },
  };
  const ended = work(options, workers, stopping.signal);
  return { clock, queue, begun, done, stop: () => stopping.abort(), ended };
}

test("who waits for the pacer holds no worker", async () => {
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
      const [comeBack, again] = [stepAside(), stepAside()];
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
  // Of six that work in four places, two have to be done before anything new begins.
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

test("what a pass has set off takes nobody's place after it", async () => {
  let waitLater = () => {};
  const stuck = () => new Promise<void>(() => {});
  const { clock, queue, begun } = atWork(4, async (key) => {
    if (key !== "a1") return stuck();
    void new Promise<void>((resolve) => {
      waitLater = resolve;
    }).then(() => stepAside());
    stepAside();
  });
  queue.add("a1");
  await clock.advance(0);
  waitLater();
  for (const account of ["v", "w", "x", "y", "z"]) queue.add(`${account}1`);
  await clock.advance(0);
  expect(begun).toEqual(["a1", "v1", "w1", "x1", "y1"]);
});
