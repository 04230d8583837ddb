import { expect, test } from "vitest";
import { restingDatacenters } from "../engine/support/resting.ts";
import { accountOf, credentials, runEngine } from "../engine/support/running-engine.ts";
import { fakeClock } from "../fake-clock.ts";

test("at start every object at rest is reconciled once, after its Account was checked and its collection listed", async () => {
  const { platform, objects } = restingDatacenters(100);
  const passes = new Map<string, number>();
  const clock = fakeClock();
  const initial = [accountOf("main"), credentials, ...objects];
  await using _ = await runEngine(initial, {
    clock,
    platform,
    observe: ({ kind }) => passes.set(kind, (passes.get(kind) ?? 0) + 1),
  });
  for (let n = 0; n < 20; n++) await clock.advance(500);
  expect(passes.get("Datacenter")).toBe(100);
  expect(platform.sent("GET").filter(({ url }) => url.includes("/datacenters"))).toHaveLength(1);
  expect(platform.writes()).toEqual([]);
});
