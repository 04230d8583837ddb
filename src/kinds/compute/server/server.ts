import { z } from "zod";
import type { Comparison, Inputs } from "../../desired.ts";
import { firstBootImmutable, firstBootProblem, firstBootSecrets } from "../../fields/boot/first-boot.ts";
import {
  imageImmutable,
  imageLookups,
  imageMentions,
  imageName,
  imageProblem,
  imageReferences,
} from "../../fields/boot/images.ts";
import { listed, listedField } from "../../fields/column.ts";
import { known, type Pairs, patch, together, wantedName, wantedOfOthers } from "../../fields/compare.ts";
import { datacenterPath, datacenterReference } from "../../fields/fields.ts";
import { datacenterLookups } from "../../fields/location.ts";
import { readsOf } from "../../fields/reads.ts";
import { output } from "../../fields/secrets/output.ts";
import { type Kind, mapping } from "../../kind.ts";
import { attachedFor, bootBody, bootProblem, bootReferences, compareBootRef } from "./boot-volume-ref.ts";
import { adviceOfNics } from "./firewall.ts";
import { compareNics } from "./nic-changes.ts";
import { addressAdvice, nicBody, nicMentions, nicProblem, nicReferences } from "./nics.ts";
import { serverOutput } from "./output.ts";
import { serverRules } from "./rules.ts";
import { DEFAULT_TYPE, type ServerSpec, serverSpec } from "./spec.ts";
import { templateLookup } from "./templates.ts";
import {
  BOOT,
  bootVolumeProperties,
  compareBootVolume,
  detachVolume,
  ownBootVolume,
  remainingVolumes,
} from "./volumes.ts";
import { bootVolumeOf, nicsOf, volumesOf, type WireServer, wire } from "./wire.ts";

const status = z.object({
  vmState: z.string().optional().describe("State of the virtual machine as the platform reports it."),
  type: z.string().optional().describe("Model of the server."),
  hostname: z.string().optional().describe("Host name of the machine."),
  cores: z.int().optional().describe("Number of cores."),
  ram: z.int().optional().describe("Memory in MB."),
  cpuFamily: z.string().optional().describe("Processor family."),
  ips: z.array(z.string().describe("An address.")).optional().describe("Addresses of all NICs, IPv4 first."),
  addresses: listedField("Addresses"),
  bootVolumeId: z.string().optional().describe("Platform id of the boot volume."),
  attachedBootVolumes: z
    .array(z.string().describe("Platform id of a volume."))
    .optional()
    .describe("Volumes that Mooring attached for bootVolumeRef; those that it no longer names are detached."),
  volumes: z
    .array(
      z.object({
        id: z.string().describe("Platform id of the volume."),
        name: z.string().optional().describe("Name of the volume."),
        size: z.number().optional().describe("Its size in GB."),
        deviceNumber: z.int().optional().describe("Slot number in the server."),
      }),
    )
    .optional()
    .describe("Attached volumes besides the boot volume."),
  nics: z
    .array(
      z.object({
        id: z.string().describe("Platform id of the NIC."),
        name: z.string().optional().describe("Name of the NIC."),
        lan: z.int().optional().describe("Number of its LAN."),
        mac: z.string().optional().describe("Hardware address."),
        ips: z.array(z.string().describe("An address.")).optional().describe("Its IPv4 addresses."),
        ipv6CidrBlock: z.string().optional().describe("Its IPv6 block, in a LAN that has one."),
        ipv6Ips: z.array(z.string().describe("An address.")).optional().describe("Its IPv6 addresses."),
        firewallActive: z.boolean().optional().describe("Whether its firewall is on."),
        firewallRules: z.int().optional().describe("Number of its firewall rules."),
      }),
    )
    .optional()
    .describe("Network interfaces."),
});

/** The machine states that satisfy each desired power state. */
const satisfied: Record<NonNullable<ServerSpec["powerState"]>, string[]> = {
  Running: ["RUNNING", "NOSTATE", "BLOCKED"],
  Stopped: ["SHUTOFF", "SHUTDOWN"],
  Suspended: ["SUSPENDED"],
};

function comparePower(spec: ServerSpec, { properties }: WireServer, own: string): Comparison[] {
  const { powerState } = spec;
  const { vmState } = properties;
  if (vmState == null || powerState === undefined || satisfied[powerState].includes(vmState)) return [];
  const startAction = (properties.type ?? spec.type) === "CUBE" ? "resume" : "start";
  const action = { Running: startAction, Stopped: "stop", Suspended: "suspend" }[powerState];
  const drift = [{ field: "powerState", wanted: powerState, found: vmState }];
  return [{ drift, next: { action, method: "POST", path: `${own}/${action}` } }];
}

function body(spec: ServerSpec, inputs: Inputs): unknown {
  const { bootVolume, nics } = spec;
  const name = spec.name ?? inputs.name;
  const inline = bootVolume && { items: [{ properties: bootVolumeProperties(bootVolume, name, inputs) }] };
  const attached = bootBody(inputs);
  return {
    properties: {
      name,
      hostname: spec.hostname,
      type: spec.type,
      availabilityZone: spec.availabilityZone,
      cores: spec.cores,
      ram: spec.ram,
      cpuFamily: spec.cpuFamily,
      templateUuid: spec.templateUuid ?? inputs.found.templateName,
      ...attached?.properties,
    },
    entities: {
      volumes: inline ?? attached?.volumes,
      nics: nics && { items: nics.map((nic) => nicBody(nic, inputs)) },
    },
  };
}

const ownPath = ({ id }: WireServer, { parents }: Pick<Inputs, "parents">) =>
  `${datacenterPath(parents)}/servers/${id}`;

/** Fields that are fixed at creation. A default of spec matches any value of an existing server. */
function fixedPairs(spec: ServerSpec, { properties }: WireServer, inputs: Inputs): Pairs {
  const pair = (wanted: string | undefined, found: string | null | undefined) =>
    [found == null ? undefined : wantedOfOthers(wanted, inputs), found] as const;
  return {
    type: pair(spec.type === DEFAULT_TYPE ? undefined : spec.type, properties.type),
    availabilityZone: pair(
      spec.availabilityZone === "AUTO" ? undefined : spec.availabilityZone,
      properties.availabilityZone,
    ),
    templateUuid: pair(spec.templateUuid, properties.templateUuid),
  };
}

function compare(spec: ServerSpec, item: unknown, inputs: Inputs): Comparison {
  const found = wire.parse(item);
  const { vmState, ...properties } = found.properties;
  const own = ownPath(found, inputs);
  const parts = [
    patch(
      "",
      own,
      {
        name: [wantedName(spec, inputs), properties.name],
        hostname: [spec.hostname, properties.hostname],
        cores: [spec.cores, properties.cores],
        ram: [spec.ram, properties.ram],
        cpuFamily: [spec.cpuFamily, properties.cpuFamily],
      },
      fixedPairs(spec, found, inputs),
    ),
    ...compareBootVolume(spec.bootVolume, found, inputs),
    compareBootRef(found, own, inputs),
    ...compareNics(spec.nics, found, own, inputs),
  ];
  // A suspended Cube accepts no changes. It is resumed first if spec wants it running; otherwise its drift stays.
  const possible = vmState === "SUSPENDED" ? parts.map(({ drift }) => ({ drift })) : parts;
  return together([...possible, ...comparePower(spec, found, own)]);
}

const CUBE =
  "the direct-attached volume of this Cube is deleted with it, also while spec leaves bootVolume out: set deletionPolicy: Retain if the server is to outlive this object";

function facts(item: unknown, context: Pick<Inputs, "refs" | "shown" | "spec">): Record<string, unknown> {
  const found = wire.parse(item);
  const { vmState, hostname, type, cores, ram, cpuFamily } = found.properties;
  const bootVolumeId = ownBootVolume(Object(context.spec), context.shown) ?? bootVolumeOf(found)?.id;
  const volumes = volumesOf(found).flatMap(({ id, properties }) => {
    const { name, size, deviceNumber } = properties ?? {};
    return id === bootVolumeId ? [] : [known({ id, name, size, deviceNumber })];
  });
  const nics = nicsOf(found).map(({ id, properties, entities }) => {
    const { name, lan, mac, ips, ipv6CidrBlock, ipv6Ips, firewallActive } = properties ?? {};
    const firewallRules = entities?.firewallrules?.items?.length;
    return known({ id, name, lan, mac, ips, ipv6CidrBlock, ipv6Ips, firewallActive, firewallRules });
  });
  const all = (field: "ips" | "ipv6Ips") => nicsOf(found).flatMap(({ properties }) => properties?.[field] ?? []);
  const ips = [...all("ips"), ...all("ipv6Ips")];
  const attachedBootVolumes = attachedFor(found, context);
  const boot = { bootVolumeId, attachedBootVolumes };
  return known({ vmState, hostname, type, cores, ram, cpuFamily, ips, addresses: listed(ips), ...boot, volumes, nics });
}

export const server: Kind = {
  kind: "Server",
  plural: "servers",
  shortNames: ["srv"],
  description: "A virtual machine of one of three models (Dedicated Core, vCPU, Cube) with its boot volume and NICs.",
  spec: serverSpec,
  status,
  rules: serverRules,
  grows: ["bootVolume.size"],
  needs: (spec) => (Reflect.get(spec, "type") === "CUBE" ? [] : ["cores", "ram"]),
  immutable: {
    datacenterRef: "a server cannot move to another datacenter",
    datacenterId: "a server cannot move to another datacenter",
    type: "the model of a server is fixed at creation",
    templateUuid: "the size of a Cube is fixed at creation",
    templateName: "the size of a Cube is fixed at creation",
    availabilityZone: "the zone of a server is fixed at creation",
    "bootVolume.type": "the technology of a volume is fixed at creation",
    ...imageImmutable(BOOT),
    ...firstBootImmutable(BOOT),
    "bootVolume.licenceType": "the licence of a volume is fixed at creation",
  },
  comparable: ["type", "templateUuid", "availabilityZone", "bootVolume.type"],
  creationOnly: [
    "templateName",
    ...Object.keys({ ...imageImmutable(BOOT), ...firstBootImmutable(BOOT) }),
    "bootVolume.licenceType",
  ],
  ignoresCase: ["templateName", imageName(BOOT)],
  columns: [
    { name: "VM", type: "string", path: ".status.vmState", description: "State of the virtual machine" },
    { name: "Type", type: "string", path: ".status.type", description: "Model of the server" },
    { name: "Ips", type: "string", path: ".status.addresses", description: "Addresses" },
    { name: "Cores", type: "integer", path: ".status.cores", description: "Number of cores", wide: true },
    { name: "Ram", type: "integer", path: ".status.ram", description: "Memory in MB", wide: true },
    { name: "Datacenter", type: "string", path: ".spec.datacenterRef.name", description: "Datacenter", wide: true },
  ],
  resource: mapping(serverSpec, {
    names: {
      type: "server",
      fields: {
        "entities.volumes.items[0]": "bootVolume",
        "entities.volumes": "bootVolume",
        "entities.nics.items": "nics",
        "entities.nics": "nics",
        "entities.firewallrules.items": "firewallRules",
      },
    },
    place: {
      product: "core",
      collection: (parents) => `${datacenterPath(parents)}/servers`,
      depth: 5,
      reads: readsOf(wire),
      showsUsers: true,
      parts(spec, shown) {
        const id = ownBootVolume(spec, shown);
        return id === undefined ? [] : [{ field: "bootVolume", kind: "Volume", id }];
      },
      references: ({ bootVolume = {}, nics, ...spec }) => [
        datacenterReference(spec),
        ...imageReferences(bootVolume, BOOT),
        ...bootReferences(spec.bootVolumeRef),
        ...nicReferences(nics),
      ],
      mentions: ({ bootVolume = {}, nics }) => [...imageMentions(bootVolume, BOOT), ...nicMentions(nics)],
    },
    creation: {
      secrets: ({ bootVolume = {} }) => firstBootSecrets(bootVolume, BOOT),
      lookups: ({ bootVolume = {}, nics, templateName }, inputs) => [
        // The location of the datacenter: an address must come from an IPBlock of the same location.
        ...(nics?.some(({ ipsFrom }) => ipsFrom?.length) ? datacenterLookups(inputs) : []),
        ...imageLookups(bootVolume, inputs, BOOT),
        ...(templateName === undefined ? [] : [templateLookup("templateName", templateName)]),
      ],
      problem: ({ bootVolume = {}, bootVolumeRef, nics }, inputs) =>
        bootProblem(bootVolumeRef, inputs) ??
        imageProblem(bootVolume, inputs, BOOT) ??
        firstBootProblem(bootVolume, inputs, BOOT) ??
        nicProblem(nics, inputs),
      advice: ({ powerState, nics, bootVolume, deletionPolicy }, inputs) => [
        ...(inputs.adopted && inputs.shown.type === "CUBE" && !bootVolume && deletionPolicy === "Delete" ? [CUBE] : []),
        ...(powerState === "Suspended"
          ? ["powerState: a suspended Cube is still billed, until it is deleted with its disk; a Snapshot keeps a copy"]
          : []),
        ...adviceOfNics(nics ?? [], inputs),
        ...addressAdvice(nics ?? [], inputs),
      ],
      body,
    },
    comparison: { compare, facts },
    destruction: {
      holdsData: true,
      // The boot volume of spec is deleted together with the server.
      query: ({ bootVolume }) => (bootVolume ? "?deleteVolumes=true" : ""),
      preDelete: (spec, item, inputs) => {
        const found = wire.parse(item);
        return detachVolume(spec, found, ownPath(found, inputs), inputs.shown);
      },
      remains: remainingVolumes,
    },
    output: output(serverOutput),
  }),
};
