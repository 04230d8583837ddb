import { describe, expect, it } from "vitest";
import type { ActivityLog } from "../../../src/platform/activity/export.ts";
import { createReading, Unfinished } from "../../../src/platform/activity/reading.ts";
import { Retry } from "../../../src/platform/answers/errors.ts";
import { createMemoryBudget, openRoom } from "../../../src/platform/answers/memory-budget.ts";
import { type FakeClock, fakeClock } from "../../fake-clock.ts";

const period = { from: 0, to: 60_000 };

/** A log with pages of this duration and size, and the offsets that were read. */
function slowLog(clock: FakeClock, ms: number, bytes = 0) {
  const read: number[] = [];
  const log: ActivityLog = {
    clock,
    async page(_, offset) {
      clock.spend(ms);
      read.push(offset);
      return { sources: [{ action: String(offset) }], total: 100, bytes };
    },
  };
  return { log, read };
}

/** Passes that read one page after the other. Returns the number of passes for this many pages. */
async function passes(reading: ReturnType<typeof createReading>, log: ActivityLog, pages: number): Promise<number> {
  for (let count = 1; ; count++) {
    const turn = reading.begin(log);
    try {
      for (let offset = 0; offset < pages; offset++) await turn.page(period, offset, 1000);
      return count;
    } catch (error) {
      expect(error).toBeInstanceOf(Unfinished);
      expect(turn.isResumable(error)).toBe(true);
    }
  }
}

describe("a reading", () => {
  const at = { of: "this", at: 0 };

  it.each([
    [28_000, 20],
    [2_000, 7],
    [10, 1],
  ])("of pages that take %i ms each takes %i passes for twenty of them, and reads no page twice", async (ms, count) => {
    const clock = fakeClock();
    const { log, read } = slowLog(clock, ms);
    expect(await passes(createReading(at, openRoom(undefined, "shop/main")), log, 20)).toBe(count);
    expect(read).toEqual(Array.from({ length: 20 }, (_, nth) => nth));
  });

  it("begins no delivery in a pass that has read for long", async () => {
    const clock = fakeClock();
    const { log } = slowLog(clock, 28_000);
    const reading = createReading(at, openRoom(undefined, "shop/main"));
    const first = reading.begin(log);
    await first.page(period, 0, 1000);
    expect(() => first.check()).toThrow(Unfinished);
    const second = reading.begin(log);
    await second.page(period, 0, 1000);
    expect(() => second.check()).not.toThrow();
  });

  it("goes on after a page that could not be read, and begins anew after an answer that was of no use", async () => {
    const failed = new Retry({ call: "GET /", status: 503, detail: "down" }, "no");
    const turn = createReading(at, openRoom(undefined, "shop/main")).begin({
      clock: fakeClock(),
      page: () => Promise.reject(failed),
    });
    await expect(turn.page(period, 0, 1000)).rejects.toBe(failed);
    expect(turn.isResumable(failed)).toBe(true);
    expect(turn.isResumable(new Retry({ call: "GET /", status: 200, detail: "unexpected body" }, "no"))).toBe(false);
  });

  it("counts what it keeps between passes as memory of the Account, says when that is too much, and gives it back", async () => {
    const clock = fakeClock();
    const [total, page] = [4_000_000, 400_000];
    const budget = createMemoryBudget(total);
    const { log } = slowLog(clock, 28_000, page);
    const reading = createReading(at, openRoom(budget, "shop/main"));
    expect(await passes(reading, log, 2)).toBe(2);
    await expect(passes(reading, log, 4)).rejects.toThrow();
    reading.close();
    expect(() => budget.take("shop/main", total / 4)).not.toThrow();
  });
});
