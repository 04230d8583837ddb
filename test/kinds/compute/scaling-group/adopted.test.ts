import { describe, expect, it } from "vitest";
import { z } from "zod";
import { customResourceDefinition } from "../../../../src/cli/manifests/crd.ts";
import { scalingGroup } from "../../../../src/kinds/compute/scaling-group/scaling-group.ts";
import { misfits } from "../../../../src/kinds/fields/compare.ts";
import { schemaIn } from "../../../../src/plan/schema/objects.ts";
import { withDefaults } from "../../../../src/plan/schema/validate.ts";
import { bodyOf, inputs, mapped, sent } from "../../mapped.ts";
import { group, groupItem } from "./groups.ts";

const mapping = mapped(scalingGroup);
const adopted = inputs({ adopted: true });
const shownSpec = z.object({ spec: z.record(z.string(), z.unknown()) });
const schema = schemaIn(customResourceDefinition(scalingGroup));

/** Spec as the API server stores it. */
const stored = (spec: object) =>
  shownSpec.parse(withDefaults(schema, { apiVersion: "v", kind: "ScalingGroup", metadata: { name: "web" }, spec }))
    .spec;
const compare = (spec: object, item: unknown, given = adopted) => mapping.desire(stored(spec)).compare(item, given);
const fieldsOf = (spec: object, item: unknown, given = adopted) =>
  compare(spec, item, given).drift.map(({ field }) => field);
const replicaIn = (spec: object, item: unknown, given = adopted) =>
  z
    .object({ properties: z.object({ replicaConfiguration: z.looseObject({}) }) })
    .parse(sent(bodyOf(compare(spec, item, given).next, given))).properties.replicaConfiguration;

const policyIn = (spec: object, item: unknown, given = adopted) =>
  z
    .object({ properties: z.object({ policy: z.looseObject({}) }) })
    .parse(sent(bodyOf(compare(spec, item, given).next, given))).properties.policy;

const kept = { amountType: "PERCENTAGE", cooldownPeriod: "PT30M" };
const home = { datacenterRef: { name: "berlin" }, externalId: "72e73b81-8551-4e74-b398-fc63b39994af" };
const ssh = { name: "ssh", protocol: "TCP", type: "INGRESS", portRangeStart: 22, portRangeEnd: 22, ipVersion: "IPv4" };
const flow = { name: "refused", action: "REJECTED", direction: "INGRESS", bucket: "flow-logs" };
const target = { targetGroupId: "72e73b81-8551-4e74-b398-fc63b39994af", port: 80, weight: 50 };
const nic = {
  name: "n1",
  lan: 1,
  dhcp: false,
  firewallActive: true,
  firewallType: "EGRESS",
  firewallRules: [ssh],
  flowLogs: [flow],
  targetGroup: target,
};
const volume = {
  name: "root",
  size: 10,
  type: "SSD_PREMIUM",
  imageAlias: "ubuntu:latest",
  bootOrder: "NONE",
  bus: "IDE",
  sshKeys: ["ssh-rsa AAAA"],
  userData: "IyEvYmluL3No",
};
const template = {
  cores: 1,
  ram: 1024,
  availabilityZone: "ZONE_2",
  cpuFamily: "INTEL_SKYLAKE",
  nics: [nic],
  volumes: [volume],
};
const found = groupItem(group(), { replica: template });
const size = { cores: 2, ram: 2048 };
const of = (replica: object) => ({ ...home, replica: { ...size, ...replica } });
const plainVolume = { name: "root", size: 10, type: "SSD Premium", imageAlias: "ubuntu:latest" };

describe("fields that replica leaves out stay as they are on the platform", () => {
  it("of an adopted group", () => {
    expect(fieldsOf(of({}), found)).toEqual(["replica.cores", "replica.ram"]);
    expect(replicaIn(of({}), found)).toEqual({ ...template, ...size });
  });

  it("of a group that the object has created", () => {
    const { nics: _, volumes: __, ...replica } = group().replica;
    const own = inputs();
    expect(fieldsOf(group({ replica: { ...replica, cores: 4 } }), found, own)).toEqual([
      "replica.cores",
      "replica.ram",
    ]);
    expect(replicaIn(group({ replica: { ...replica, cores: 4 } }), found, own)).toEqual({
      ...template,
      cores: 4,
      ram: 2048,
    });
    const created = sent(mapping.desire(stored(group({ replica: size }))).body(own));
    expect(created).toMatchObject({ properties: { replicaConfiguration: { ...size, availabilityZone: "AUTO" } } });
    expect(JSON.stringify(created)).not.toMatch(/nics|volumes/);
    expect(compare(group({ replica: size }), { id: "group-1", ...Object(created) }, own)).toEqual({ drift: [] });
  });

  it("also of a group that is only observed", () => {
    const watched = inputs({ observed: true });
    expect(fieldsOf({ ...of({}), managementPolicy: "Observe" }, found, watched)).toEqual([
      "replica.cores",
      "replica.ram",
    ]);
  });

  it("also where the platform shows the image behind an alias, which must not be sent with it", () => {
    const shown = { ...template, volumes: [{ ...volume, image: "0d4f97f0-1689-11ef-97ce-525400f64d8d" }] };
    expect(replicaIn(of({}), groupItem(group(), { replica: shown }))).toEqual({ ...template, ...size });
  });

  it("and nothing below replica has a default of the API server", () => {
    expect(stored(of({})).replica).toEqual(size);
  });
});

describe("fields that policy leaves out", () => {
  const stated = { metric: "INSTANCE_CPU_UTILIZATION_AVERAGE", unit: "PERCENTAGE", scaleInThreshold: 20 };
  const policy = { ...stated, scaleOutThreshold: 90, scaleInAction: { amount: 1 }, scaleOutAction: { amount: 2 } };
  const platformPolicy = {
    ...policy,
    scaleOutThreshold: 80,
    range: "PT10M",
    scaleInAction: { ...policy.scaleInAction, ...kept, terminationPolicy: "RANDOM", deleteVolumes: true },
    scaleOutAction: { ...policy.scaleOutAction, ...kept },
  };
  const shown = groupItem(group(), { properties: { policy: platformPolicy } });
  const defaults = { amountType: "ABSOLUTE", cooldownPeriod: "PT5M" };
  const complete = {
    ...policy,
    range: "PT2M",
    scaleInAction: {
      ...policy.scaleInAction,
      ...defaults,
      terminationPolicy: "OLDEST_SERVER_FIRST",
      deleteVolumes: false,
    },
    scaleOutAction: { ...policy.scaleOutAction, ...defaults },
  };

  it("stay as they are on an adopted group", () => {
    expect(fieldsOf({ ...home, policy }, shown)).toEqual(["policy.scaleOutThreshold"]);
    expect(policyIn({ ...home, policy }, shown)).toEqual({ ...platformPolicy, scaleOutThreshold: 90 });
    expect(fieldsOf({ ...home, policy, managementPolicy: "Observe" }, shown, inputs({ observed: true }))).toEqual([
      "policy.scaleOutThreshold",
    ]);
  });

  it("while what it states is changed", () => {
    const scaleInAction = { amount: 1, cooldownPeriod: "5m", deleteVolumes: false };
    expect(policyIn({ ...home, policy: { ...policy, scaleInAction } }, shown)).toEqual({
      ...platformPolicy,
      scaleOutThreshold: 90,
      scaleInAction: { ...platformPolicy.scaleInAction, cooldownPeriod: "PT5M", deleteVolumes: false },
    });
  });

  it("have their defaults in a group that the object has created", () => {
    const own = inputs();
    expect(sent(mapping.desire(stored(group({ policy }))).body(own))).toMatchObject({
      properties: { policy: complete },
    });
    expect(fieldsOf(group({ policy }), shown, own)).toEqual(
      expect.arrayContaining([
        "policy.range",
        "policy.scaleInAction.deleteVolumes",
        "policy.scaleOutAction.cooldownPeriod",
      ]),
    );
    expect(policyIn(group({ policy }), shown, own)).toEqual(complete);
  });
});

describe("fields that a member of a list leaves out stay as they are on an adopted group", () => {
  it.each([
    ["a NIC", { nics: [{ name: "n1", lan: 1 }] }],
    ["a volume", { volumes: [plainVolume] }],
    ["a NIC with its rules", { nics: [{ name: "n1", lan: 1, firewallRules: [{ ...ssh, ipVersion: undefined }] }] }],
    ["a target group", { nics: [{ name: "n1", lan: 1, targetGroup: { ...target, weight: undefined } }] }],
  ])("%s", (_, replica) => {
    expect(fieldsOf(of(replica), found)).toEqual(["replica.cores", "replica.ram"]);
    const { nics, volumes, ...rest } = replicaIn(of(replica), found);
    expect({ ...rest, nics }).toEqual({ ...template, ...size, volumes: undefined });
    const spelt = "volumes" in replica ? [{ ...volume, type: "SSD Premium" }] : [volume];
    expect(volumes).toEqual(spelt);
  });

  it("while what it states is changed", () => {
    const stated = of({ nics: [{ name: "n1", lan: 2 }], volumes: [{ ...plainVolume, bootOrder: "PRIMARY" }] });
    expect(fieldsOf({ ...stated, replica: { ...stated.replica, cores: 1, ram: 1024 } }, found)).toEqual([
      "replica.nics[n1].lan",
      "replica.volumes[root].bootOrder",
    ]);
    expect(replicaIn(stated, found)).toMatchObject({
      nics: [{ ...nic, lan: 2 }],
      volumes: [{ ...volume, type: "SSD Premium", bootOrder: "PRIMARY" }],
    });
  });

  it("and a firewall that is switched off stays off for those that say so", () => {
    const off = of({ nics: [{ name: "n1", lan: 1, firewallActive: false, dhcp: true }] });
    expect(fieldsOf(off, found)).toEqual([
      "replica.cores",
      "replica.ram",
      "replica.nics[n1].dhcp",
      "replica.nics[n1].firewallActive",
    ]);
  });

  it("another source replaces the old one", () => {
    const image = "72e73b81-8551-4e74-b398-fc63b39994af";
    const other = of({ volumes: [{ ...plainVolume, imageAlias: undefined, image }] });
    expect(replicaIn(other, found).volumes).toEqual([{ ...volume, type: "SSD Premium", imageAlias: undefined, image }]);
  });

  it("but a rule is complete: what it leaves out is any", () => {
    const open = of({ nics: [{ name: "n1", lan: 1, firewallRules: [{ name: "ssh", protocol: "TCP" }] }] });
    expect(fieldsOf(open, found)).toContain("replica.nics[n1].firewallRules[ssh].portRangeStart");
    expect(replicaIn(open, found).nics).toEqual([
      { ...nic, firewallRules: [{ name: "ssh", protocol: "TCP", type: "INGRESS" }] },
    ]);
  });

  it("a new member has the defaults", () => {
    const added = { name: "n2", lan: 3, targetGroup: { ...target, weight: undefined } };
    const { nics, volumes } = replicaIn(
      of({ nics: [{ name: "n1", lan: 1 }, added], volumes: [plainVolume, { ...plainVolume, name: "data" }] }),
      found,
    );
    expect(nics).toEqual([nic, { ...added, dhcp: true, firewallActive: false, targetGroup: { ...target, weight: 1 } }]);
    expect(volumes).toEqual([
      { ...volume, type: "SSD Premium" },
      { ...plainVolume, name: "data", bootOrder: "AUTO", bus: "VIRTIO" },
    ]);
  });

  it("but an empty list of keys removes them", () => {
    const emptied = of({ ...size, volumes: [{ ...plainVolume, sshKeys: [] }] });
    expect(fieldsOf(emptied, found)).toContain("replica.volumes[root].sshKeys");
    expect(replicaIn(emptied, found).volumes).toMatchObject([{ sshKeys: [], userData: volume.userData }]);
  });
});

describe("a list that lacks a member", () => {
  const twice = groupItem(group(), { replica: { ...template, nics: [nic, { ...nic, name: "n2" }] } });

  it("is refused at the adoption, and is a removal after it", () => {
    const lacking = of({ nics: [{ name: "n1", lan: 1 }] });
    const { drift } = compare(lacking, twice);
    expect(misfits(scalingGroup, drift).map(({ field }) => field)).toEqual(["replica.nics[n2]"]);
    expect(replicaIn(lacking, twice).nics).toEqual([nic]);
    expect(misfits(scalingGroup, compare(of({ nics: [] }), twice).drift)).toHaveLength(2);
    expect(misfits(scalingGroup, compare(of({}), twice).drift)).toEqual([]);
  });
});

describe("advice about a firewall on an adopted group", () => {
  const advice = (fields: object) =>
    mapping
      .desire(of({ nics: [{ name: "n1", lan: 1, ...fields }] }))
      .advice(adopted)
      .filter((each) => each.startsWith("replica.nics"));

  it("is given where spec has both the switch and the rules", () => {
    expect([advice({}), advice({ firewallActive: true }), advice({ firewallRules: [ssh] })]).toEqual([[], [], []]);
    expect(advice({ firewallActive: true, firewallRules: [] })).toHaveLength(1);
    expect(advice({ firewallActive: false, firewallRules: [ssh] })).toHaveLength(1);
  });
});

describe("advice about the password of an image, which the platform does not show", () => {
  const passwordAdvice = (replica: object, given = adopted) =>
    mapping
      .desire(stored(of(replica)))
      .advice(given)
      .filter((each) => each.includes("imagePasswordSecretRef"));

  it.each([
    ["nothing about volumes", {}],
    ["a volume without any access", { volumes: [plainVolume] }],
  ])("is given on an adopted group whose spec has %s", (_, replica) => {
    expect(passwordAdvice(replica)).toEqual([
      "replica.volumes: the platform does not show the password of an image: if one was set before the adoption, name it in imagePasswordSecretRef, or the first change of the group removes it",
    ]);
    expect(passwordAdvice(replica, inputs())).toEqual([]);
  });

  it.each([
    { imagePasswordSecretRef: { name: "image" } },
    { sshKeys: ["ssh-rsa AAAA"] },
    { userDataSecretRef: { name: "boot" } },
  ])("is not given with another access: %o", (access) => {
    expect(passwordAdvice({ volumes: [{ ...plainVolume, ...access }] })).toEqual([]);
  });
});
