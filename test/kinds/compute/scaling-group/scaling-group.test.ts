import { describe, expect, it } from "vitest";
import { scalingGroup } from "../../../../src/kinds/compute/scaling-group/scaling-group.ts";
import { inputs, mapped, sent } from "../../mapped.ts";
import { group, groupItem } from "./groups.ts";

const mapping = mapped(scalingGroup);
const bodyOf = (spec: object, given = inputs()) => sent(mapping.desire(spec).body(given));

describe("the body that creates a group", () => {
  it("has every field of the platform, durations as ISO 8601", () => {
    expect(bodyOf(group())).toStrictEqual({
      properties: {
        datacenter: { id: "dc-1" },
        name: "web",
        minReplicaCount: 2,
        maxReplicaCount: 5,
        policy: {
          metric: "INSTANCE_CPU_UTILIZATION_AVERAGE",
          range: "PT5M",
          unit: "PERCENTAGE",
          scaleInThreshold: 20,
          scaleOutThreshold: 80,
          scaleInAction: {
            amount: 1,
            amountType: "ABSOLUTE",
            cooldownPeriod: "PT5M",
            terminationPolicy: "OLDEST_SERVER_FIRST",
            deleteVolumes: true,
          },
          scaleOutAction: { amount: 50, amountType: "PERCENTAGE", cooldownPeriod: "PT10M" },
        },
        replicaConfiguration: {
          availabilityZone: "AUTO",
          cores: 2,
          ram: 2048,
          nics: [{ name: "private", lan: 2, dhcp: true, firewallActive: false }],
          volumes: [
            {
              name: "root",
              size: 10,
              type: "SSD Premium",
              imageAlias: "ubuntu:latest",
              bootOrder: "AUTO",
              bus: "VIRTIO",
            },
          ],
        },
      },
    });
  });

  it("asks for 100 replicas at most: more come by a change", () => {
    expect(bodyOf(group({ maxReplicas: 150 }))).toMatchObject({ properties: { maxReplicaCount: 100 } });
    expect(bodyOf(group({ minReplicas: 120, maxReplicas: 150 }))).toMatchObject({
      properties: { minReplicaCount: 100, maxReplicaCount: 100 },
    });
  });

  it("names a Lan by its number", () => {
    const nics = [{ name: "private", lanRef: { name: "back" } }];
    const refs = { "replica.nics[private].lanRef": { id: "7", status: {} } };
    const spec = group({}, { nics });
    expect(mapping.desire(spec).references.slice(1)).toEqual([
      {
        role: "replica.nics[private].lanRef",
        kind: "Lan",
        field: "replica.nics[private].lanRef",
        target: { name: "back" },
        bond: "use",
      },
    ]);
    expect(bodyOf(spec, inputs({ refs }))).toMatchObject({
      properties: { replicaConfiguration: { nics: [{ name: "private", lan: 7, dhcp: true }] } },
    });
    expect(JSON.stringify(bodyOf(spec, inputs({ refs })))).not.toContain("lanRef");
  });

  it("has the firewall and the flow logs of its NICs", () => {
    const web = { name: "web", protocol: "TCP", portRangeStart: 443, portRangeEnd: 443 };
    const flow = { name: "refused", action: "Rejected", direction: "Bidirectional", bucket: "logs/web" };
    const guarded = { firewallActive: true, firewallType: "BIDIRECTIONAL", firewallRules: [web], flowLogs: [flow] };
    const nics = [{ name: "private", lan: 2, ...guarded }];
    expect(bodyOf(group({}, { nics }))).toMatchObject({
      properties: {
        replicaConfiguration: {
          nics: [
            {
              ...guarded,
              firewallRules: [{ ...web, type: "INGRESS" }],
              flowLogs: [{ name: "refused", action: "REJECTED", direction: "BIDIRECTIONAL", bucket: "logs/web" }],
            },
          ],
        },
      },
    });
  });

  it("starts volumes from a Snapshot, which is used for as long as there is the group", () => {
    const role = "replica.volumes[root].snapshotRef";
    const spec = group({}, { volumes: [{ name: "root", size: 10, type: "HDD", snapshotRef: { name: "golden" } }] });
    expect(mapping.desire(spec).references.slice(1)).toEqual([
      { role, kind: "Snapshot", field: role, target: { name: "golden" }, bond: "use" },
    ]);
    const body = bodyOf(spec, inputs({ refs: { [role]: { id: "snap-1", status: {} } } }));
    expect(body).toMatchObject({ properties: { replicaConfiguration: { volumes: [{ image: "snap-1" }] } } });
    expect(JSON.stringify(body)).not.toContain("snapshotRef");
    const elsewhere = { [role]: { id: "snap-1", status: { location: "de/fra" } } };
    const datacenter = { id: "dc-1", status: { location: "de/txl" } };
    expect(mapping.desire(spec).problem(inputs({ refs: { ...elsewhere, datacenter } }))).toMatch(
      "replica.volumes[root].snapshotRef: Snapshot golden is in de/fra",
    );
  });

  it("is told apart from others by what the platform shows as well", () => {
    expect(mapping.identity.echo?.(groupItem(group()))).toEqual(mapping.identity.echo?.(bodyOf(group())));
    expect(mapping.identity.echo?.(bodyOf(group({ name: "other" })))).not.toEqual(
      mapping.identity.echo?.(bodyOf(group())),
    );
  });
});

describe("a mistake in a group is reported before anything is sent:", () => {
  it("a Lan of another datacenter", () => {
    const status = { parents: { datacenter: "dc-2" } };
    const refs = { "replica.nics[private].lanRef": { id: "7", status } };
    const wanted = mapping.desire(group({}, { nics: [{ name: "private", lanRef: { name: "back" } }] }));
    expect(wanted.problem(inputs({ refs }))).toBe(
      "replica.nics[private].lanRef: Lan back is in another datacenter (dc-2): use a Lan in the group's datacenter",
    );
    expect(mapping.desire(group()).problem(inputs())).toBeUndefined();
  });

  it.each([
    ["a cooldown of days", { scaleOutAction: { amount: 1, cooldownPeriod: "P2D" } }, "must be from 2m to 24h"],
    ["a range of no days", { range: "P0D" }, "must be at least 2m"],
  ])("%s", (_, policy, message) => {
    expect(() => mapping.desire(group({}, {}, policy))).toThrow(message);
  });

  it("user data and a password in a Secret that no machine understands", () => {
    const boot = { userDataSecretRef: { name: "boot" }, imagePasswordSecretRef: { name: "boot" } };
    const root = { name: "root", size: 10, type: "HDD", imageAlias: "ubuntu:latest", ...boot };
    const problem = (userData: string, password: string) => {
      const at = "replica.volumes[root].";
      const secrets = { [`${at}userDataSecretRef`]: userData, [`${at}imagePasswordSecretRef`]: password };
      return mapping.desire(group({}, { volumes: [root] })).problem(inputs({ secrets }));
    };
    expect(problem("hello", "abcdefgh")).toMatch(/^replica\.volumes\[root\]\.userDataSecretRef: .* begins with/);
    expect(problem("#!/bin/sh", "short")).toMatch(/^replica\.volumes\[root\]\.imagePasswordSecretRef: .* 8 or more/);
    expect(problem("#!/bin/sh", "abcdefgh")).toBeUndefined();
  });

  const earlyAccess =
    "auto scaling is an early access service of the platform: use it for non-production workloads only";

  it.each([
    ["a rate of the CPU", { unit: "PER_HOUR" }, /^policy\.unit PER_HOUR: .* is a percentage, not a rate/],
    ["a percentage of bytes", { metric: "INSTANCE_NETWORK_IN_BYTES" }, /^policy\.unit PERCENTAGE: .* not a percentage/],
    ["a CPU above 100 percent", { scaleOutThreshold: 100 }, /^policy\.scaleOutThreshold: .* nothing is added/],
    ["a CPU below 0 percent", { scaleInThreshold: 0 }, /^policy\.scaleInThreshold: .* nothing is removed/],
  ])("and not wise: %s", (_, policy, message) => {
    expect(mapping.desire(group({}, {}, policy)).advice(inputs())).toEqual([
      earlyAccess,
      expect.stringMatching(message),
    ]);
  });

  it.each([
    { unit: "TOTAL" },
    { metric: "INSTANCE_NETWORK_IN_BYTES", unit: "PER_SECOND" },
    { metric: "INSTANCE_NETWORK_OUT_PACKETS", unit: "TOTAL", scaleInThreshold: 0 },
  ])("and nothing against %o but that the service is early access", (policy) => {
    expect(mapping.desire(group({}, {}, policy)).advice(inputs())).toEqual([earlyAccess]);
  });

  it("and not wise: a firewall that refuses everything", () => {
    const nics = [{ name: "private", lan: 2, firewallActive: true }];
    expect(mapping.desire(group({}, { nics })).advice(inputs())).toEqual([
      earlyAccess,
      "replica.nics[private].firewallActive: without firewallRules the firewall refuses all traffic",
    ]);
  });

  it("and not wise: more than 100 replicas", () => {
    const advice = (maxReplicas: number) => mapping.desire(group({ maxReplicas })).advice(inputs());
    expect(advice(101)).toEqual([earlyAccess, "maxReplicas 101: more than 100 replicas is not recommended"]);
    expect(advice(100)).toEqual([earlyAccess]);
  });
});
