import { describe, expect, it } from "vitest";
import { scalingGroup } from "../../../../src/kinds/compute/scaling-group/scaling-group.ts";
import { bodyOf, inputs, mapped, sent } from "../../mapped.ts";
import { group, groupItem } from "./groups.ts";

const mapping = mapped(scalingGroup);
const compare = (spec: object, item: unknown, given = inputs()) => mapping.desire(spec).compare(item, given);
const rule = { name: "ssh", protocol: "TCP", type: "INGRESS", portRangeStart: 22, portRangeEnd: 22 };
const flow = { name: "refused", action: "REJECTED", direction: "INGRESS", bucket: "flow-logs" };
const fieldsOf = (spec: object, item: unknown) => compare(spec, item).drift.map(({ field }) => field);

describe("a group as the platform may show it is up to date", () => {
  const volume = { name: "root", size: 10, imageAlias: "ubuntu:latest" };

  it.each([
    ["as it was sent", {}],
    ["with a processor family that the platform picked", { replica: { cpuFamily: "INTEL_SKYLAKE" } }],
    [
      "with null for what was left out",
      {
        replica: { cpuFamily: null, availabilityZone: null },
        nic: { dhcp: null, targetGroup: null, firewallRules: null },
        volume: { bus: null, bootOrder: null, sshKeys: null, userData: null, image: null },
      },
    ],
    ["with a range in seconds", { policy: { range: "PT300S" } }],
    ["with cooldowns in other units", { scaleIn: { cooldownPeriod: "PT300S" }, scaleOut: { cooldownPeriod: "600s" } }],
    ["without its termination policy", { scaleIn: { terminationPolicy: null } }],
    ["with the image behind the alias", { volume: { image: "0d4f97f0-1689-11ef-97ce-525400f64d8d" } }],
    ["with fields that spec does not know", { volume: { backupunitId: "b" } }],
    [
      "with a firewall and flow logs that spec leaves alone",
      { nic: { firewallType: "EGRESS", firewallRules: [rule], flowLogs: [flow] } },
    ],
    ["with a target of its own", { properties: { targetReplicaCount: 3, location: "de/txl" } }],
  ])("%s", (_, parts) => {
    expect(compare(group(), groupItem(group(), parts))).toEqual({ drift: [] });
  });

  it.each([
    ["SSD Premium", "SSD_PREMIUM"],
    ["SSD_PREMIUM", "SSD Premium"],
    ["SSD", "SSD_PREMIUM"],
    ["SSD Premium", "SSD"],
    ["SSD Standard", "SSD_STANDARD"],
    ["SSD_STANDARD", "SSD Standard"],
    ["HDD", "HDD"],
  ])("with the volume type %s spelt %s", (wanted, found) => {
    const spec = group({}, { volumes: [{ ...volume, type: wanted }] });
    expect(compare(spec, groupItem(spec, { volume: { type: found } }))).toEqual({ drift: [] });
  });

  it("with the members of its lists in another order", () => {
    const nics = [
      { name: "a", lan: 1 },
      { name: "b", lan: 2 },
    ];
    const item = groupItem(group({}, { nics: nics.toReversed() }));
    expect(compare(group({}, { nics }), item)).toEqual({ drift: [] });
  });

  it("where spec has nothing but the identity and only observes", () => {
    const observe = { datacenterRef: { name: "berlin" }, externalId: "group-1", managementPolicy: "Observe" };
    expect(compare(observe, groupItem(group()), inputs({ observed: true }))).toEqual({ drift: [] });
  });
});

describe("a difference is told by the field of spec", () => {
  const nic = { name: "private", lan: 2 };
  const target = { targetGroupId: "72e73b81-8551-4e74-b398-fc63b39994af", port: 80 };
  const volume = { name: "root", size: 10, type: "SSD Premium", imageAlias: "ubuntu:latest" };
  const policy = (change: object) => group({}, {}, change);
  const scaleInAction = { amount: 1, deleteVolumes: true };

  it.each([
    ["name", group({ name: "other" })],
    ["minReplicas", group({ minReplicas: 3 })],
    ["maxReplicas", group({ maxReplicas: 6 })],
    ["policy.metric", policy({ metric: "INSTANCE_NETWORK_IN_BYTES" })],
    ["policy.range", policy({ range: "6m" })],
    ["policy.unit", policy({ unit: "PER_HOUR" })],
    ["policy.scaleInThreshold", policy({ scaleInThreshold: 30 })],
    ["policy.scaleOutThreshold", policy({ scaleOutThreshold: 90.5 })],
    ["policy.scaleInAction.amount", policy({ scaleInAction: { ...scaleInAction, amount: 2 } })],
    ["policy.scaleInAction.amountType", policy({ scaleInAction: { ...scaleInAction, amountType: "PERCENTAGE" } })],
    ["policy.scaleInAction.cooldownPeriod", policy({ scaleInAction: { ...scaleInAction, cooldownPeriod: "6m" } })],
    [
      "policy.scaleInAction.terminationPolicy",
      policy({ scaleInAction: { ...scaleInAction, terminationPolicy: "RANDOM" } }),
    ],
    ["policy.scaleInAction.deleteVolumes", policy({ scaleInAction: { ...scaleInAction, deleteVolumes: false } })],
    [
      "policy.scaleOutAction.amount",
      policy({ scaleOutAction: { amount: 60, amountType: "PERCENTAGE", cooldownPeriod: "10m" } }),
    ],
    ["replica.cores", group({}, { cores: 4 })],
    ["replica.ram", group({}, { ram: 4096 })],
    ["replica.cpuFamily", group({}, { cpuFamily: "INTEL_ICELAKE" })],
    ["replica.availabilityZone", group({}, { availabilityZone: "ZONE_1" })],
    ["replica.nics[private].lan", group({}, { nics: [{ ...nic, lan: 3 }] })],
    ["replica.nics[private].dhcp", group({}, { nics: [{ ...nic, dhcp: false }] })],
    ["replica.nics[second]", group({}, { nics: [nic, { name: "second", lan: 3 }] })],
    ["replica.nics[private]", group({}, { nics: [] })],
    ["replica.volumes[root].size", group({}, { volumes: [{ ...volume, size: 20 }] })],
    ["replica.volumes[root].type", group({}, { volumes: [{ ...volume, type: "HDD" }] })],
    ["replica.volumes[root].imageAlias", group({}, { volumes: [{ ...volume, imageAlias: "debian:latest" }] })],
    ["replica.volumes[root].bootOrder", group({}, { volumes: [{ ...volume, bootOrder: "PRIMARY" }] })],
    ["replica.volumes[root].bus", group({}, { volumes: [{ ...volume, bus: "IDE" }] })],
    ["replica.volumes[root].sshKeys", group({}, { volumes: [{ ...volume, sshKeys: ["ssh-rsa AAAA"] }] })],
    ["replica.volumes[root].userData", group({}, { volumes: [{ ...volume, userData: "IyEvYmluL3No" }] })],
    ["replica.volumes[root]", group({}, { volumes: [] })],
  ])("%s", (field, wanted) => {
    expect(fieldsOf(wanted, groupItem(group()))).toEqual([field]);
  });

  it("replica.nics[].targetGroup, by which new replicas join a load balancer, and leave it again", () => {
    const joined = group({}, { nics: [{ ...nic, targetGroup: target }] });
    const at = "replica.nics[private].targetGroup";
    expect(fieldsOf(joined, groupItem(group()))).toEqual([`${at}.targetGroupId`, `${at}.port`, `${at}.weight`]);
    expect(fieldsOf(joined, groupItem(joined))).toEqual([]);
    expect(fieldsOf(group(), groupItem(joined))).toEqual([at]);
  });

  const web = { name: "web", protocol: "TCP", portRangeStart: 443, portRangeEnd: 443, sourceIp: "2001:DB8::1" };
  const log = { name: "refused", action: "Rejected", direction: "Ingress", bucket: "flow-logs" };
  const guarded = (change: object = {}, flow: object = {}, rule: object = {}) => {
    const firewall = { firewallActive: true, firewallRules: [{ ...web, ...rule }], flowLogs: [{ ...log, ...flow }] };
    return group({}, { nics: [{ ...nic, ...firewall, ...change }] });
  };

  it.each([
    ["firewallActive", guarded({ firewallActive: false })],
    ["firewallType", guarded({ firewallType: "EGRESS" })],
    ["firewallRules[web].portRangeEnd", guarded({}, {}, { portRangeEnd: 444 })],
    ["firewallRules[web].sourceIp", guarded({}, {}, { sourceIp: undefined })],
    ["firewallRules[web].type", guarded({}, {}, { type: "EGRESS" })],
    ["firewallRules[web]", guarded({ firewallRules: [] })],
    ["flowLogs[refused].action", guarded({}, { action: "Any" })],
    ["flowLogs[refused].bucket", guarded({}, { bucket: "flow-logs/web" })],
    ["flowLogs[refused]", guarded({ flowLogs: [] })],
  ])("replica.nics[private].%s", (field, wanted) => {
    expect(fieldsOf(wanted, groupItem(guarded()))).toEqual([`replica.nics[private].${field}`]);
  });

  it("but not by another spelling of a rule, nor by what the platform fills in", () => {
    const shown = { ...web, sourceIp: "2001:db8:0::1", type: "INGRESS", ipVersion: "IPv6", icmpType: null };
    expect(fieldsOf(guarded(), groupItem(guarded(), { nic: { firewallRules: [shown] } }))).toEqual([]);
  });

  it("with members that are missing or too many as such", () => {
    const wanted = group({}, { nics: [{ name: "public", lan: 1 }] });
    expect(compare(wanted, groupItem(group())).drift).toEqual([
      { field: "replica.nics[public]", wanted: "present", found: "absent" },
      { field: "replica.nics[private]", wanted: "absent", found: "present" },
    ]);
  });

  it("without the first-boot data itself", () => {
    const configured = (userData: string) =>
      group({}, { volumes: [{ ...volume, userData, sshKeys: ["ssh-rsa AAAA"] }] });
    const [before, after] = [configured("IyEvYmluL3No"), configured("IyEvYmluL2Jhc2g=")];
    const { drift } = compare(after, groupItem(before));
    expect(drift).toHaveLength(1);
    expect(JSON.stringify(drift)).not.toContain("IyEv");
    expect(drift[0]?.wanted).not.toBe(drift[0]?.found);
  });

  it("and another datacenter, which no write can change", () => {
    const item = groupItem(group(), { properties: { datacenter: { id: "dc-2" } } });
    expect(compare(group(), item)).toEqual({ drift: [{ field: "datacenterRef", wanted: "dc-1", found: "dc-2" }] });
  });
});

describe("a change", () => {
  it("is one PUT with all properties, and without what only the platform sets", () => {
    const item = groupItem(group(), { properties: { location: "de/txl", targetReplicaCount: 3 } });
    const grown = group({ maxReplicas: 9 });
    const { next } = compare(grown, item);
    expect(sent(next)).toStrictEqual({ action: "update", method: "PUT", path: "/groups/group-1" });
    expect(sent(bodyOf(next, inputs()))).toStrictEqual(sent(mapping.desire(grown).body(inputs())));
  });

  it("keeps what spec does not say or cannot say", () => {
    const foreign = {
      replica: { cpuFamily: "INTEL_SKYLAKE" },
      nic: { firewallType: "EGRESS", firewallRules: [rule], flowLogs: [flow] },
      volume: { backupunitId: "unit-1" },
    };
    const { next } = compare(group({ maxReplicas: 9 }), groupItem(group(), foreign));
    expect(bodyOf(next, inputs())).toMatchObject({
      properties: {
        replicaConfiguration: {
          cpuFamily: "INTEL_SKYLAKE",
          nics: [{ name: "private", lan: 2, ...foreign.nic }],
          volumes: [{ name: "root", backupunitId: "unit-1" }],
        },
      },
    });
  });

  it("from an alias to an image does not send both", () => {
    const image = "72e73b81-8551-4e74-b398-fc63b39994af";
    const wanted = group({}, { volumes: [{ name: "root", size: 10, type: "SSD Premium", image }] });
    const { next } = compare(wanted, groupItem(group()));
    expect(sent(bodyOf(next, inputs()))).toStrictEqual(sent(mapping.desire(wanted).body(inputs())));
  });

  it("of what replicas are made of says that those which are there stay as they are", () => {
    const item = groupItem(group(), { servers: 2 });
    expect(compare(group({}, { cores: 4 }), item).next?.note).toBe(
      "the change of replica applies to new replicas only; 2 existing ones keep the old template",
    );
    expect(compare(group({ maxReplicas: 9 }), item).next).not.toHaveProperty("note");
    expect(compare(group({}, { cores: 4 }), groupItem(group())).next).not.toHaveProperty("note");
  });

  it("is never made of a group that is only observed", () => {
    const { drift, next } = compare(group({ maxReplicas: 9 }), groupItem(group()), inputs({ observed: true }));
    expect(drift).toEqual([{ field: "maxReplicas", wanted: "9", found: "5" }]);
    expect(next).toBeUndefined();
  });
});
