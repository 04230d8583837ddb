import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { type Landscape, landscape, type Operator } from "../landscape.ts";
import { datacenter, server } from "../objects.ts";

/**
 * The cost of an object, independent of the machine. `make bench ARGS=scale` measures the same and the time, at scale.
 * Lower a number here when something becomes cheaper; docs/performance.md has the goals. Only passes vary: a busy
 * machine may need a third wake-up where a quiet one needs two.
 * Calls for labels are those for all objects together, a list and a POST: only the Datacenter gets one, at a time of its own.
 */
const MOST = {
  create: { calls: 1.3, writes: 3.05, events: 2.1, passes: 4, labels: 2 },
  restart: { calls: 0.3, writes: 0.05, events: 0.05, passes: 1.2, labels: 2 },
  delete: { calls: 1.375, writes: 2.2, events: 1.5, passes: 8, labels: 2 },
} as const;

const SERVERS = 39;
const COUNT = SERVERS + 1;
const home = datacenter("dc");
const servers = Array.from({ length: SERVERS }, (_, index) => server(`server-${index}`));

/** Long intervals: a busy machine takes longer, and must not cost more for that. */
const PATIENT = [
  "--poll",
  "5s",
  "--annotate-after",
  "1h",
  "--resync",
  "1h",
  "--recheck",
  "1h",
  "--cluster-name",
  "blue",
];

let world: Landscape;
let operator: Operator;

beforeAll(async () => {
  world = await landscape({ operator: PATIENT });
  operator = world.operator;
  await world.untilReady("account/main");
});

interface Cost {
  calls: number;
  labels: number;
  writes: number;
  events: number;
  passes: number;
}

/** The counters of one operator process since the platform's counters were reset. */
async function costSoFar(): Promise<Cost> {
  const { total, byRoute } = await world.platform.calls();
  const labels = Object.entries(byRoute).reduce((all, [route, n]) => all + (route.endsWith("/labels") ? n : 0), 0);
  const lines = (await operator.metrics()).split("\n");
  const sum = (wanted: RegExp) =>
    lines.filter((line) => wanted.test(line)).reduce((all, line) => all + Number(line.slice(line.lastIndexOf(" "))), 0);
  return {
    calls: total - labels,
    labels,
    // Events are created by POST. A write that was refused because of a conflict wrote nothing.
    writes: sum(/^rest_client_requests_total\{(?=.*method="(PATCH|PUT)")(?=.*code="2..")/),
    events: sum(/^rest_client_requests_total\{(?=.*method="POST")(?=.*code="2..")/),
    passes: sum(/^controller_runtime_reconcile_total\{/),
  };
}

/** The cost per object until everything is done. */
async function costOf(act: () => Promise<void>): Promise<Cost> {
  await world.platform.resetCalls();
  const before = await costSoFar();
  await act();
  const { calls, labels, writes, events, passes } = await costSoFar();
  return {
    calls: calls / COUNT,
    labels,
    writes: (writes - before.writes) / COUNT,
    events: (events - before.events) / COUNT,
    passes: (passes - before.passes) / COUNT,
  };
}

const each = async (path: string): Promise<string[]> => {
  const lists = [await world.value("datacenters", path), await world.value("servers", path)];
  return lists.flatMap((list) => list.split(" ").filter((value) => value !== ""));
};
const ready = '{.items[*].status.conditions[?(@.type=="Ready")].status}';
const isTrue = (status: string) => status === "True";

/** Waits until every object was reconciled and nothing happens for a while. */
async function untilQuiet(): Promise<void> {
  for (let [last, now] = [-1, 0]; last !== now || now < COUNT; ) {
    await delay(2500);
    [last, now] = [now, (await costSoFar()).passes];
  }
}

/** One message with all numbers, so that all can be lowered at once. */
function expectAtMost(title: string, cost: Cost, most: Cost): void {
  console.log(`${title}, per object:`, cost);
  const over = Object.entries(most).filter(([name, limit]) => Reflect.get(cost, name) > limit);
  expect(over, `${title}: ${JSON.stringify(cost)}`).toEqual([]);
}

describe("an object costs no more than it has to", () => {
  it("to become Ready", async () => {
    const cost = await costOf(async () => {
      // An object that waits for the Datacenter for more than a few seconds reports it, with one more write.
      await world.apply(home);
      await world.untilReady("datacenter/dc");
      await world.apply(...servers);
      await expect.poll(async () => (await each(ready)).filter(isTrue).length, { timeout: 240_000 }).toBe(COUNT);
      await expect.poll(async () => (await costSoFar()).labels).toBe(MOST.create.labels);
    });
    expectAtMost("create", cost, MOST.create);
  });

  it("when the operator starts again", async () => {
    await operator.stop();
    await world.platform.resetCalls();
    operator = await world.anotherOperator();
    await untilQuiet();
    const { calls, labels, writes, events, passes } = await costSoFar();
    const cost = {
      labels,
      calls: calls / COUNT,
      writes: writes / COUNT,
      events: events / COUNT,
      passes: passes / COUNT,
    };
    expectAtMost("restart", cost, MOST.restart);
    expect((await each(ready)).filter(isTrue).length).toBe(COUNT);
  });

  it("to be reconciled on request: three calls, however many objects are in the collection", async () => {
    await world.platform.resetCalls();
    await world.annotate("server/server-0", "mooring.dev/reconcile-at=now");
    await expect.poll(async () => (await costSoFar()).calls).toBeGreaterThan(0);
    await untilQuiet();
    expect((await costSoFar()).calls).toBeLessThanOrEqual(3);
    expect((await each(ready)).filter(isTrue).length).toBe(COUNT);
  });

  it("to be deleted", async () => {
    const cost = await costOf(async () => {
      await world.askToRemove(home, ...servers);
      await expect.poll(async () => (await each("{.items[*].metadata.name}")).length, { timeout: 240_000 }).toBe(0);
    });
    expectAtMost("delete", cost, MOST.delete);
    expect(Object.keys(await world.platform.made())).toEqual([]);
  });
});
