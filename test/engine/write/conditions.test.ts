import { describe, expect, test } from "vitest";
import { PAUSED } from "../../../src/engine/state/names.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { restingDatacenters } from "../support/resting.ts";
import { stage } from "../support/stage.ts";

const KEY = "Datacenter/shop/d0";

function resting() {
  const { platform, objects } = restingDatacenters(1);
  const [object] = objects;
  if (!object) throw new Error("no object");
  return { platform, object };
}
const conditions = (object: KubeObject | undefined) =>
  (object && readStatus(object).conditions)?.map(({ type, status, reason }) => `${type}=${status} ${reason}`);

/** The object after its passes. */
async function settled(object: KubeObject, platform: ReturnType<typeof resting>["platform"]) {
  const all = stage([object], { platform });
  all.contextOf(KEY);
  await all.clock.advance(2000);
  const steps = await all.passes(KEY);
  return { steps, after: all.api.get(object), writes: platform.writes() };
}

describe("a paused object", () => {
  const paused = (more: Partial<KubeObject["metadata"]> = {}) => {
    const { platform, object } = resting();
    return {
      platform,
      object: { ...object, metadata: { ...object.metadata, ...more, annotations: { [PAUSED]: "true" } } },
    };
  };

  test("keeps its Ready and what it was judged by, and says Paused in a condition of its own", async () => {
    const { platform, object } = paused({ generation: 2 });
    const { after, writes } = await settled(object, platform);
    expect(conditions(after)).toEqual(["Ready=True Available", "Paused=True Paused"]);
    expect(after && readStatus(after)).toMatchObject({ id: "dc-d0-0", observedGeneration: 1 });
    expect(writes).toEqual([]);
  });

  test("is Ready as before when the annotation goes, and no longer Paused", async () => {
    const { platform, object } = paused();
    const { after = object } = await settled(object, platform);
    const going = { ...after, metadata: { ...after.metadata, annotations: {} } };
    expect(conditions((await settled(going, platform)).after)).toEqual(["Ready=True Available"]);
  });
});

describe("an object with managementPolicy Observe", () => {
  const observing = { location: "de/txl", description: "another one", managementPolicy: "Observe" };

  test("goes on with the resource that it has by now, and changes nothing of it", async () => {
    const { platform, object } = resting();
    const { after, writes } = await settled({ ...object, spec: observing }, platform);
    expect(conditions(after)).toEqual(["Ready=True Observed"]);
    expect(after && readStatus(after)).toMatchObject({ id: "dc-d0-0", drift: [{ field: "description" }] });
    expect(writes).toEqual([]);
  });

  test("leaves it when it is deleted", async () => {
    const { platform, object } = resting();
    const metadata = { ...object.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
    const { steps, writes } = await settled({ ...object, metadata, spec: observing }, platform);
    expect(steps.at(-1)).toContain("release");
    expect(writes).toEqual([]);
  });
});
