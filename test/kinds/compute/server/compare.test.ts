import { describe, expect, it } from "vitest";
import { server } from "../../../../src/kinds/compute/server/server.ts";
import type { Operation } from "../../../../src/kinds/desired.ts";
import { inputs, mapped, sent } from "../../mapped.ts";
import { createServer, type PlatformServer } from "./platform-server.ts";

const mapping = mapped(server);
const dedicated = {
  datacenterRef: { name: "berlin" },
  cores: 4,
  ram: 4096,
  bootVolume: {
    size: 20,
    type: "SSD Premium",
    imageAlias: "ubuntu:latest",
    userData: "IyEvYmluL3No",
    sshKeys: ["ssh-rsa AAAA"],
  },
  nics: [
    { name: "public", lan: 1 },
    { name: "private", lan: 2, dhcp: false, ips: ["10.0.0.7"] },
  ],
};
const vcpu = { datacenterRef: { name: "berlin" }, type: "VCPU", cores: 2, ram: 2048 };
const cube = {
  datacenterRef: { name: "berlin" },
  type: "CUBE",
  templateUuid: "72e73b81-8551-4e74-b398-fc63b39994af",
  bootVolume: { imageAlias: "ubuntu:latest" },
};

/** The server that was created from `spec`, optionally changed by somebody else. */
function created(spec: object, since?: (found: PlatformServer) => void): PlatformServer {
  const found = createServer(sent(mapping.desire(spec).body(inputs())));
  since?.(found);
  return found;
}

const compare = (spec: object, found: PlatformServer) => mapping.desire(spec).compare(found.item(), inputs());
const nextOf = (spec: object, found: PlatformServer) => compare(spec, found).next;
const own = "/datacenters/dc-1/servers/srv-1";
const update = (path: string, body: object): Operation => ({ action: "update", method: "PATCH", path, body });

describe("a server as the platform echoes it", () => {
  it.each([
    ["a Dedicated Core server", dedicated],
    ["a vCPU server", vcpu],
    ["a Cube", cube],
    [
      "a server whose volume is named",
      { ...dedicated, bootVolume: { ...dedicated.bootVolume, name: "os", bus: "IDE" } },
    ],
    ["a server that leaves the addresses to the platform", { ...dedicated, nics: [{ name: "n", lan: 1, ips: [] }] }],
    ["a server with an empty list of NICs", { ...vcpu, nics: [] }],
    ["a server with a processor family", { ...dedicated, cpuFamily: "AMD_EPYC" }],
  ])("%s is up to date", (_, spec) => {
    expect(compare(spec, created(spec))).toEqual({ drift: [] });
  });

  it.each([
    ["addresses are null", (found: PlatformServer) => Object.assign(found.nics[0]?.properties ?? {}, { ips: null })],
    [
      "addresses are an empty list",
      (found: PlatformServer) => Object.assign(found.nics[0]?.properties ?? {}, { ips: [] }),
    ],
    ["the machine has no state yet", (found: PlatformServer) => Object.assign(found.properties, { vmState: null })],
    [
      "a further volume is there",
      (found: PlatformServer) => found.volumes.push({ id: "vol-9", properties: { name: "data", size: 500 } }),
    ],
  ])("is up to date while %s", (_, since) => {
    expect(compare(dedicated, created(dedicated, since))).toEqual({ drift: [] });
  });
});

describe("a change of spec becomes one PATCH of what it concerns", () => {
  const volume = (fields: object) => ({ bootVolume: { ...dedicated.bootVolume, ...fields } });
  const publicNic = (fields: object) => ({ nics: [{ name: "public", lan: 1, ...fields }, dedicated.nics[1]] });

  it.each([
    ["name", { name: "front" }, own, { name: "front" }],
    ["cores", { cores: 8 }, own, { cores: 8 }],
    ["ram", { ram: 8192 }, own, { ram: 8192 }],
    ["cpuFamily", { cpuFamily: "INTEL_ICELAKE" }, own, { cpuFamily: "INTEL_ICELAKE" }],
    ["all of them together", { name: "front", cores: 8, ram: 8192 }, own, { name: "front", cores: 8, ram: 8192 }],
    ["bootVolume.size", volume({ size: 30 }), "/datacenters/dc-1/volumes/vol-0", { size: 30 }],
    ["bootVolume.name", volume({ name: "os" }), "/datacenters/dc-1/volumes/vol-0", { name: "os" }],
    ["bootVolume.bus", volume({ bus: "IDE" }), "/datacenters/dc-1/volumes/vol-0", { bus: "IDE" }],
    ["nics[].lan", publicNic({ lan: 5 }), `${own}/nics/nic-0`, { lan: 5 }],
    ["nics[].dhcp", publicNic({ dhcp: false }), `${own}/nics/nic-0`, { dhcp: false }],
    ["nics[].ips", publicNic({ ips: ["10.0.0.9"] }), `${own}/nics/nic-0`, { ips: ["10.0.0.9"] }],
    ["nics[].firewallActive", publicNic({ firewallActive: true }), `${own}/nics/nic-0`, { firewallActive: true }],
  ])("%s", (_, change, path, body) => {
    expect(nextOf({ ...dedicated, ...change }, created(dedicated))).toEqual(update(path, body));
  });

  it("and is told field by field, with what is there", () => {
    const spec = { ...dedicated, cores: 8, ...volume({ size: 30 }), ...publicNic({ dhcp: false }) };
    expect(compare(spec, created(dedicated)).drift).toEqual([
      { field: "cores", wanted: "8", found: "4" },
      { field: "bootVolume.size", wanted: "30", found: "20" },
      { field: "nics[public].dhcp", wanted: "false", found: "true" },
    ]);
  });

  it("pairs NICs by name, in whatever order the platform lists them", () => {
    const found = created(dedicated, ({ nics }) => nics.reverse());
    expect(nextOf({ ...dedicated, ...publicNic({ lan: 5 }) }, found)).toEqual(update(`${own}/nics/nic-0`, { lan: 5 }));
  });
});

describe("the order of steps", () => {
  it("is server, volume, NICs, power; one write at a time", () => {
    const wanted = {
      ...dedicated,
      cores: 8,
      bootVolume: { ...dedicated.bootVolume, size: 30 },
      nics: dedicated.nics.map((nic) => ({ ...nic, firewallActive: true })),
      powerState: "Stopped",
    };
    const found = created(dedicated);
    const paths: string[] = [];
    for (let next = nextOf(wanted, found); next; next = nextOf(wanted, found)) {
      found.perform(next);
      paths.push(next.path);
    }
    expect(paths).toEqual([
      own,
      "/datacenters/dc-1/volumes/vol-0",
      `${own}/nics/nic-0`,
      `${own}/nics/nic-1`,
      `${own}/stop`,
    ]);
  });

  it("a suspended Cube that shall run is resumed before anything is changed", () => {
    const found = created(cube, ({ properties }) => Object.assign(properties, { vmState: "SUSPENDED" }));
    expect(nextOf({ ...cube, name: "front", powerState: "Running" }, found)?.action).toBe("resume");
  });

  it("a suspended Cube that stays so keeps its drift, because the platform takes no change", () => {
    const found = created(cube, ({ properties }) => Object.assign(properties, { vmState: "SUSPENDED" }));
    expect(compare({ ...cube, name: "front", powerState: "Suspended" }, found)).toEqual({
      drift: [{ field: "name", wanted: "front", found: "web" }],
    });
  });

  it("a running Cube is changed first and suspended then", () => {
    const wanted = { ...cube, name: "front", powerState: "Suspended" };
    const found = created(cube);
    expect(nextOf(wanted, found)).toEqual({ ...update(own, { name: "front" }), fields: ["name"] });
    found.properties.name = "front";
    expect(nextOf(wanted, found)?.action).toBe("suspend");
  });
});

describe("power", () => {
  it.each([
    { model: "a Dedicated Core server", spec: dedicated, powerState: "Running", vmState: "SHUTOFF", action: "start" },
    { model: "a Dedicated Core server", spec: dedicated, powerState: "Running", vmState: "CRASHED", action: "start" },
    { model: "a Dedicated Core server", spec: dedicated, powerState: "Running", vmState: "PAUSED", action: "start" },
    { model: "a Dedicated Core server", spec: dedicated, powerState: "Stopped", vmState: "RUNNING", action: "stop" },
    { model: "a vCPU server", spec: vcpu, powerState: "Running", vmState: "SHUTOFF", action: "start" },
    { model: "a vCPU server", spec: vcpu, powerState: "Stopped", vmState: "RUNNING", action: "stop" },
    { model: "a Cube", spec: cube, powerState: "Running", vmState: "SUSPENDED", action: "resume" },
    { model: "a Cube", spec: cube, powerState: "Suspended", vmState: "RUNNING", action: "suspend" },
  ])("$model that is $vmState and should be $powerState: $action", ({ spec, powerState, vmState, action }) => {
    const found = created(spec, ({ properties }) => Object.assign(properties, { vmState }));
    expect(compare({ ...spec, powerState }, found)).toEqual({
      drift: [{ field: "powerState", wanted: powerState, found: vmState }],
      next: { action, method: "POST", path: `${own}/${action}` },
    });
  });

  it.each([
    ["Running", "RUNNING"],
    ["Running", "BLOCKED"],
    ["Running", "NOSTATE"],
    ["Stopped", "SHUTOFF"],
    ["Stopped", "SHUTDOWN"],
  ])("%s is true while the machine is %s", (powerState, vmState) => {
    const found = created(vcpu, ({ properties }) => Object.assign(properties, { vmState }));
    expect(compare({ ...vcpu, powerState }, found)).toEqual({ drift: [] });
  });
});

describe("a field that cannot be changed in place is shown and not sent", () => {
  it("a volume that somebody let grow", () => {
    const found = created(dedicated, ({ volumes }) => Object.assign(volumes[0]?.properties ?? {}, { size: 50 }));
    expect(compare(dedicated, found)).toEqual({
      drift: [{ field: "bootVolume.size", wanted: "20", found: "50" }],
    });
  });

  it("a volume that grew does not keep its name from being changed", () => {
    const found = created(dedicated, ({ volumes }) => Object.assign(volumes[0]?.properties ?? {}, { size: 50 }));
    const spec = { ...dedicated, bootVolume: { ...dedicated.bootVolume, name: "os" } };
    expect(nextOf(spec, found)).toEqual({
      ...update("/datacenters/dc-1/volumes/vol-0", { name: "os" }),
      fields: ["bootVolume.name"],
    });
  });

  it("a boot volume that somebody removed", () => {
    const found = created(dedicated, ({ volumes, properties }) => {
      volumes.length = 0;
      properties.bootVolume = null;
    });
    expect(compare(dedicated, found)).toEqual({
      drift: [{ field: "bootVolume", wanted: "present", found: "absent" }],
    });
  });

  it("a data volume is never taken for the boot volume", () => {
    const found = created(dedicated, ({ volumes }) => volumes.splice(0, 1, { id: "data", properties: { size: 5 } }));
    expect(nextOf(dedicated, found)).toBeUndefined();
  });
});
