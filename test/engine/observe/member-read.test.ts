import { describe, expect, test } from "vitest";
import { Retry } from "../../../src/platform/answers/errors.ts";
import { ownedBlock, readyOf } from "../support/lives.ts";

const account = "shop/main";
describe("while the read of one member fails", () => {
  test.each([
    ["with no word how long", undefined, 1000],
    ["and asks for half a minute", 30_000, 30_000],
  ])("%s, that is told once, and nothing else is written over it", async (_, afterMs, least) => {
    const request = {
      action: "create",
      status: "BUSY",
      since: "2026-01-01T00:00:00.000Z",
      url: "/requests/req-0/status",
    };
    const life = ownedBlock(false, { status: { id: "dc-a-0", account, nonce: "n0", request } });
    const { all, object } = life;
    all.platform.items.clear();
    const asked: number[] = [];
    life.beforeEach(({ url }) => {
      if (!/ipblocks\/dc-a-0/.test(url)) return;
      asked.push(all.clock.monotonic());
      throw new Retry({ call: "GET /ipblocks/dc-a-0", status: 503 }, "no", afterMs);
    });
    const reported: string[] = [];
    let last: unknown;
    for (let second = 0; second < 300; second++) {
      await all.passes(life.key);
      const { status } = all.api.get(object) ?? object;
      if (status !== last) reported.push(readyOf(life)?.reason ?? "");
      last = status;
      await all.clock.advance(1000);
    }
    const reasons = reported.filter((reason) => reason !== "");
    expect(new Set(reasons.slice(reasons.indexOf("PlatformUnavailable")))).toEqual(new Set(["PlatformUnavailable"]));
    expect(reasons.length).toBeLessThanOrEqual(3);
    const own = asked.filter((at, n) => at !== asked[n - 1]);
    expect(own.length).toBeGreaterThan(2);
    expect(own.length).toBeLessThan(16);
    expect(Math.min(...own.slice(1).map((at, n) => at - (own[n] ?? 0)))).toBeGreaterThanOrEqual(least);
  });
});
