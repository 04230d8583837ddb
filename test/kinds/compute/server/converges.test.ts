import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { server } from "../../../../src/kinds/compute/server/server.ts";
import { inputs, mapped, sent } from "../../mapped.ts";
import { createServer, type PlatformServer } from "./platform-server.ts";

const mapping = mapped(server);
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const text = fc.constantFrom("a", "b", "c");
const addresses = fc.uniqueArray(fc.constantFrom("10.0.0.1", "10.0.0.2"), { maxLength: 2 });

const rules = fc.uniqueArray(
  fc.record({
    name: text,
    protocol: fc.constantFrom("TCP", "UDP"),
    type: fc.constantFrom("INGRESS", "EGRESS"),
    sourceIp: optional(fc.constantFrom("10.0.0.0/8", "2001:DB8::1")),
  }),
  { maxLength: 2, selector: ({ name }) => name },
);

/** Fields that are immutable. */
const shape = fc.record({
  type: fc.constantFrom("ENTERPRISE", "VCPU", "CUBE"),
  volume: fc.boolean(),
});
type Shape = typeof shape extends fc.Arbitrary<infer T> ? T : never;

/** Fields that may differ between the created, the changed and the desired server. */
const values = fc.record({
  name: optional(text),
  hostname: optional(text),
  cores: fc.integer({ min: 1, max: 60 }),
  ram: fc.integer({ min: 1, max: 920 }).map((steps) => steps * 256),
  cpuFamily: optional(fc.constantFrom("INTEL_SKYLAKE", "AMD_EPYC")),
  on: fc.boolean(),
  volumeName: optional(text),
  size: fc.integer({ min: 1, max: 9 }),
  bus: optional(fc.constantFrom("VIRTIO", "IDE")),
  nics: fc.array(
    optional(
      fc.record({
        lan: fc.integer({ min: 1, max: 3 }),
        dhcp: fc.boolean(),
        ips: optional(addresses),
        firewallActive: fc.boolean(),
        firewallType: optional(fc.constantFrom("INGRESS", "BIDIRECTIONAL")),
        firewallRules: optional(rules),
      }),
    ),
    { minLength: 3, maxLength: 3 },
  ),
  /** Which NIC has which reserved address, in random order. */
  reserved: fc.shuffledSubarray(["203.0.113.1", "203.0.113.2", "203.0.113.3"]),
});
type Values = typeof values extends fc.Arbitrary<infer T> ? T : never;

const nicsOf = ({ nics, reserved }: Values) =>
  nics.flatMap((nic, index) => {
    const ips = [...(nic?.ips ?? []), ...reserved.slice(index, index + 1)];
    return nic ? [{ name: `n${index}`, ...nic, ips: ips.length > 0 ? ips : undefined }] : [];
  });

function specOf({ type, volume }: Shape, wanted: Values): object {
  const cube = type === "CUBE";
  const { name, hostname, cores, ram, cpuFamily, on, volumeName, size, bus } = wanted;
  return {
    datacenterRef: { name: "berlin" },
    type,
    name,
    hostname,
    ...(!cube && { cores, ram }),
    ...(type === "ENTERPRISE" && { cpuFamily }),
    ...(cube && { templateUuid: "72e73b81-8551-4e74-b398-fc63b39994af" }),
    ...((volume || cube) && {
      bootVolume: { name: volumeName, bus, imageAlias: "ubuntu:latest", ...(!cube && { size, type: "HDD" }) },
    }),
    nics: nicsOf(wanted),
    powerState: on ? "Running" : cube ? "Suspended" : "Stopped",
  };
}

/** Somebody else changes everything that the platform allows, adds NICs and removes some. */
function meddle({ type }: Shape, found: PlatformServer, meanwhile: Values): void {
  const { name, hostname, cores, ram, on, size } = meanwhile;
  const cube = type === "CUBE";
  const off = cube ? "SUSPENDED" : "SHUTOFF";
  Object.assign(found.properties, { name, hostname, vmState: on ? "RUNNING" : off }, cube ? {} : { cores, ram });
  for (const { properties } of found.volumes) if (!cube) properties.size = Math.max(Number(properties.size), size);
  const now = nicsOf(meanwhile).map(({ firewallRules = [], ...nic }) => ({
    id: `other-${nic.name}`,
    properties: { ...nic, ips: nic.ips ?? [] },
    entities: { firewallrules: { items: firewallRules.map((properties, n) => ({ id: `rule-${n}`, properties })) } },
  }));
  found.nics.splice(0, found.nics.length, ...now);
}

const create = (spec: object) => createServer(sent(mapping.desire(sent(spec)).body(inputs())));
const compare = (spec: object, found: PlatformServer) => mapping.desire(sent(spec)).compare(found.item(), inputs());

/**
 * The server, its volume, each NIC three times (a move may take its address, or it releases the address first), two new
 * and two removed rules for each, and power.
 */
const MOST_STEPS = 24;

function settle(spec: object, found: PlatformServer) {
  for (let steps = 0; steps <= MOST_STEPS; steps++) {
    const { next, drift } = compare(spec, found);
    if (!next) return drift.map(({ field }) => field);
    found.perform(next);
  }
  throw new Error(`no rest after ${MOST_STEPS} steps: ${JSON.stringify(compare(spec, found))}`);
}

describe("for any server", () => {
  it("creation alone leaves nothing to do but power", () => {
    fc.assert(
      fc.property(shape, values, (fixed, wanted) => {
        const spec = specOf(fixed, wanted);
        const { drift } = compare(spec, create(spec));
        expect(drift.map(({ field }) => field)).toEqual(wanted.on ? [] : ["powerState"]);
      }),
    );
  });

  it("the writes of a comparison are never refused and end, after any manual change and with any spec", () => {
    fc.assert(
      fc.property(shape, values, values, values, (fixed, before, meanwhile, later) => {
        const found = create(specOf(fixed, before));
        meddle(fixed, found, meanwhile);
        const wanted = { ...later, size: Math.max(before.size, later.size) };
        const size = Number(found.volumes[0]?.properties.size);
        const left = settle(specOf(fixed, wanted), found);
        // A suspended Cube accepts no change, and a volume never shrinks.
        if (fixed.type === "CUBE" && !meanwhile.on && !wanted.on) return;
        expect(left).toEqual(fixed.type !== "CUBE" && size > wanted.size ? ["bootVolume.size"] : []);
      }),
      { numRuns: 500 },
    );
  });
});
