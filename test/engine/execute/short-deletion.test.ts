import { describe, expect, test } from "vitest";
import { readStatus, readyOf } from "../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { fakeClock } from "../../fake-clock.ts";
import type { FakePlatform } from "../support/fake-platform.ts";
import { restingDatacenters } from "../support/resting.ts";
import { accountOf, credentials, runEngine } from "../support/running-engine.ts";
import { SETTINGS } from "../support/stage.ts";

const MISSING_MS = 600_000;

/** Three Datacenters at rest, of which the first is being deleted. */
async function world(prepare: (id: string, platform: FakePlatform) => void) {
  const clock = fakeClock();
  const { platform, objects } = restingDatacenters(3);
  const [first, ...others] = objects;
  if (!first) throw new Error("there is no object");
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const deleting: KubeObject = { ...first, metadata: { ...first.metadata, deletionTimestamp } };
  prepare(String(readStatus(first).id), platform);
  const settings = { ...SETTINGS, missingMs: MISSING_MS };
  const engine = await runEngine([accountOf("main"), credentials, deleting, ...others], { clock, platform, settings });
  const shown = () => engine.api.get(deleting) ?? deleting;
  const isReleased = () => !engine.api.get(deleting)?.metadata.finalizers?.length;
  const writes = () =>
    engine.api.calls.filter(({ method, path }) => method !== "GET" && path.includes("/datacenters/"));
  return { ...engine, clock, platform, isReleased, writes, shown };
}

/** The same, once the platform has been at work on the deletion for so long. `end`: it is done. */
async function deletingFor(ms: number) {
  let end = (): void => {};
  const engine = await world((id, platform) => {
    Object.assign(platform.items.get(id) ?? {}, { entities: {} });
    platform.setPace({
      removing(item, logged, remove) {
        item.state = "BUSY";
        logged.status = "BUSY";
        end = () => {
          logged.status = "DONE";
          remove();
        };
      },
    });
  });
  for (let waits = 0; engine.platform.writes().length === 0 && waits < 20; waits++) await engine.clock.advance(1000);
  await engine.clock.advance(ms);
  return { ...engine, end };
}

describe("a deletion on the platform", () => {
  test("costs one write to its object if it ends within fifteen seconds", async () => {
    await using engine = await deletingFor(10_000);
    engine.end();
    await engine.clock.advance(30_000);
    expect(engine.isReleased()).toBe(true);
    expect(engine.platform.writes()).toHaveLength(1);
    expect(engine.writes()).toHaveLength(1);
  });

  test("is in status if it takes longer", async () => {
    await using engine = await deletingFor(20_000);
    const object = engine.shown();
    expect(readyOf(object)).toMatchObject({ reason: "Deleting" });
    expect(readStatus(object).request).toMatchObject({ action: "delete", id: expect.any(String) });
    engine.end();
    await engine.clock.advance(60_000);
    expect(engine.isReleased()).toBe(true);
    expect(engine.platform.writes()).toHaveLength(1);
  });
});

describe("a deletion that is not in status, as after a crash", () => {
  test("is over once the platform's log shows it", async () => {
    await using engine = await world((id, platform) => platform.removeByHand(id, { user: "u1" }));
    await engine.clock.advance(30_000);
    expect(engine.isReleased()).toBe(true);
  });

  test("is over without a log only when the resource is missing for --missing-after", async () => {
    await using engine = await world((id, platform) => platform.items.delete(id));
    await engine.clock.advance(MISSING_MS - 10_000);
    expect(engine.isReleased()).toBe(false);
    await engine.clock.advance(MISSING_MS);
    expect(engine.isReleased()).toBe(true);
  });
});
