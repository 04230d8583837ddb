import { describe, expect, it } from "vitest";
import { BEGIN } from "../../engine/support/stage.ts";
import { DAY, entry, HOUR, MINUTE, open } from "./export-world.ts";

describe("an ActivityLogExport", () => {
  describe("when Date headers are wrong", () => {
    const minutes = async ({ settle, skip }: ReturnType<ReturnType<typeof open>["live"]>, count: number) => {
      for (let nth = 0; nth < count; nth++) {
        await settle();
        skip(MINUTE);
      }
    };

    it.each([40 * DAY, DAY, 2 * HOUR, 5 * MINUTE, -DAY])("by %i ms for a while, no entry is lost", async (aheadMs) => {
      const world = open();
      const life = world.live();
      await minutes(life, 3);
      world.tell(aheadMs);
      world.log.push(entry(life.clock.now() - 5_000, "before"));
      await minutes(life, 5);
      world.log.push(entry(life.clock.now() + 1_000, "during"));
      await minutes(life, 5);
      expect(Date.parse(world.status().watermark.time)).toBeLessThanOrEqual(life.clock.now());
      world.tell(0);
      world.log.push(entry(life.clock.now() + 1_000, "after"));
      life.skip(HOUR);
      await minutes(world.live(), 3);
      expect(world.delivered()).toEqual(["before", "during", "after"]);
      expect(world.status().lost).toBeUndefined();
      expect(world.reported.join()).not.toContain("HistoryLost");
    });

    it("an entry that comes late to a minute is still looked for", async () => {
      const world = open();
      const life = world.live();
      world.tell(40 * DAY);
      await minutes(life, 3);
      world.log.push(entry(BEGIN + 5_000, "late"));
      await minutes(life, 2);
      expect(world.delivered()).toEqual(["late"]);
    });
  });

  it("follows a platform that is ahead of our own clock as far as its log goes, and no further", async () => {
    const world = open();
    const life = world.live();
    await life.settle();
    world.tell(HOUR);
    world.log.push(entry(BEGIN + 30 * MINUTE, "one"), entry(BEGIN + 40 * MINUTE, "two"));
    life.skip(MINUTE);
    await life.settle();
    expect(world.delivered()).toEqual(["one"]);
    expect(Date.parse(world.status().watermark.time)).toBeLessThanOrEqual(BEGIN + 40 * MINUTE);
    world.log.push(entry(BEGIN + 42 * MINUTE, "three"));
    life.skip(MINUTE);
    await life.settle();
    expect(world.delivered()).toEqual(["one", "two"]);
  });
});
