import { describe, expect, it } from "vitest";
import { datacenter } from "../../src/kinds/compute/datacenter.ts";
import { server } from "../../src/kinds/compute/server/server.ts";
import { snapshot } from "../../src/kinds/compute/snapshot.ts";
import { volume } from "../../src/kinds/compute/volume/volume.ts";
import { defaultAdvice, lackingProblem } from "../../src/kinds/fields/lacking.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import { logPipeline } from "../../src/kinds/observability/log-pipeline.ts";
import { metricPipeline } from "../../src/kinds/observability/metric-pipeline.ts";
import { kafkaCluster } from "../../src/kinds/streaming/kafka-cluster.ts";
import { inputs, mapped } from "./mapped.ts";

const home = { datacenterRef: { name: "berlin" } };
const template = "72e73b81-8551-4e74-b398-fc63b39994af";
const disk = { name: "theirs", size: 50, type: "SSD", availabilityZone: "ZONE_2", bus: "IDE", licenceType: "LINUX" };
const machine = {
  id: "srv-1",
  properties: { name: "theirs", type: "CUBE", cores: 4, ram: 4096, templateUuid: template, availabilityZone: "ZONE_2" },
  entities: {
    volumes: { items: [{ id: "vol-1", properties: { name: "os", type: "HDD", size: 50 } }] },
    nics: { items: [] },
  },
};
const cluster = { name: "theirs", version: "3.9.0", size: "S", connections: [{ datacenterId: "dc", lanId: "1" }] };

const compare = (kind: Kind, spec: object, item: object, given: object) =>
  mapped(kind)
    .desire(spec)
    .compare(item, inputs({ parents: {}, ...given }));

describe("of a resource that was there before its object, nothing is compared that spec leaves out", () => {
  it.each([
    ["a Server", server, home, machine],
    ["a Volume", volume, home, { id: "vol-1", properties: disk }],
    ["a Datacenter", datacenter, {}, { id: "dc-1", properties: { name: "theirs", location: "de/fra" } }],
    ["a KafkaCluster", kafkaCluster, {}, { id: "kc-1", properties: cluster }],
    ["a MetricPipeline", metricPipeline, {}, { id: "mp-1", properties: { name: "theirs" } }],
  ])("%s", (_, kind, spec, item) => {
    for (const given of [{ adopted: true }, { observed: true }]) {
      expect(compare(kind, spec, item, given)).toEqual({ drift: [] });
    }
    expect(compare(kind, spec, item, {}).drift).toContainEqual({ field: "name", wanted: "web", found: "theirs" });
  });
});

describe("a creation-only field is compared if spec has it: with the record, if Mooring created the resource", () => {
  const bootVolume = { size: 50, type: "SSD Premium", imageAlias: "ubuntu:latest" };
  it.each([
    ["the model", { type: "VCPU" }, { field: "type", wanted: "VCPU", found: "CUBE" }],
    ["the zone", { availabilityZone: "ZONE_1" }, { field: "availabilityZone", wanted: "ZONE_1", found: "ZONE_2" }],
    [
      "the template",
      { type: "CUBE", templateUuid: "864c2c89-ea4d-4bf9-9a27-9acfeb436666" },
      {
        field: "templateUuid",
        wanted: "864c2c89-ea4d-4bf9-9a27-9acfeb436666",
        found: template.toLowerCase(),
      },
    ],
    [
      "the technology of its boot volume",
      { bootVolume },
      { field: "bootVolume.type", wanted: "SSD Premium", found: "HDD" },
    ],
  ])("%s of a Server", (_, spec, drift) => {
    expect(compare(server, { ...home, ...spec }, machine, { adopted: true })).toEqual({ drift: [drift] });
    expect(compare(server, { ...home, name: "theirs", ...spec }, machine, {})).toEqual({ drift: [] });
  });

  it("a template in another spelling is the same", () => {
    const spec = { ...home, type: "CUBE", templateUuid: template.toUpperCase() };
    expect(compare(server, spec, machine, { adopted: true })).toEqual({ drift: [] });
  });

  it("the licence of a Volume", () => {
    const item = { id: "vol-1", properties: disk };
    const spec = { ...home, licenceType: "OTHER", type: "SSD Premium" };
    const drift = [{ field: "licenceType", wanted: "OTHER", found: "LINUX" }];
    expect(compare(volume, spec, item, { adopted: true })).toEqual({ drift });
    expect(compare(volume, { ...spec, name: "theirs" }, item, {})).toEqual({ drift: [] });
  });
});

describe("a value that spec leaves out and only the adopted resource has", () => {
  it("is said while it is there: the model of a Server", () => {
    const advised = (type: string, given: object) =>
      defaultAdvice({ kind: server, object: { spec: { type } } }, inputs({ shown: { type: "CUBE" }, ...given }));
    const advice = /^type is CUBE on the platform, and spec leaves it out: set it, because .* would be ENTERPRISE/;
    expect(advised("ENTERPRISE", { adopted: true })).toEqual([expect.stringMatching(advice)]);
    expect([advised("CUBE", { adopted: true }), advised("ENTERPRISE", {})]).toEqual([[], []]);
  });

  it("is asked for when it is gone: the model of a Server", () => {
    const adopted = { id: "srv-1", adoptedAt: "2026-01-01T00:00:00Z" };
    const problem = (
      claim?: { id: string; adoptedAt?: string },
      type = "ENTERPRISE",
      shown: object = { type: "VCPU" },
    ) => lackingProblem(server, { type, cores: 1, ram: 1024, availabilityZone: "AUTO" }, { ...shown }, claim);
    expect(problem(adopted)).toBe(
      "type of the adopted Server was VCPU, and spec leaves it to the default: set type to what a new one is to have, or leave it for ENTERPRISE",
    );
    expect(problem(adopted, "ENTERPRISE", {})).toMatch(/^type of the adopted Server is not known any more, and spec/);
    expect([problem(adopted, "VCPU"), problem({ id: "srv-1" }), problem()]).toEqual([undefined, undefined, undefined]);
  });

  it("is asked for at once, with the size: of a Server that is known by nothing but its id", () => {
    const shown = { type: "VCPU", cores: 2, ram: 2048 };
    const adopted = { id: "srv-1", adoptedAt: "2026-01-01T00:00:00Z" };
    expect(lackingProblem(server, { type: "ENTERPRISE" }, shown, adopted)).toMatch(
      /^cores and ram are required to create this Server; .* had cores 2 and ram 2048; type of the adopted Server was VCPU/,
    );
    expect(lackingProblem(server, { type: "CUBE" }, shown, adopted)).toBeUndefined();
  });

  it("is missing for a new one: one of the sources of a Snapshot", () => {
    const needed = lackingProblem(snapshot, { externalId: "snap" }, {});
    expect(needed).toMatch(
      /^volumeRef or serverRef or volumeId is required to create this Snapshot; spec leaves it out/,
    );
    expect(lackingProblem(snapshot, { volumeRef: { name: "data" } }, {})).toBeUndefined();
  });
});

describe("members of a list keep what spec leaves out of them", () => {
  const properties = { name: "eth0", lan: 2, dhcp: false, firewallActive: true };
  const nics = { items: [{ id: "nic-1", properties }] };
  const guarded = { ...machine, entities: { ...machine.entities, nics } };
  const nic = (fields: object) => ({ ...home, name: "theirs", nics: [{ name: "eth0", lan: 2, ...fields }] });
  const switchedOff = { field: "nics[eth0].firewallActive", wanted: "false", found: "true" };

  it("the firewall and the DHCP of a NIC", () => {
    expect(compare(server, nic({}), guarded, { adopted: true })).toEqual({ drift: [] });
    const stated = compare(server, nic({ firewallActive: false }), guarded, { adopted: true });
    expect(stated.drift).toEqual([switchedOff]);
    expect(compare(server, nic({}), guarded, {}).drift).toContainEqual(switchedOff);
  });

  it("the retention of a stream", () => {
    const log = { source: "docker", tag: "app", protocol: "http" };
    for (const retentionInDays of [7, 0]) {
      const stream = { ...log, destinations: [{ type: "loki", retentionInDays }] };
      const item = { id: "lp-1", properties: { name: "theirs", logs: [stream] } };
      const drift = [{ field: "logs[app].retentionInDays", wanted: "30", found: `${retentionInDays}` }];
      expect(compare(logPipeline, { logs: [log] }, item, { adopted: true })).toEqual({ drift: [] });
      expect(compare(logPipeline, { name: "theirs", logs: [log] }, item, {}).drift).toEqual(drift);
    }
  });

  it("the firewall that advice is about is that on the platform", () => {
    const advised = (given: object) =>
      mapped(server)
        .desire(nic({ firewallRules: [{ name: "ssh", protocol: "TCP" }] }))
        .advice(inputs({ parents: {}, shown: { nics: [properties] }, ...given }));
    expect(advised({ adopted: true })).toEqual([]);
    expect(advised({})).toEqual([expect.stringContaining("have no effect while firewallActive is false")]);
  });
});

it("a server that is a Cube is resumed, whatever spec calls it", () => {
  const suspended = { ...machine, properties: { ...machine.properties, vmState: "SUSPENDED" } };
  const { next } = compare(server, { ...home, powerState: "Running" }, suspended, { adopted: true });
  expect(next).toMatchObject({ action: "resume" });
});
