import { describe, expect, it } from "vitest";
import { server } from "../../../../src/kinds/compute/server/server.ts";
import { inputs, mapped, sent } from "../../mapped.ts";

const mapping = mapped(server);
const template = "72e73b81-8551-4e74-b398-fc63b39994af";
const bodyOf = (spec: object, given = inputs()) =>
  sent(mapping.desire({ datacenterRef: { name: "berlin" }, ...spec }).body(given));

describe("the body that creates a server", () => {
  it("of a Dedicated Core server, with everything", () => {
    const spec = {
      name: "front",
      hostname: "front-1",
      cores: 4,
      ram: 4096,
      cpuFamily: "INTEL_ICELAKE",
      availabilityZone: "ZONE_1",
      powerState: "Stopped",
      bootVolume: {
        name: "os",
        size: 20,
        type: "SSD Premium",
        imageAlias: "ubuntu:latest",
        sshKeys: ["ssh-ed25519 AAAA"],
        userData: "I2Nsb3VkLWNvbmZpZw==",
        bus: "VIRTIO",
      },
      nics: [{ name: "n0", lan: 1, dhcp: false, ips: ["203.0.113.7"], firewallActive: true }],
    };
    expect(bodyOf(spec)).toStrictEqual({
      properties: {
        name: "front",
        hostname: "front-1",
        type: "ENTERPRISE",
        availabilityZone: "ZONE_1",
        cores: 4,
        ram: 4096,
        cpuFamily: "INTEL_ICELAKE",
      },
      entities: {
        volumes: { items: [{ properties: spec.bootVolume }] },
        nics: { items: [{ properties: spec.nics[0] }] },
      },
    });
  });

  it("of a vCPU server, with nothing but its size", () => {
    expect(bodyOf({ type: "VCPU", cores: 2, ram: 2048 })).toStrictEqual({
      properties: { name: "web", type: "VCPU", availabilityZone: "AUTO", cores: 2, ram: 2048 },
      entities: {},
    });
  });

  it("of a Cube: a template instead of a size, and a volume of type DAS without one", () => {
    const spec = { type: "CUBE", templateUuid: template, bootVolume: { licenceType: "LINUX" } };
    expect(bodyOf(spec)).toStrictEqual({
      properties: { name: "web", type: "CUBE", availabilityZone: "AUTO", templateUuid: template },
      entities: { volumes: { items: [{ properties: { name: "web-boot", type: "DAS", licenceType: "LINUX" } }] } },
    });
  });

  it("names the boot volume after the server", () => {
    const volume = { size: 10, type: "HDD", imageAlias: "debian:12" };
    expect(bodyOf({ name: "front", cores: 1, ram: 256, bootVolume: volume })).toMatchObject({
      entities: { volumes: { items: [{ properties: { ...volume, name: "front-boot" } }] } },
    });
  });

  it("gives each NIC the defaults of its fields", () => {
    expect(bodyOf({ cores: 1, ram: 256, nics: [{ name: "n0", lan: 3 }] })).toMatchObject({
      entities: { nics: { items: [{ properties: { name: "n0", lan: 3, dhcp: true, firewallActive: false } }] } },
    });
  });
});

describe("user data out of a Secret", () => {
  const spec = {
    cores: 1,
    ram: 256,
    bootVolume: { size: 10, type: "HDD", imageAlias: "debian:12", userDataSecretRef: { name: "init" } },
  };

  it("is asked for by name and key", () => {
    expect(mapping.desire(spec).secrets).toEqual([
      { field: "bootVolume.userDataSecretRef", kind: "Secret", name: "init", key: "userData" },
    ]);
  });

  it("goes to the platform in base64, and the reference does not", () => {
    const secrets = { "bootVolume.userDataSecretRef": "#cloud-config\nhostname: büro\n" };
    const properties = { name: "web-boot", size: 10, type: "HDD", imageAlias: "debian:12" };
    expect(bodyOf(spec, inputs({ secrets }))).toMatchObject({
      entities: {
        volumes: {
          items: [{ properties: { ...properties, userData: "I2Nsb3VkLWNvbmZpZwpob3N0bmFtZTogYsO8cm8K" } }],
        },
      },
    });
    expect(JSON.stringify(bodyOf(spec, inputs({ secrets })))).not.toContain("userDataSecretRef");
  });

  it("is not asked for where spec has none", () => {
    expect(mapping.desire({ cores: 1, ram: 256 }).secrets).toEqual([]);
  });
});

describe("the datacenter of a server", () => {
  it.each([
    [{ datacenterRef: { name: "berlin" } }, { name: "berlin" }],
    [{ datacenterId: template }, { id: template }],
  ])("of %j is %j", (spec, target) => {
    expect(mapping.desire({ ...spec, cores: 1, ram: 256 }).references).toEqual([
      { role: "datacenter", kind: "Datacenter", field: "datacenterRef", target },
    ]);
  });

  it("is where the servers are listed", () => {
    expect(mapping.place.collection({ datacenter: "dc-1" })).toBe("/datacenters/dc-1/servers");
  });
});

it("a server takes its own boot volume along when it is deleted, and without one nothing", () => {
  const spec = { datacenterRef: { name: "berlin" }, cores: 1, ram: 256 };
  const bootVolume = { size: 10, type: "HDD", imageAlias: "debian:12" };
  expect(mapping.desire({ ...spec, bootVolume }).query).toBe("?deleteVolumes=true");
  expect(mapping.desire(spec).query).toBe("");
});
