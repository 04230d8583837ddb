import { describe, expect, it } from "vitest";
import { z } from "zod";
import { scalingGroup } from "../../../../src/kinds/compute/scaling-group/scaling-group.ts";
import { items, platformForFile, resource } from "../../../simulator/platform.ts";
import { inputs } from "../../mapped.ts";
import { create, type Resident } from "../../resident.ts";
import { group } from "./groups.ts";

const platform = await platformForFile();
const datacenter = await platform.datacenter("de/txl");
const given = inputs({ parents: { datacenter: datacenter.split("/")[2] ?? "" } });
const resident = await create(platform, scalingGroup, group(), given);

const guarded = {
  firewallActive: true,
  firewallType: "BIDIRECTIONAL",
  firewallRules: [{ name: "ssh", protocol: "TCP", portRangeStart: 22, portRangeEnd: 22 }],
  flowLogs: [{ name: "refused", action: "Rejected", direction: "Ingress", bucket: "flow-logs/web" }],
};

const shownServers = z.object({ servers: z.array(z.object({ name: z.string(), serverId: z.string() })) });
const replicasOf = async (of: Resident) => shownServers.parse(await of.facts(given)).servers;
const machine = async (id = "") => resource(await platform.core("GET", `${datacenter}/servers/${id}`));

describe("a group on the platform", () => {
  it("is up to date once it is there", async () => {
    expect(await resident.settle(group(), given)).toEqual([]);
    expect(await resident.facts({ ...given, platformNow: 0 })).toMatchObject({
      replicas: 2,
      actions: [{ type: "SCALE_OUT", status: "SUCCESSFUL" }],
      nextActionAt: expect.stringMatching(/Z$/),
      replicaConfiguration: { old: 0 },
    });
  });

  it("consists of servers of its datacenter, whose names are not their ids", async () => {
    const replicas = await replicasOf(resident);
    expect(replicas).toHaveLength(2);
    for (const { name, serverId } of replicas) {
      expect((await machine(serverId)).properties).toMatchObject({ name, cores: 2, ram: 2048 });
      expect((await platform.core("GET", `${datacenter}/servers/${name}`)).status).toBe(404);
    }
  });

  const policy = (change: object) => group({}, {}, change);
  const volume = { name: "root", size: 10, type: "SSD Premium", imageAlias: "ubuntu:latest" };
  it.each([
    ["name", group({ name: "other" })],
    ["minReplicas and maxReplicas", group({ minReplicas: 1, maxReplicas: 9 })],
    ["metric and unit", policy({ metric: "INSTANCE_NETWORK_OUT_PACKETS", unit: "PER_SECOND" })],
    ["unit TOTAL", policy({ unit: "TOTAL" })],
    ["range, in days", policy({ range: "P1D" })],
    ["thresholds", policy({ scaleInThreshold: 0.5, scaleOutThreshold: 99.5 })],
    [
      "scaleInAction",
      policy({
        scaleInAction: {
          amount: 200,
          amountType: "PERCENTAGE",
          cooldownPeriod: "PT24H",
          terminationPolicy: "RANDOM",
          deleteVolumes: false,
        },
      }),
    ],
    ["scaleOutAction", policy({ scaleOutAction: { amount: 10, cooldownPeriod: "120s" } })],
    ["cores, ram and zone", group({}, { cores: 4, ram: 4096, availabilityZone: "ZONE_2" })],
    ["cpuFamily", group({}, { cpuFamily: "INTEL_ICELAKE" })],
    [
      "a NIC added",
      group(
        {},
        {
          nics: [
            { name: "private", lan: 2 },
            { name: "public", lan: 1, dhcp: false },
          ],
        },
      ),
    ],
    ["a NIC replaced", group({}, { nics: [{ name: "other", lan: 2 }] })],
    [
      "a volume type in the other spelling, and its size",
      group({}, { volumes: [{ ...volume, type: "SSD_STANDARD", size: 20 }] }),
    ],
    ["first-boot data", group({}, { volumes: [{ ...volume, userData: "IyEvYmluL3No", sshKeys: ["ssh-rsa AAAA"] }] })],
    [
      "the firewall and the flow logs of a NIC",
      group({}, { nics: [{ name: "private", lan: 2, ...guarded }] }),
      // An omitted field stays unchanged, so it has to be emptied.
      group({}, { nics: [{ name: "private", lan: 2, firewallRules: [], flowLogs: [] }] }),
    ],
    ["its volumes removed", group({}, { volumes: [] })],
  ])("takes a change of %s, once, and back", async (_, changed, back = group()) => {
    expect(await resident.settle(changed, given)).toEqual(["update"]);
    await resident.settle(back, given);
    await resident.settle(group(), given);
    expect(await resident.settle(group(), given)).toEqual([]);
  });

  it.each(["HDD", "SSD", "SSD Standard", "SSD Premium", "SSD_STANDARD", "SSD_PREMIUM"])(
    "with volumes of type %s is up to date once it is there",
    async (type) => {
      const spec = group({ minReplicas: 1 }, { volumes: [{ ...volume, type }] });
      expect(await (await create(platform, scalingGroup, spec, given)).settle(spec, given)).toEqual([]);
    },
  );

  it("of up to 200 replicas is created with 100 and raised then", async () => {
    const spec = group({ minReplicas: 1, maxReplicas: 200 });
    const large = await create(platform, scalingGroup, spec, given);
    expect(await large.settle(spec, given)).toEqual(["update"]);
    expect(await large.settle(spec, given)).toEqual([]);
  });

  it("makes new replicas of what spec says now, and leaves the others as they are", async () => {
    const spec = group({ name: "renewed" });
    const renewed = await create(platform, scalingGroup, spec, given);
    const before = await replicasOf(renewed);
    const shown = await renewed.facts(given);
    const larger = group({ name: "renewed", minReplicas: 3 }, { cores: 4 });
    expect(await renewed.settle(larger, given)).toEqual(["update"]);
    const after = await replicasOf(renewed);
    const [added] = after.filter(({ serverId }) => !before.some((old) => old.serverId === serverId));
    expect((await machine(added?.serverId)).properties.cores).toBe(4);
    for (const { serverId } of before) expect((await machine(serverId)).properties.cores).toBe(2);
    expect(await renewed.facts({ ...given, shown })).toMatchObject({ replicas: 3, replicaConfiguration: { old: 2 } });
  });

  it("that was adopted keeps of its template all that spec leaves out", async () => {
    const nics = [{ name: "private", lan: 2, dhcp: false, ...guarded }];
    const volumes = [{ ...volume, bootOrder: "NONE", bus: "IDE", sshKeys: ["ssh-rsa AAAA"] }];
    const theirs = group({ name: "theirs", minReplicas: 1 }, { availabilityZone: "ZONE_1", nics, volumes });
    const taken = await create(platform, scalingGroup, theirs, given);
    const template = async () => {
      const { replicaConfiguration } = z
        .object({ properties: z.object({ replicaConfiguration: z.looseObject({ nics: z.array(z.looseObject({})) }) }) })
        .parse(await taken.seen()).properties;
      return replicaConfiguration;
    };
    const before = await template();
    const adopted = { ...given, adopted: true };
    const spec = (replica: object) => ({
      datacenterRef: { name: "berlin" },
      replica: { cores: 4, ram: 4096, ...replica },
    });
    expect(await taken.settle(spec({}), adopted)).toEqual(["update"]);
    expect(await template()).toEqual({ ...before, cores: 4, ram: 4096 });
    expect(await taken.settle(spec({ nics: [{ name: "private", lan: 3 }], volumes: [volume] }), adopted)).toEqual([
      "update",
    ]);
    const moved = before.nics.map((nic) => ({ ...nic, lan: 3 }));
    expect(await template()).toEqual({ ...before, cores: 4, ram: 4096, nics: moved });
    expect(await taken.settle(spec({ nics: [] }), adopted)).toEqual(["update"]);
    expect(await template()).toEqual({ ...before, cores: 4, ram: 4096, nics: [] });
  });

  it("has replicas with the firewall, the flow logs and the image of its template", async () => {
    const volume = (await replicasOf(resident))[0]?.serverId;
    const disk = items(await platform.core("GET", `${datacenter}/servers/${volume}/volumes?depth=1`))[0]?.id;
    const { id } = resource(await platform.done("POST", `${datacenter}/volumes/${disk}/create-snapshot`, {}));
    const role = "replica.volumes[root].snapshotRef";
    const known = { ...given, refs: { [role]: { id, status: {} } } };
    const nics = [{ name: "private", lan: 2, ...guarded }];
    const volumes = [{ name: "root", size: 10, type: "SSD Premium", snapshotRef: { name: "golden" } }];
    const spec = group({ name: "guarded", minReplicas: 1 }, { nics, volumes });
    const made = await create(platform, scalingGroup, spec, known);
    expect(await made.settle(spec, known)).toEqual([]);
    const [replica] = await replicasOf(made);
    const path = `${datacenter}/servers/${replica?.serverId}`;
    expect(items(await platform.core("GET", `${path}/volumes?depth=1`))).toMatchObject([{ properties: { image: id } }]);
    const [nic] = items(await platform.core("GET", `${path}/nics?depth=3`));
    expect(nic).toMatchObject({
      properties: { firewallActive: true, firewallType: "BIDIRECTIONAL" },
      entities: {
        firewallrules: { items: [{ properties: { name: "ssh", protocol: "TCP", portRangeStart: 22 } }] },
        flowlogs: { items: [{ properties: { name: "refused", action: "REJECTED", bucket: "flow-logs/web" } }] },
      },
    });
  });

  it("has its new replicas join the target group of a load balancer", async () => {
    const properties = { name: "pool", algorithm: "ROUND_ROBIN", protocol: "HTTP" };
    const { id } = resource(await platform.done("POST", "/targetgroups", { properties }));
    const targetGroup = { targetGroupId: id, port: 8080 };
    const spec = group({ name: "balanced" }, { nics: [{ name: "private", lan: 2, targetGroup }] });
    const balanced = await create(platform, scalingGroup, spec, given);
    expect(await balanced.settle(spec, given)).toEqual([]);
    const targets = async () => resource(await platform.core("GET", `/targetgroups/${id}`)).properties.targets;
    expect(await targets()).toMatchObject([
      { port: 8080, weight: 1 },
      { port: 8080, weight: 1 },
    ]);
    expect(await balanced.settle(group({ name: "balanced" }), given)).toEqual(["update"]);
  });

  it("is one among all groups of the contract", async () => {
    const all = items(await platform.call("GET", "/autoscaling/v1.ea/groups"));
    expect(all.length).toBeGreaterThan(1);
    expect(await resident.seen()).toMatchObject({ id: resident.id });
  });
});
