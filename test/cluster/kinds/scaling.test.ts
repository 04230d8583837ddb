import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter, scalingGroup } from "../objects.ts";

let world: Landscape;
const group = "scalinggroup/workers";

// Cooldowns that end only when the simulated clock is moved.
const HOURS = 2;
const action = { amount: 1, cooldownPeriod: `${HOURS}h` };
const policy = {
  metric: "INSTANCE_CPU_UTILIZATION_AVERAGE",
  unit: "PERCENTAGE",
  range: "2m",
  scaleInThreshold: 30,
  scaleOutThreshold: 75,
  scaleInAction: { ...action, deleteVolumes: true },
  scaleOutAction: { ...action, amount: 2 },
};
const workers = (cores: number) =>
  scalingGroup("workers", {
    maxReplicas: 4,
    policy,
    replica: {
      cores,
      ram: 1024,
      nics: [{ name: "public", lan: 1 }],
      volumes: [{ name: "root", size: 10, type: "SSD Standard", imageAlias: "ubuntu:latest" }],
    },
  });

beforeAll(async () => {
  world = await landscape({ operator: ["--resync", "2s"] });
  await world.apply(datacenter("dc"), workers(1));
  await world.untilReady(group);
});

const load = (shape: object) => world.platform.call("PUT", "/_simulator/load", { group: "workers", shape });
const pass = (hours: number) => world.platform.call("POST", "/_simulator/advance", { seconds: hours * 3600 });

const shownStatus = z.object({
  status: z.object({
    id: z.string(),
    replicas: z.int(),
    servers: z.array(z.object({ name: z.string(), serverId: z.string() })),
    actions: z.array(z.object({ type: z.string(), status: z.string(), startedAt: z.iso.datetime() })),
    nextActionAt: z.iso.datetime().optional(),
    replicaConfiguration: z.object({ old: z.int() }),
  }),
});
const read = async () => shownStatus.parse(await world.get(group)).status;
const names = async () => (await read()).servers.map(({ name }) => name);

/** Waits until status shows this many actions, all completed, and this many replicas. */
async function untilReported(actions: string[], replicas: number): Promise<void> {
  await expect
    .poll(async () => {
      const reported = await read();
      return { actions: reported.actions.map(({ type, status }) => `${type} ${status}`), replicas: reported.replicas };
    })
    .toEqual({ actions: actions.map((type) => `${type} SUCCESSFUL`), replicas });
  await world.untilReady(group);
}

/** The group's actions as the platform shows them now. */
const started = async () => {
  const { id } = await read();
  const answer = await world.platform.call("GET", `/autoscaling/v1.ea/groups/${id}/actions`);
  return z.object({ items: z.array(z.unknown()) }).parse(answer).items.length;
};

const out = "SCALE_OUT";

describe("a scaling group under a load that comes and goes", () => {
  it("starts with its minimum, and says when the next action may come", async () => {
    await untilReported([out], 1);
    const { actions, nextActionAt, servers } = await read();
    expect(Date.parse(nextActionAt ?? "") - Date.parse(actions[0]?.startedAt ?? "")).toBe(HOURS * 3_600_000);
    const found = await world.platform.resources("servers");
    expect(servers).toEqual(found.map(({ id, properties }) => ({ name: properties?.name, serverId: id })));
  });

  it("does not react to the load before the cooldown is over", async () => {
    await load({ type: "ramp", from: 20, to: 95, seconds: 600 });
    await pass(HOURS / 2);
    expect(await started()).toBe(1);
  });

  it("grows then, and the newest action comes first in status", async () => {
    await pass(HOURS / 2);
    await untilReported([out, out], 3);
    const [last, first] = (await read()).actions;
    expect(Date.parse(last?.startedAt ?? "")).toBeGreaterThan(Date.parse(first?.startedAt ?? ""));
  });

  it("a change of replica touches new replicas only, and status and an Event say so", async () => {
    await world.apply(workers(2));
    await expect.poll(async () => (await read()).replicaConfiguration.old).toBe(3);
    await world.untilReady(group);
    await expect
      .poll(() => world.describe("scalinggroup/workers"))
      .toMatch(/Updated\s.*replica\.cores; .*applies to new replicas only; 3 existing ones keep/);
    const servers = await world.platform.resources("servers");
    expect(servers.map(({ properties }) => properties?.cores)).toEqual([1, 1, 1]);
  });

  it("grows to its maximum and no further; the new replica is of the new kind", async () => {
    await pass(HOURS);
    await untilReported([out, out, out], 4);
    expect((await read()).replicaConfiguration.old).toBe(3);
    await pass(HOURS);
    expect(await started()).toBe(3);
    const servers = await world.platform.resources("servers");
    expect(servers.map(({ properties }) => properties?.cores)).toEqual([1, 1, 1, 2]);
  });

  it("shrinks when the load is gone, the oldest replica first", async () => {
    const before = await names();
    await load({ type: "constant", value: 5 });
    await untilReported(["SCALE_IN", out, out, out], 3);
    expect(await names()).toEqual(before.slice(1));
    expect((await read()).replicaConfiguration.old).toBe(2);
    await pass(HOURS);
    await untilReported(["SCALE_IN", "SCALE_IN", out, out, out], 2);
    expect(await names()).toEqual(before.slice(2));
  });

  it("keeps its minimum, and the last five actions in status", async () => {
    await pass(HOURS);
    await untilReported(["SCALE_IN", "SCALE_IN", "SCALE_IN", out, out], 1);
    await pass(HOURS);
    expect(await started()).toBe(6);
    expect((await world.platform.resources("volumes")).length).toBe(1);
  });

  it("shows no cooldown that is over", async () => {
    await expect.poll(async () => (await read()).nextActionAt).toBeUndefined();
  });

  it("with its user data in a Secret waits for that, and says what does not go together", async () => {
    const rule = { name: "http", protocol: "TCP", portRangeStart: 80, portRangeEnd: 80 };
    const nics = [{ name: "public", lan: 1, firewallActive: true, firewallRules: [rule] }];
    const from = { imageLookup: { name: "debian" }, userDataSecretRef: { name: "boot" } };
    const volumes = [{ name: "root", size: 10, type: "SSD Standard", ...from }];
    const replica = { cores: 1, ram: 1024, nics, volumes };
    const odd = { ...policy, unit: "PER_HOUR" };
    await world.apply(scalingGroup("guarded", { policy: odd, replica }));
    const reason = () => world.value("scalinggroup/guarded", "{.status.conditions[0].reason}");
    await expect.poll(reason).toBe("SecretNotFound");
    await world.kubectl("create", "secret", "generic", "boot", "--from-literal=userData=#!/bin/sh");
    await world.untilReady("scalinggroup/guarded");
    const groups = await world.platform.resources("groups");
    const guarded = groups.find(({ properties }) => properties?.name === "guarded");
    expect(guarded?.properties?.replicaConfiguration).toMatchObject({
      nics: [{ firewallRules: [{ name: "http" }] }],
      volumes: [{ image: expect.stringMatching(/^[0-9a-f-]{36}$/), userData: "IyEvYmluL3No" }],
    });
    const { stdout } = await world.kubectl("describe", "scalinggroup", "guarded");
    expect(stdout).toMatch(
      /Warning\s+Advice\s.*policy\.unit PER_HOUR: INSTANCE_CPU_UTILIZATION_AVERAGE is a percentage/,
    );
  });

  it("more than the recommended number of replicas is allowed, and advised against", async () => {
    await world.apply(scalingGroup("wide", { maxReplicas: 120 }));
    await world.untilReady("scalinggroup/wide");
    const groups = await world.platform.resources("groups");
    expect(groups.find(({ properties }) => properties?.name === "wide")?.properties?.maxReplicaCount).toBe(120);
    await expect
      .poll(() => world.value("scalinggroup/wide", "{.status.advice}"))
      .toMatch(/maxReplicas 120: more than 100 replicas/);
    await expect.poll(() => world.describe("scalinggroup/wide")).toMatch(/Warning\s+Advice\s.*maxReplicas 120/);
  });

  it("that was adopted keeps its template but for what spec says, and shows its own limits", async () => {
    const rule = { name: "http", protocol: "TCP", portRangeStart: 80, portRangeEnd: 80 };
    const nic = { name: "n1", lan: 1, firewallActive: true, firewallRules: [rule] };
    const root = { name: "root", size: 10, type: "SSD_PREMIUM", imageAlias: "ubuntu:latest", bootOrder: "NONE" };
    const datacenterId = await world.value("datacenter/dc", "{.status.id}");
    const cooldown = { amount: 1, amountType: "ABSOLUTE" };
    const properties = {
      name: "theirs",
      datacenter: { id: datacenterId },
      minReplicaCount: 1,
      maxReplicaCount: 3,
      policy: {
        ...policy,
        range: "PT2M",
        scaleInAction: { ...cooldown, deleteVolumes: true },
        scaleOutAction: cooldown,
      },
      replicaConfiguration: { cores: 1, ram: 1024, availabilityZone: "ZONE_1", nics: [nic], volumes: [root] },
    };
    await world.platform.call("POST", "/autoscaling/v1.ea/groups", { properties });
    const theirs = async () =>
      (await world.platform.resources("groups")).find((each) => each.properties?.name === "theirs");
    const template = async () => (await theirs())?.properties?.replicaConfiguration;
    const before = z.looseObject({}).parse(await template());
    const spec = { datacenterRef: { name: "dc" }, externalId: (await theirs())?.id };
    const taken = { ...scalingGroup("taken"), spec };
    await world.apply(taken);
    await world.untilReady("scalinggroup/taken");
    expect((await world.kubectl("get", "scalinggroup", "taken")).stdout).toMatch(/MIN +MAX.*\ntaken .* 1 +3 /);
    await world.patch("scalinggroup/taken", { spec: { replica: { cores: 2, ram: 2048 } } });
    await expect.poll(template).toEqual({ ...before, cores: 2, ram: 2048 });
    await world.untilReady("scalinggroup/taken");
    await world.patch("scalinggroup/taken", { spec: { replica: { nics: [{ name: "n1", lan: 2 }] } } });
    const nics = z.array(z.looseObject({})).parse(before.nics);
    const moved = nics.map((each) => ({ ...each, lan: 2 }));
    await expect.poll(template).toEqual({ ...before, cores: 2, ram: 2048, nics: moved });
  });
});
