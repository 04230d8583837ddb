import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Retry } from "../../../src/platform/answers/errors.ts";
import { BEGIN } from "../../engine/support/stage.ts";
import { type Entry, entry, MINUTE, open } from "./export-world.ts";

/**
 * Exports a few minutes of the log and kills the process at a status write, while late entries arrive: after this
 * many other writes, or at the first one after a PUT, which records the delivery.
 */
async function killed(
  world: ReturnType<typeof open>,
  entries: readonly Entry[],
  kills: readonly { late: readonly Entry[]; after?: number }[],
) {
  const first = world.live();
  await first.settle();
  world.log.push(...entries);
  first.skip(5 * MINUTE);
  const waiting = [...kills];
  let [sent, writes] = [0, 0];
  world.api.beforeEach(({ method, path }) => {
    const [kill] = waiting;
    if (method !== "PATCH" || !path.endsWith("/status") || !kill) return;
    if (kill.after === undefined ? world.sent.length === sent : ++writes <= kill.after) return;
    sent = world.sent.length;
    writes = 0;
    waiting.shift();
    world.log.push(...kill.late);
    throw new Error("killed");
  });
  for (let nth = 0; nth <= kills.length; nth++) await Promise.allSettled([world.live().settle()]);
  const last = world.live();
  await last.settle();
  return { left: waiting.length, last };
}
const ofMinute = (minute: number, count: number, name: string) =>
  Array.from({ length: count }, (_, nth) => entry(BEGIN + minute * MINUTE + nth, `${name}-${minute}-${nth}`));
const actions = (world: ReturnType<typeof open>) => world.log.map(({ action }) => action).sort();

describe("an ActivityLogExport", () => {
  it("that is killed after a delivery and before the record delivers the same objects again, and no entry twice", async () => {
    const world = open();
    const first = world.live();
    await first.settle();
    world.log.push(...[1, 5, 61, 130].map((second) => entry(BEGIN + 1000 * second, `at-${second}`)));
    first.skip(5 * MINUTE);
    let writes = 0;
    world.api.beforeEach(({ method, path }) => {
      if (method === "PATCH" && path.endsWith("/status") && ++writes % 2 === 1) throw new Error("killed");
    });
    for (let life = world.live(), nth = 0; nth < 20; nth++) {
      const ended = await life.settle().then(
        () => true,
        () => false,
      );
      if (ended) break;
      life = world.live();
    }
    expect(writes).toBeGreaterThan(2);
    expect(world.sent.length).toBeGreaterThan(3);
    expect(world.delivered().sort()).toEqual(["at-1", "at-130", "at-5", "at-61"]);
  });

  it("that is killed between a delivery and its record delivers no entry twice, though others came late meanwhile", async () => {
    const world = open();
    const entries = [0, 1, 2].flatMap((minute) => ofMinute(minute, 3, "in-time"));
    const kills = [0, 0, 1, 2, 0].map((minute, nth) => ({ late: ofMinute(minute, 2, `late-${nth}`) }));
    expect((await killed(world, entries, kills)).left).toBe(0);
    expect(world.delivered().sort()).toEqual(actions(world));
    expect(world.status().entriesDelivered).toBe(world.log.length);
    expect(world.status().begun).toBeUndefined();
  });

  it.each([
    ["few entries and many late ones", 20, 400],
    ["many entries and a few late ones", 900, 12],
  ])("that is killed with %s delivers each once", async (_, count, late) => {
    const world = open();
    await killed(world, ofMinute(0, count, "in-time"), [{ late: ofMinute(0, late, "late") }]);
    expect(world.delivered().sort()).toEqual(actions(world));
  });

  it("that is killed at any write, with any late entries, delivers every entry once", async () => {
    const minute = fc.integer({ min: 0, max: 3 });
    const batches = fc.array(fc.tuple(minute, fc.integer({ min: 0, max: 3 })), { minLength: 1, maxLength: 2 });
    const killing = fc.record({ after: fc.option(fc.nat(3), { nil: undefined }), batches });
    await fc.assert(
      fc.asyncProperty(batches, fc.array(killing, { maxLength: 6 }), async (inTime, all) => {
        const world = open();
        const named = (all: [number, number][], name: string) =>
          all.flatMap(([at, count], nth) => ofMinute(at, count, `${name}-${nth}`));
        const kills = all.map(({ after, batches: late }, nth) => ({
          late: named(late, `late-${nth}`),
          ...(after !== undefined && { after }),
        }));
        await killed(world, named(inTime, "in-time"), kills);
        expect(world.delivered().sort()).toEqual(actions(world));
      }),
      // In rare runs, more entries collide than can be told apart.
      { numRuns: 100, seed: 30 },
    );
  });

  it("has a record of what it is about to deliver that stays small, however many entries that are", async () => {
    const world = open();
    const { settle, skip } = world.live();
    await settle();
    world.log.push(...ofMinute(0, 5_000, "in-time"));
    skip(2 * MINUTE);
    let record = "";
    world.trouble.deliver = new Retry({ call: "PUT /audit", status: 503, detail: "down" }, "unknown");
    await settle();
    record = JSON.stringify(world.status().begun);
    expect(record.length).toBeGreaterThan(100);
    expect(record.length).toBeLessThan(5_000);
    expect(record).not.toContain("in-time");
  });

  it("that is killed before more came late than can be told apart loses nothing", async () => {
    const world = open();
    await killed(world, ofMinute(0, 1_000, "in-time"), [{ late: ofMinute(0, 1_000, "late") }]);
    expect([...new Set(world.delivered())].sort()).toEqual(actions(world));
    expect(world.status().begun).toBeUndefined();
  });

  it("waits for entries that it had read before it was killed and that the log does not show; after ten minutes it goes on", async () => {
    const world = open();
    const entries = ofMinute(0, 3, "in-time");
    const first = world.live();
    await first.settle();
    world.log.push(...entries);
    first.skip(2 * MINUTE);
    world.trouble.deliver = new Retry({ call: "PUT /audit", status: 503, detail: "down" }, "unknown");
    await first.settle();
    delete world.trouble.deliver;
    const hidden = world.log.splice(0, 1);
    const second = world.live();
    await second.settle();
    expect(world.sent).toEqual([]);
    expect(world.ready()).toMatchObject({ status: "False", reason: "PlatformUnavailable" });
    expect(world.ready().message).toContain("2026-01-01T00:00:00.000Z");
    second.skip(11 * MINUTE);
    await second.settle();
    expect(world.delivered().length).toBe(2);
    world.log.push(...hidden);
    expect(world.ready().reason).toBe("Available");
  });

  it("delivers what comes late, once, also when it is killed meanwhile", async () => {
    const world = open();
    const first = world.live();
    await first.settle();
    world.log.push(entry(BEGIN + 1000, "in time"));
    first.skip(8 * MINUTE);
    await first.settle();
    world.log.push(entry(BEGIN + 2 * MINUTE, "late"), entry(BEGIN + 1500, "late as well"));
    const second = world.live();
    await second.settle();
    await world.live().settle();
    expect(world.delivered().sort()).toEqual(["in time", "late", "late as well"]);
    expect(world.status().entriesDelivered).toBe(3);
  });
});
