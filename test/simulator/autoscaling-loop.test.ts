import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { items, type Platform, refusal, resource, startPlatform } from "./platform.ts";
import { groupBody, groups, type Parts, scalerFor } from "./scaling.ts";

let platform: Platform;
let scaler: ReturnType<typeof scalerFor>;
let datacenter: string;
beforeAll(async () => {
  platform = await startPlatform();
  scaler = scalerFor(platform);
  datacenter = await platform.datacenter();
});
afterAll(() => platform.close());

const group = (properties: object = {}, parts: Parts = {}) => scaler.group(groupBody(datacenter, properties, parts));
const put = (path: string, properties: object, parts: Parts = {}) =>
  platform.call("PUT", path, groupBody(datacenter, properties, parts));
const idOf = (path: string) => path.split("/").at(-1);
const constant = (path: string, value: number, more: object = {}) =>
  scaler.load({ type: "constant", value }, { group: idOf(path), ...more });
const count = async (path: string) => (await scaler.replicas(path)).length;
const names = async (path: string) => (await scaler.replicas(path)).map(({ properties }) => properties.name);

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
    expect(await count(path)).toBe(2);
    await platform.advance(3300);
    expect(await count(path)).toBe(5);
    expect(await scaler.stateOf(path)).toBe("AVAILABLE");
    const actions = await scaler.actions(path);
    expect(actions.map(({ properties }) => properties)).toEqual(
      Array(4).fill({ actionType: "SCALE_OUT", actionStatus: "SUCCESSFUL" }),
    );
  });

  it("lets the cooldown pass between two actions, counted from the start of the first", async () => {
    const path = await group({}, { scaleOut: { cooldownPeriod: "PT10M" } });
    await constant(path, 95);
    await platform.advance(3600);
    const starts = (await scaler.actions(path)).map(({ metadata }) => Date.parse(metadata.createdDate));
    expect(starts).toHaveLength(4);
    for (const [index, start] of starts.slice(1).entries()) expect(start - (starts[index] ?? 0)).toBe(600_000);
  });

  it("looks at the mean over the range, not at the present value", async () => {
    const path = await group({}, { policy: { range: "PT1H" } });
    await scaler.load({ type: "ramp", from: 50, to: 100, seconds: 3000 }, { group: idOf(path) });
    await platform.advance(3500);
    expect(await count(path)).toBe(2);
    await platform.advance(1000);
    expect(await count(path)).toBeGreaterThan(2);
  });

  it("shares a load between the replicas when told so, and comes to rest", async () => {
    const path = await group({ maxReplicaCount: 50 });
    await constant(path, 300, { shared: true });
    await platform.advance(7200);
    // 300 percent of one server are 75 percent on each of four.
    expect(await count(path)).toBe(4);
    expect(await platform.steer("GET", "load")).toMatchObject({
      groups: expect.arrayContaining([
        expect.objectContaining({ id: idOf(path), value: 75, average: 75, replicas: 4 }),
      ]),
    });
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
    await constant(path, 95);
    await platform.advance(45);
    expect(await count(path)).toBe(expected);
  });

  it("removes a percentage of the present count, never going below the minimum", async () => {
    const parts = { scaleIn: { amount: 50, amountType: "PERCENTAGE" } };
    const path = await group({ targetReplicaCount: 5 }, parts);
    await platform.advance(300);
    await constant(path, 5);
    await platform.advance(45);
    expect(await count(path)).toBe(3);
    await platform.advance(3600);
    expect(await count(path)).toBe(2);
  });

  it("reacts to the load of its own metric only", async () => {
    const path = await group({}, { policy: { metric: "INSTANCE_NETWORK_IN_BYTES", unit: "PER_SECOND" } });
    await constant(path, 95);
    await platform.advance(600);
    expect(await count(path)).toBe(2);
    await constant(path, 95, { metric: "INSTANCE_NETWORK_IN_BYTES" });
    await platform.advance(600);
    expect(await count(path)).toBeGreaterThan(2);
  });
});

describe("shrinking", () => {
  const shrunk = async (terminationPolicy: string) => {
    const path = await group({ minReplicaCount: 1 }, { scaleIn: { terminationPolicy } });
    for (const minReplicaCount of [2, 3, 4]) {
      await put(path, { minReplicaCount }, { scaleIn: { terminationPolicy } });
      await platform.advance(15);
    }
    const before = await names(path);
    await put(path, { minReplicaCount: 1, maxReplicaCount: 2 }, { scaleIn: { terminationPolicy } });
    await platform.advance(15);
    return { before, after: await names(path) };
  };

  it("takes the oldest first", async () => {
    const { before, after } = await shrunk("OLDEST_SERVER_FIRST");
    expect(after).toEqual(before.slice(2));
  });

  it("takes the newest first", async () => {
    const { before, after } = await shrunk("NEWEST_SERVER_FIRST");
    expect(after).toEqual(before.slice(0, 2));
  });

  it("takes any, by chance", async () => {
    const { before, after } = await shrunk("RANDOM");
    expect(after).toHaveLength(2);
    expect(before).toEqual(expect.arrayContaining(after));
  });

  it.each([
    [true, 1],
    [false, 2],
  ])("with deleteVolumes %s leaves %i volumes", async (deleteVolumes, left) => {
    const own = await platform.datacenter();
    const path = await scaler.group(
      groupBody(own, { minReplicaCount: 1, targetReplicaCount: 2 }, { scaleIn: { deleteVolumes } }),
    );
    await platform.advance(300);
    await constant(path, 5);
    await platform.advance(45);
    expect(await scaler.servers(own)).toHaveLength(1);
    expect(items(await platform.core("GET", `${own}/volumes`))).toHaveLength(left);
  });
});

describe("a PUT", () => {
  it("that raises the minimum or lowers the maximum leads to an action at once, whatever the cooldown", async () => {
    const path = await group();
    await put(path, { minReplicaCount: 4 });
    expect(await scaler.stateOf(path)).toBe("BUSY");
    await platform.advance(15);
    expect(await count(path)).toBe(4);
    await put(path, { minReplicaCount: 1, maxReplicaCount: 3 });
    expect(await scaler.stateOf(path)).toBe("BUSY");
    await platform.advance(15);
    expect(await count(path)).toBe(3);
    const types = (await scaler.actions(path)).map(({ properties }) => properties.actionType);
    expect(types).toEqual(["SCALE_OUT", "SCALE_OUT", "SCALE_IN"]);
  });

  it("while an action runs takes effect when that has ended", async () => {
    const answer = await platform.call("POST", groups, groupBody(datacenter));
    const path = `${groups}/${resource(answer).id}`;
    await put(path, { minReplicaCount: 3 });
    expect(await scaler.actions(path)).toHaveLength(1);
    await platform.advance(30);
    expect(await count(path)).toBe(3);
  });

  it("of the replica configuration touches new replicas only", async () => {
    const path = await group({ name: "mixed" });
    await put(path, { name: "mixed", minReplicaCount: 3 }, { replica: { cores: 7 } });
    await platform.advance(15);
    const cores = [];
    for (const { properties } of await scaler.replicas(path)) {
      const server = await platform.core("GET", `${datacenter}/servers/${properties.datacenterServer.id}`);
      cores.push(resource(server).properties.cores);
    }
    expect(cores).toEqual([2, 2, 7]);
  });
});

describe("a replica", () => {
  const removed = async (path: string) => {
    const [first] = await scaler.replicas(path);
    const server = `${datacenter}/servers/${first?.properties.datacenterServer.id}`;
    await platform.done("DELETE", `${server}?deleteVolumes=true`);
    return first;
  };

  it("that somebody deletes is replaced", async () => {
    const path = await group();
    const first = await removed(path);
    await platform.advance(45);
    const replicas = await scaler.replicas(path);
    expect(replicas).toHaveLength(2);
    expect(replicas.map(({ id }) => id)).not.toContain(first?.id);
  });

  it("joins the target group of its NIC when it is up, and leaves it when it goes", async () => {
    const made = await platform.done("POST", "/targetgroups", {
      properties: {
        name: "web",
        algorithm: "ROUND_ROBIN",
        protocol: "HTTP",
        targets: [{ ip: "10.9.9.9", port: 80, weight: 1 }],
      },
    });
    const targetGroupId = resource(made).id;
    const members = async () => {
      const { properties } = resource(await platform.core("GET", `/targetgroups/${targetGroupId}`));
      return z.array(z.looseObject({ ip: z.string(), port: z.number(), weight: z.number() })).parse(properties.targets);
    };
    const parts = { nic: { targetGroup: { targetGroupId, port: 8080, weight: 7 } } };
    const answer = await platform.call("POST", groups, groupBody(datacenter, {}, parts));
    const path = `${groups}/${resource(answer).id}`;
    expect(await members()).toHaveLength(1);
    await platform.advance(15);
    const addresses = [];
    for (const { properties } of await scaler.replicas(path)) {
      const nics = await platform.core("GET", `${datacenter}/servers/${properties.datacenterServer.id}/nics?depth=1`);
      addresses.push(...items(nics).map((nic) => z.object({ ips: z.array(z.string()) }).parse(nic.properties).ips[0]));
    }
    const joined = (await members()).slice(1);
    expect(joined.map(({ ip }) => ip).sort()).toEqual([...addresses].sort());
    for (const member of joined) expect(member).toMatchObject({ port: 8080, weight: 7 });

    await removed(path);
    await platform.advance(45);
    const after = await members();
    expect(after).toHaveLength(3);
    expect(after.map(({ ip }) => ip)).not.toContain(addresses[0]);

    await platform.call("DELETE", path);
    await platform.advance(15);
    expect(await members()).toMatchObject([{ ip: "10.9.9.9" }]);
  });
});

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
    expect(await count(path)).toBe(2);
    expect(await scaler.stateOf(path)).toBe("BUSY");
    await platform.advance(60);
    expect(await count(path)).toBe(3);
    expect(await scaler.stateOf(path)).toBe("AVAILABLE");
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
    await constant(path, 95);
    await platform.advance(300 * 86_400);
    expect(await count(path)).toBe(5);
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
