import { describe, expect, test } from "vitest";
import { readStatus } from "../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { fakeClock } from "../../fake-clock.ts";
import type { FakePlatform } from "../support/fake-platform.ts";
import { restingDatacenters } from "../support/resting.ts";
import { accountOf, credentials, runEngine } from "../support/running-engine.ts";
import { SETTINGS } from "../support/stage.ts";

const MISSING_MS = 600_000;

/** Three Datacenters, of which the first is being deleted. Its resource is gone, and status has no request. */
async function afterCrash(remove: (platform: FakePlatform, id: string) => void) {
  const clock = fakeClock();
  const { platform, objects } = restingDatacenters(3);
  const [first, ...others] = objects;
  if (!first) throw new Error("there is no object");
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const deleting: KubeObject = { ...first, metadata: { ...first.metadata, deletionTimestamp } };
  remove(platform, String(readStatus(first).id));
  const settings = { ...SETTINGS, missingMs: MISSING_MS };
  const engine = await runEngine([accountOf("main"), credentials, deleting, ...others], { clock, platform, settings });
  return { ...engine, clock, isReleased: () => !engine.api.get(deleting)?.metadata.finalizers?.length };
}

describe("a deletion that is not in status, as after a crash", () => {
  test("is over once the platform's log shows it", async () => {
    await using engine = await afterCrash((platform, id) => platform.removeByHand(id, { user: "u1" }));
    await engine.clock.advance(30_000);
    expect(engine.isReleased()).toBe(true);
  });

  test("is over without a log only when the resource is missing for --missing-after", async () => {
    await using engine = await afterCrash((platform, id) => platform.items.delete(id));
    await engine.clock.advance(MISSING_MS - 10_000);
    expect(engine.isReleased()).toBe(false);
    await engine.clock.advance(MISSING_MS);
    expect(engine.isReleased()).toBe(true);
  });
});
