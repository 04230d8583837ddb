import { describe, expect, it } from "vitest";
import { platformForFile, refusal } from "../platform.ts";
import { groupsIn, idOf, scalerFor } from "../scaling.ts";

const platform = await platformForFile();
const scaler = scalerFor(platform);
const datacenter = await platform.datacenter();
const { group } = groupsIn(platform, datacenter);

describe("the policy", () => {
  it("does nothing without a load", async () => {
    const path = await group();
    await platform.advance(3600);
    expect(await scaler.actions(path)).toHaveLength(1);
  });

  it("lets a group grow to its maximum under a ramp, one action at a time", async () => {
    const path = await group();
    await scaler.load({ type: "ramp", from: 10, to: 100, seconds: 600 }, { group: idOf(path) });
    await platform.advance(300);
    expect(await scaler.count(path)).toBe(2);
    await platform.advance(3300);
    expect(await scaler.count(path)).toBe(5);
    expect(await scaler.stateOf(path)).toBe("AVAILABLE");
    const actions = await scaler.actions(path);
    expect(actions.map(({ properties }) => properties)).toEqual(
      Array(4).fill({ actionType: "SCALE_OUT", actionStatus: "SUCCESSFUL" }),
    );
  });

  it("lets the cooldown pass between two actions, counted from the start of the first", async () => {
    const path = await group({}, { scaleOut: { cooldownPeriod: "PT10M" } });
    await scaler.constant(path, 95);
    await platform.advance(3600);
    const starts = (await scaler.actions(path)).map(({ metadata }) => Date.parse(metadata.createdDate));
    expect(starts).toHaveLength(4);
    for (const [index, start] of starts.slice(1).entries()) expect(start - (starts[index] ?? 0)).toBe(600_000);
  });

  it("looks at the mean over the range, not at the present value", async () => {
    const path = await group({}, { policy: { range: "PT1H" } });
    await scaler.load({ type: "ramp", from: 50, to: 100, seconds: 3000 }, { group: idOf(path) });
    await platform.advance(3500);
    expect(await scaler.count(path)).toBe(2);
    await platform.advance(1000);
    expect(await scaler.count(path)).toBeGreaterThan(2);
  });

  it("shares a load between the replicas when told so, and comes to rest", async () => {
    const path = await group({ maxReplicaCount: 50 });
    await scaler.constant(path, 300, { shared: true });
    await platform.advance(7200);
    // 300 percent of one server are 75 percent of each of four.
    expect(await scaler.count(path)).toBe(4);
    expect(await platform.steer("GET", "load")).toMatchObject({
      groups: expect.arrayContaining([
        expect.objectContaining({ id: idOf(path), value: 75, average: 75, replicas: 4 }),
      ]),
    });
  });

  it("adds and removes as many replicas as the action says", async () => {
    const path = await group({ maxReplicaCount: 9 }, { scaleOut: { amount: 4 }, scaleIn: { amount: 3 } });
    await platform.advance(300);
    await scaler.constant(path, 95);
    await platform.advance(45);
    expect(await scaler.count(path)).toBe(6);
    await scaler.constant(path, 5);
    await platform.advance(420);
    expect(await scaler.count(path)).toBe(3);
  });

  it.each([
    ["half more", 50, 4, 6],
    ["at least one more", 1, 4, 5],
    ["twice as many more", 200, 2, 6],
    ["no more than the maximum", 200, 5, 8],
  ])("adds a percentage of the present count: %s", async (_, amount, minReplicaCount, expected) => {
    const parts = { scaleOut: { amount, amountType: "PERCENTAGE" } };
    const path = await group({ minReplicaCount, maxReplicaCount: 8 }, parts);
    await platform.advance(300);
    await scaler.constant(path, 95);
    await platform.advance(45);
    expect(await scaler.count(path)).toBe(expected);
  });

  it("removes a percentage of the present count, never going below the minimum", async () => {
    const parts = { scaleIn: { amount: 50, amountType: "PERCENTAGE" } };
    const path = await group({ targetReplicaCount: 5 }, parts);
    await platform.advance(300);
    await scaler.constant(path, 5);
    await platform.advance(45);
    expect(await scaler.count(path)).toBe(3);
    await platform.advance(3600);
    expect(await scaler.count(path)).toBe(2);
  });

  it.each([
    ["PER_SECOND", 1],
    ["PER_MINUTE", 60],
    ["PER_HOUR", 3600],
    // Over the two minutes of the policy's range.
    ["TOTAL", 120],
  ])("counts traffic %s: bytes a second are %i times as much", async (unit, factor) => {
    const policy = { metric: "INSTANCE_NETWORK_IN_BYTES", unit, range: "PT2M" };
    const thresholds = { scaleInThreshold: 50 * factor, scaleOutThreshold: 80 * factor };
    const path = await group({}, { policy: { ...policy, ...thresholds } });
    await scaler.constant(path, 70, { metric: policy.metric });
    await platform.advance(600);
    expect(await scaler.count(path)).toBe(2);
    await scaler.constant(path, 95, { metric: policy.metric });
    await platform.advance(600);
    expect(await scaler.count(path)).toBeGreaterThan(2);
    await platform.steer("DELETE", "load");
  });

  it("reacts to the load of its own metric only", async () => {
    const path = await group({}, { policy: { metric: "INSTANCE_NETWORK_IN_BYTES", unit: "PER_SECOND" } });
    await scaler.constant(path, 95);
    await platform.advance(600);
    expect(await scaler.count(path)).toBe(2);
    await scaler.constant(path, 95, { metric: "INSTANCE_NETWORK_IN_BYTES" });
    await platform.advance(600);
    expect(await scaler.count(path)).toBeGreaterThan(2);
  });
});

describe("the load", () => {
  it("can be set for all groups, by name and by id, shown and taken away", async () => {
    const path = await group({ name: "loaded" });
    await scaler.load({ type: "constant", value: 42 }, { group: "loaded" });
    const shown = { id: idOf(path), name: "loaded", value: 42, replicas: 2 };
    expect(await platform.steer("GET", "load")).toMatchObject({
      loads: expect.arrayContaining([
        expect.objectContaining({ group: idOf(path), shape: { type: "constant", value: 42 } }),
      ]),
      groups: expect.arrayContaining([expect.objectContaining(shown)]),
    });
    expect(await scaler.load({ type: "constant", value: 50 })).toMatchObject({
      loads: [{ metric: "INSTANCE_NETWORK_IN_BYTES" }, { metric: "INSTANCE_CPU_UTILIZATION_AVERAGE", shared: false }],
      groups: expect.arrayContaining([expect.objectContaining({ ...shown, value: 50 })]),
    });
    expect(await platform.steer("DELETE", "load")).toMatchObject({ loads: [] });
  });

  it.each([
    ["an unknown group", { group: "nobody", shape: { type: "constant", value: 1 } }, "(root).group"],
    ["an unknown shape", { shape: { type: "spike" } }, "(root).shape.type"],
    ["a ramp without an end", { shape: { type: "ramp", from: 1, seconds: 5 } }, "(root).shape.to"],
  ])("refuses %s", async (_, body, field) => {
    expect(refusal(await platform.call("PUT", "/_simulator/load", body), 422, "100")).toContain(`[${field}]`);
  });
});
