import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { platformForFile, startPlatform } from "../platform.ts";
import { groupBody, groupsIn, idOf, scalerFor } from "../scaling.ts";

const platform = await platformForFile();
const scaler = scalerFor(platform);
const datacenter = await platform.datacenter();
const { group, put } = groupsIn(platform, datacenter);

describe("a scale-out that the contract's limits forbid", () => {
  it("is a FAILED action that leaves what it got, and is tried again after the cooldown", async () => {
    const own = await startPlatform();
    const tight = scalerFor(own);
    const place = await own.datacenter();
    await own.steer("PUT", "limits", { coresPerContract: 5 });
    const path = await tight.group(groupBody(place, { minReplicaCount: 4 }));
    expect(await tight.stateOf(path)).toBe("AVAILABLE");
    expect(await tight.actions(path)).toMatchObject([{ properties: { actionStatus: "FAILED" } }]);
    expect(await tight.replicas(path)).toHaveLength(2);
    expect(await own.steer("GET", "state")).toMatchObject({
      groups: [{ lastFailure: expect.stringContaining("coresPerContract") }],
    });
    await own.advance(240);
    expect(await tight.actions(path)).toHaveLength(1);
    await own.steer("PUT", "limits", {});
    await own.advance(120);
    expect(await tight.replicas(path)).toHaveLength(4);
    expect(await tight.stateOf(path)).toBe("AVAILABLE");
    await own.close();
  });
});

describe("while somebody's request holds the datacenter", () => {
  it("an action waits, and goes on when it has ended", async () => {
    const path = await group();
    await platform.core("PATCH", datacenter, { description: "busy" });
    await put(path, { minReplicaCount: 3 });
    expect(await scaler.count(path)).toBe(2);
    expect(await scaler.stateOf(path)).toBe("BUSY");
    await platform.advance(60);
    expect(await scaler.count(path)).toBe(3);
    expect(await scaler.stateOf(path)).toBe("AVAILABLE");
  });
});

describe("time", () => {
  it("passes at the speed of the simulator, without anybody's help", async () => {
    const fast = await startPlatform({ speed: 600 });
    const { group: made, load, replicas } = scalerFor(fast);
    const path = await made(groupBody(await fast.datacenter(), {}, { scaleOut: { cooldownPeriod: "PT2M" } }));
    await load({ type: "constant", value: 95 });
    await expect.poll(() => replicas(path)).toHaveLength(5);
    await fast.close();
  });

  it("may leap by months", async () => {
    const path = await group();
    await scaler.constant(path, 95);
    await platform.advance(300 * 86_400);
    expect(await scaler.count(path)).toBe(5);
    expect(await scaler.stateOf(path)).toBe("AVAILABLE");
    await platform.steer("DELETE", "load");
  });

  it("keeps the last hundred actions", async () => {
    const path = await group(
      { minReplicaCount: 1, maxReplicaCount: 2 },
      {
        scaleIn: { cooldownPeriod: "PT2M" },
        scaleOut: { cooldownPeriod: "PT2M" },
      },
    );
    await scaler.load({ type: "sine", mean: 50, amplitude: 200, seconds: 480 }, { group: idOf(path) });
    await platform.advance(86_000);
    expect(await scaler.actions(path)).toHaveLength(100);
    await platform.steer("DELETE", "load");
  });
});

describe("a restart", () => {
  it("goes on with groups, actions, replicas, cooldown and load where they were", async () => {
    const data = mkdtempSync(join(tmpdir(), "simulator-"));
    try {
      const first = await startPlatform({ data });
      const before = scalerFor(first);
      const path = await before.group(groupBody(await first.datacenter()));
      await first.advance(300);
      await before.load({ type: "constant", value: 95 });
      await first.advance(16);
      expect(await before.stateOf(path)).toBe("BUSY");
      await first.close();

      const second = await startPlatform({ data });
      const after = scalerFor(second);
      expect(await after.stateOf(path)).toBe("BUSY");
      expect(await after.replicas(path)).toHaveLength(3);
      await second.advance(15);
      expect(await after.stateOf(path)).toBe("AVAILABLE");
      await second.advance(240);
      expect(await after.actions(path)).toHaveLength(2);
      await second.advance(90);
      expect(await after.actions(path)).toHaveLength(3);
      await second.close();
    } finally {
      rmSync(data, { recursive: true, force: true });
    }
  });
});
