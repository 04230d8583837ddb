import { describe, expect, it } from "vitest";
import { BEGIN } from "../../engine/support/stage.ts";
import { bucket, DAY, entry, HOUR, MINUTE, open, SECRET } from "./export-world.ts";

describe("an ActivityLogExport", () => {
  it("is Ready at once, and delivers every entry a minute after its time, compressed, in a folder per hour", async () => {
    const world = open();
    const { settle, skip } = world.live();
    expect(await settle()).toMatchObject({ inMs: 60_000 });
    expect(world.ready()).toMatchObject({ status: "True", reason: "Available" });
    world.log.push(
      entry(BEGIN + 5_000, "one"),
      entry(BEGIN + 61_000, "two"),
      entry(BEGIN - 1, "before it was created"),
    );
    skip(MINUTE + 5_000);
    await settle();
    expect(world.delivered()).toEqual([]);
    skip(65_000);
    await settle();
    expect(world.delivered()).toEqual(["one", "two"]);
    expect([...world.stored.keys()]).toEqual([
      expect.stringMatching(/^\/audit\/log\/2026\/01\/01\/00\/0000000-[0-9a-f]{16}\.ndjson\.gz$/),
      expect.stringMatching(/^\/audit\/log\/2026\/01\/01\/00\/0100000-[0-9a-f]{16}\.ndjson\.gz$/),
    ]);
    expect(world.status()).toMatchObject({
      account: "shop/main",
      contract: 31,
      entriesDelivered: 2,
      lastEntryTime: "2026-01-01T00:01:01.000Z",
      watermark: { time: "2026-01-01T00:02:00.000Z" },
    });
    expect(JSON.stringify([world.status(), world.reported])).not.toContain(SECRET);
  });

  it("writes nothing while nothing happens, and one status in ten minutes", async () => {
    const world = open();
    const { settle, skip } = world.live();
    await settle();
    const writes = () => world.api.calls.filter(({ method }) => method === "PATCH").length;
    const before = writes();
    for (let minute = 0; minute < 30; minute++) {
      skip(MINUTE);
      await settle();
    }
    expect(writes() - before).toBeLessThanOrEqual(3);
    expect(world.asked.length).toBeLessThan(100);
  });

  it("begins at spec.from, by the hour where that is long ago, and is Ready when it has caught up", async () => {
    const world = open({ destination: { bucket }, from: new Date(BEGIN - 3 * DAY).toISOString() });
    world.log.push(...Array.from({ length: 72 }, (_, hour) => entry(BEGIN - 3 * DAY + hour * HOUR + 5, `h${hour}`)));
    const { pass, settle } = world.live();
    await pass();
    expect(world.ready()).toMatchObject({ status: "False", reason: "CatchingUp" });
    await settle();
    expect(world.ready()).toMatchObject({ status: "True", reason: "Available" });
    expect(world.delivered().length).toBe(72);
    expect(world.asked.length).toBeLessThan(400);
  });

  it("names the gap when the platform has deleted what is next, and goes on behind it", async () => {
    const world = open({ destination: { bucket }, from: new Date(BEGIN - 40 * DAY).toISOString() });
    world.log.push(entry(BEGIN - 30 * DAY, "kept"));
    await world.live().settle();
    expect(world.delivered()).toEqual(["kept"]);
    expect(world.ready()).toMatchObject({ status: "True", reason: "HistoryLost" });
    expect(world.ready().message).toContain(
      "entries from 2025-11-22T00:00:00.000Z to 2025-11-27T00:02:00.000Z are lost",
    );
    expect(world.reported).toEqual([expect.stringContaining("Warning HistoryLost entries from 2025-11-22")]);
  });

  it("names the gap after the operator was away for too long", async () => {
    const world = open();
    const { settle, skip } = world.live();
    await settle();
    skip(36 * DAY);
    await settle();
    expect(world.status().lost).toMatchObject({ from: "2026-01-01T00:00:00.000Z", to: "2026-01-02T00:02:00.000Z" });
    expect(world.ready().reason).toBe("HistoryLost");
    skip(8 * DAY);
    await settle();
    expect(world.ready().reason).toBe("Available");
  });
});
