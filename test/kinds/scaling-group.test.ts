import { describe, expect, it } from "vitest";
import { scalingGroup } from "../../src/kinds/compute/scaling-group/scaling-group.ts";
import { group, groupItem } from "./groups.ts";
import { inputs, mapped, sent } from "./mapped.ts";

const mapping = mapped(scalingGroup);
const bodyOf = (spec: object, given = inputs()) => sent(mapping.desire(spec).body(given));

describe("the body that creates a group", () => {
  it("has everything in the platform's words, durations as ISO 8601", () => {
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
          nics: [{ name: "private", lan: 2, dhcp: true }],
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

  it("is told apart from others by what the platform shows as well", () => {
    expect(mapping.identity.echo?.(groupItem(group()))).toEqual(mapping.identity.echo?.(bodyOf(group())));
    expect(mapping.identity.echo?.(bodyOf(group({ name: "other" })))).not.toEqual(
      mapping.identity.echo?.(bodyOf(group())),
    );
  });
});

describe("what is wrong with a group before the platform sees it", () => {
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

  it("and not wise: more than 100 replicas", () => {
    const advice = (maxReplicas: number) => mapping.desire(group({ maxReplicas })).advice(inputs());
    expect(advice(101)).toEqual(["maxReplicas 101: more than 100 replicas is not recommended"]);
    expect(advice(100)).toEqual([]);
  });
});
