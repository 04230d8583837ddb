import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { createLanes, type Lane } from "../../../src/kube/queue/lanes.ts";
import { createQueue, type Queue } from "../../../src/kube/queue/queue.ts";
import { type FakeClock, fakeClock } from "../../fake-clock.ts";

let clock: FakeClock;
let queue: Queue;
const { signal } = new AbortController();

// A key is an Account (shared if its letter is a capital), a namespace and a number.
const laneOf = ([account = "", namespace = ""]: string) => ({ account, namespace, shared: account < "a" });

beforeEach(() => {
  clock = fakeClock();
  queue = createQueue({ clock, workers: 16, laneOf });
});

const addMany = (lane: string, count: number) => {
  for (let index = 0; index < count; index++) queue.add(`${lane}${index}`);
};

/** The keys that all free workers get now and keep. */
async function takeAll(workers = 16): Promise<string[]> {
  const taken: string[] = [];
  for (let worker = 0; worker < workers; worker++) void queue.take(signal).then((key) => key && taken.push(key));
  await clock.advance(0);
  return taken;
}

const ofLane = (keys: string[], lane: string) => keys.filter((key) => key.startsWith(lane)).length;

describe("Accounts", () => {
  test("take turns, so that a few keys do not wait behind many of another one, more urgent ones included", async () => {
    for (let index = 0; index < 100; index++) queue.add(`ax${index}`, "people");
    queue.add("by0", "background");
    queue.add("by1", "background");
    expect(await takeAll(4)).toEqual(["ax0", "by0", "ax1", "by1"]);
  });

  test("hand out their own keys by priority", async () => {
    addMany("ax", 3);
    queue.add("ax9", "background");
    queue.add("ax2", "people");
    expect(await takeAll(4)).toEqual(["ax2", "ax0", "ax1", "ax9"]);
  });

  test.each([
    [16, 6, 5],
    [8, 3, 3],
    [5, 1, 1],
    [1, 1, 0],
  ])("of %i workers hold %i when they are alone, and so does the next one: %i", async (workers, most, next) => {
    queue = createQueue({ clock, workers, laneOf });
    addMany("ax", 100);
    expect(await takeAll(workers)).toHaveLength(most);
    addMany("by", 100);
    await clock.advance(0);
    expect(queue.inWork()).toHaveLength(most + next);
  });

  test("give up what is more than a quarter as soon as others need it", async () => {
    addMany("ax", 100);
    const alone = await takeAll();
    for (const lane of ["by", "cz", "dw"]) addMany(lane, 100);
    await clock.advance(0);
    const early = ofLane(alone, "ax");
    for (const key of alone) queue.done(key);
    const taken = await takeAll();
    expect([early, ofLane(taken, "ax")]).toEqual([6, 4]);
  });

  test("that hold their share get no more until they are done with something", async () => {
    for (const lane of ["ax", "by", "cz"]) addMany(lane, 100);
    const taken = await takeAll();
    expect(["a", "b", "c"].map((lane) => ofLane(taken, lane))).toEqual([4, 4, 4]);
    addMany("dw", 1);
    await clock.advance(0);
    expect(queue.inWork()).toHaveLength(13);
    queue.done("ax0");
    queue.done("dw0");
    await clock.advance(0);
    expect(queue.inWork()).toHaveLength(12);
  });

  test("of one namespace hold half of the workers, however many they are", async () => {
    for (const account of "abcdefghij") addMany(`${account}x`, 3);
    addMany("ky", 100);
    const taken = await takeAll();
    expect([taken.filter((key) => key[1] === "x").length, ofLane(taken, "ky")]).toEqual([8, 4]);
  });
});

describe("namespaces that share an Account", () => {
  test("take turns within its turn: another Account waits for one key, not for one of each", async () => {
    for (const lane of ["Ax", "Ay", "Az", "bw"]) addMany(lane, 3);
    expect(await takeAll(6)).toEqual(["Ax0", "bw0", "Ay0", "bw1", "Az0", "bw2"]);
  });

  test("have half of its share while others wait, and one alone leaves a quarter of it", async () => {
    addMany("Ax", 100);
    addMany("Ay", 2);
    const taken = await takeAll();
    expect([ofLane(taken, "Ax"), ofLane(taken, "Ay")]).toEqual([4, 2]);
    queue.done("Ay0");
    queue.done("Ay1");
    await clock.advance(0);
    expect(queue.inWork()).toHaveLength(4);
    addMany("Az", 2);
    await clock.advance(0);
    expect(queue.inWork()).toHaveLength(6);
  });
});

describe("lanes", () => {
  test("of a queue that is shut down are emptied without regard to shares", async () => {
    addMany("ax", 8);
    queue.shutdown();
    expect(await takeAll()).toHaveLength(8);
  });

  test("with a hundred thousand keys hand each out once, in order", async () => {
    const single = createQueue({ clock });
    for (let index = 0; index < 100_000; index++) single.add(`a${index}`);
    let next = 0;
    for (; single.depth > 0; next++) {
      const key = (await single.take(signal)) ?? "";
      if (key !== `a${next}`) break;
      single.done(key);
    }
    expect(next).toBe(100_000);
  });
});

/** The rule as a simple reference, which searches all keys every time. */
function modelOfLanes() {
  const accounts: { account: string; lanes: { lane: Lane; items: { item: number; priority: number }[] }[] }[] = [];
  const last = <T>(all: T[], one: T, isEmpty: boolean) => {
    all.splice(all.indexOf(one), 1);
    if (!isEmpty) all.push(one);
  };
  return {
    add(lane: Lane, item: number, priority: number) {
      const own = accounts.find(({ account }) => account === lane.account) ?? { account: lane.account, lanes: [] };
      if (own.lanes.length === 0) accounts.push(own);
      const line = own.lanes.find((each) => each.lane.namespace === lane.namespace) ?? { lane, items: [] };
      if (line.items.length === 0) own.lanes.push(line);
      line.items.push({ item, priority });
    },
    take(isFree: (lane: Lane) => boolean): number | undefined {
      for (const own of accounts) {
        const line = own.lanes.find(({ lane }) => isFree(lane));
        if (!line) continue;
        const [first] = line.items.toSorted((one, other) => one.priority - other.priority);
        line.items = line.items.filter((each) => each !== first);
        last(own.lanes, line, line.items.length === 0);
        last(accounts, own, own.lanes.length === 0);
        return first?.item;
      }
      return undefined;
    },
  };
}

test("items come in the order of their turns, with any additions and any full lane", () => {
  const one = (...names: string[]) => fc.constantFrom(...names);
  const adding = fc.record({
    account: one("a", "b", "c"),
    namespace: one("x", "y", "z"),
    priority: fc.nat({ max: 2 }),
  });
  const taking = fc.record({
    fullAccounts: fc.subarray(["a", "b", "c"]),
    fullNamespaces: fc.subarray(["x", "y", "z"]),
  });
  fc.assert(
    fc.property(fc.array(fc.oneof(adding, taking), { maxLength: 60 }), (steps) => {
      const [real, model] = [createLanes<number>(), modelOfLanes()];
      for (const [item, step] of steps.entries()) {
        if ("account" in step) {
          const lane = { account: step.account, namespace: step.namespace, shared: true };
          real.add(lane, item, step.priority);
          model.add(lane, item, step.priority);
          continue;
        }
        const isFull = ({ account }: Lane) => step.fullAccounts.includes(account);
        const isClosed = ({ namespace }: Lane) => step.fullNamespaces.includes(namespace);
        const taken = real.take(
          (lane) => (isFull(lane) ? "account is full" : isClosed(lane) ? "lane is full" : "free"),
          () => true,
        );
        expect(taken).toBe(model.take((lane) => !isFull(lane) && !isClosed(lane)));
      }
    }),
    { numRuns: 500 },
  );
});

describe("the cost of a key", () => {
  const KEYS = 10_000;
  const WORKERS = 16;

  /** How often the queue reads a lane while it hands out all keys to workers that always wait for more. */
  async function readsOfLanes(namespaces: number, accountOf: (namespace: number) => string): Promise<number> {
    let reads = 0;
    const lanes = Array.from({ length: namespaces }, (_, index) => ({
      account: accountOf(index),
      shared: accountOf(index) === "all",
      get namespace() {
        reads += 1;
        return `n${index}`;
      },
    }));
    const other = { account: "", namespace: "", shared: false };
    const laneOfKey = (key: string) => lanes[Number(key) % namespaces] ?? other;
    const busy = createQueue({ clock, workers: WORKERS, laneOf: laneOfKey });
    let handed = 0;
    const inWork: string[] = [];
    const waitForOne = () =>
      void busy.take(signal).then((key) => {
        if (key !== undefined) inWork.push(key);
      });
    for (let worker = 0; worker < WORKERS; worker++) waitForOne();
    for (let index = 0; index < KEYS; index++) busy.add(`${index}`);
    for (; handed < KEYS; handed++) {
      await Promise.resolve();
      const key = inWork.shift();
      if (key === undefined) break;
      waitForOne();
      busy.done(key);
    }
    expect(handed).toBe(KEYS);
    return reads;
  }

  test.each([
    ["share an Account", () => "all"],
    ["have Accounts of their own", (namespace: number) => `a${namespace}`],
  ])("does not grow with the number of namespaces that %s", async (_, accountOf) => {
    const few = await readsOfLanes(30, accountOf);
    const many = await readsOfLanes(3000, accountOf);
    expect(many / KEYS).toBeLessThan(100);
    expect(many).toBeLessThan(2 * few);
  });
});
