import { z } from "zod";
import { datacenterReference } from "./fields.ts";
import {
  type Comparison,
  changes,
  type Drift,
  differences,
  type Inputs,
  type Kind,
  mapping,
  type Operation,
} from "./kind.ts";
import { type ServerSpec, serverRules, serverSpec } from "./server-spec.ts";

const status = z.object({
  vmState: z.string().optional().describe("What the machine itself does, in the platform's words."),
  cores: z.int().optional().describe("Cores it has."),
  ram: z.int().optional().describe("Memory it has, in MB."),
  cpuFamily: z.string().optional().describe("Processor family it runs on."),
  bootVolumeId: z.string().optional().describe("Platform id of the boot volume."),
  nics: z
    .array(
      z.object({
        id: z.string().describe("Platform id of the NIC."),
        name: z.string().optional().describe("Name of the NIC."),
        lan: z.int().optional().describe("Number of its LAN."),
        mac: z.string().optional().describe("Hardware address."),
        ips: z.array(z.string().describe("An address.")).optional().describe("Its addresses."),
      }),
    )
    .optional()
    .describe("Network interfaces as the platform shows them."),
});

const wireItem = <P extends z.ZodType>(properties: P) => z.object({ id: z.string(), properties: properties.nullish() });
const wireVolume = wireItem(
  z.object({ name: z.string().nullish(), size: z.number().nullish(), bus: z.string().nullish() }),
);
const wireNic = wireItem(
  z.object({
    name: z.string().nullish(),
    lan: z.int().nullish(),
    mac: z.string().nullish(),
    ips: z.array(z.string()).nullish(),
    dhcp: z.boolean().nullish(),
    firewallActive: z.boolean().nullish(),
  }),
);
/** What Mooring relies on in a server as a list at depth 3 shows it. */
const wire = z.object({
  id: z.string(),
  properties: z.object({
    name: z.string().nullish(),
    cores: z.int().nullish(),
    ram: z.int().nullish(),
    cpuFamily: z.string().nullish(),
    vmState: z.string().nullish(),
    bootVolume: z.object({ id: z.string() }).nullish(),
  }),
  entities: z
    .object({
      volumes: z.object({ items: z.array(wireVolume).nullish() }).nullish(),
      nics: z.object({ items: z.array(wireNic).nullish() }).nullish(),
    })
    .nullish(),
});
type WireServer = z.output<typeof wire>;
type WireVolume = z.output<typeof wireVolume>;
type WireNic = z.output<typeof wireNic>;

const nicsOf = (found: WireServer): WireNic[] => found.entities?.nics?.items ?? [];

/** The volume that the server names, or its only one. Never a guess: a wrong volume would be changed. */
function bootVolumeOf(found: WireServer): WireVolume | undefined {
  const volumes = found.entities?.volumes?.items ?? [];
  const named = found.properties.bootVolume?.id;
  if (named !== undefined) return volumes.find(({ id }) => id === named);
  return volumes.length === 1 ? volumes[0] : undefined;
}

/** The machine states in which each wanted power state is already true. */
const satisfied: Record<NonNullable<ServerSpec["powerState"]>, string[]> = {
  Running: ["RUNNING", "NOSTATE", "BLOCKED"],
  Stopped: ["SHUTOFF", "SHUTDOWN"],
  Suspended: ["SUSPENDED"],
};

function powerStep(spec: ServerSpec, vmState: string | null | undefined, own: string): Operation | undefined {
  const { powerState, type } = spec;
  if (vmState == null || powerState === undefined || satisfied[powerState].includes(vmState)) return undefined;
  const running = type === "CUBE" ? "resume" : "start";
  const action = { Running: running, Stopped: "stop", Suspended: "suspend" }[powerState];
  return { action, method: "POST", path: `${own}/${action}` };
}

function body(spec: ServerSpec, { name, secrets }: Inputs): unknown {
  const volume = spec.bootVolume;
  const secret = secrets["bootVolume.userDataSecretRef"];
  const userData = secret === undefined ? volume?.userData : Buffer.from(secret).toString("base64");
  const { userDataSecretRef: _, ...plain } = volume ?? {};
  return {
    properties: {
      name: spec.name ?? name,
      type: spec.type,
      availabilityZone: spec.availabilityZone,
      cores: spec.cores,
      ram: spec.ram,
      cpuFamily: spec.cpuFamily,
      templateUuid: spec.templateUuid,
    },
    entities: {
      ...(volume && {
        volumes: {
          items: [
            {
              properties: {
                ...plain,
                name: volume.name ?? `${spec.name ?? name}-boot`,
                type: volume.type ?? "DAS",
                userData,
              },
            },
          ],
        },
      }),
      ...(spec.nics && { nics: { items: spec.nics.map((properties) => ({ properties })) } }),
    },
  };
}

const datacenterPath = ({ parents }: Pick<Inputs, "parents">) =>
  `/datacenters/${encodeURIComponent(parents.datacenter ?? "")}`;

function compare(spec: ServerSpec, item: unknown, inputs: Inputs): Comparison {
  const found = wire.parse(item);
  const own = `${datacenterPath(inputs)}/servers/${found.id}`;
  const properties = {
    name: [spec.name ?? (inputs.observed ? undefined : inputs.name), found.properties.name],
    cores: [spec.cores, found.properties.cores],
    ram: [spec.ram, found.properties.ram],
    cpuFamily: [spec.cpuFamily, found.properties.cpuFamily],
  } as const;
  const parts = [patch("", own, properties), ...compareVolume(spec, found, inputs), ...compareNics(spec, found, own)];
  const power = powerStep(spec, found.properties.vmState, own);
  // A suspended Cube takes no change: one that shall run is resumed first, one that shall not keeps its drift.
  const suspended = found.properties.vmState === "SUSPENDED";
  const next = (suspended ? undefined : parts.find((part) => part.next)?.next) ?? power;
  return {
    drift: [
      ...parts.flatMap((part) => part.drift),
      ...(power ? [{ field: "powerState", wanted: spec.powerState ?? "", found: found.properties.vmState ?? "" }] : []),
    ],
    ...(next && { next }),
  };
}

type Pairs = Record<string, readonly [wanted: unknown, found: unknown]>;

/** What one PATCH of one resource would change; the field names in the drift start with `prefix`. */
function patch(prefix: string, path: string, changeable: Pairs, fixed: Pairs = {}): Comparison {
  const body = changes(changeable);
  const all = differences({ ...changeable, ...fixed });
  const drift: Drift[] = all.map((each) => ({ ...each, field: `${prefix}${each.field}` }));
  return { drift, ...(body && { next: { action: "update", method: "PATCH", path, body } }) };
}

function compareVolume(spec: ServerSpec, found: WireServer, inputs: Inputs): Comparison[] {
  if (!spec.bootVolume || !isReadable(found.entities?.volumes?.items)) return [];
  const volume = bootVolumeOf(found);
  if (!volume?.properties) return [absent("bootVolume")];
  const { name, size, bus } = volume.properties;
  const sized = { size: [spec.bootVolume.size, size] } as const;
  const named = { name: [spec.bootVolume.name, name], bus: [spec.bootVolume.bus, bus] } as const;
  const path = `${datacenterPath(inputs)}/volumes/${volume.id}`;
  // A volume that somebody let grow cannot shrink again.
  const tooLarge = size != null && size > (spec.bootVolume.size ?? size);
  return [tooLarge ? patch("bootVolume.", path, named, sized) : patch("bootVolume.", path, { ...named, ...sized })];
}

/** Whether a list says what exists: a shallow answer leaves out the children or their properties. */
const isReadable = (items: readonly { properties?: unknown }[] | null | undefined) =>
  items?.every(({ properties }) => properties != null) ?? false;

/** A part that is missing on the platform is shown and not made up for. */
const absent = (field: string): Comparison => ({ drift: [{ field, wanted: "present", found: "absent" }] });

/** NICs are paired by name. */
function compareNics(spec: ServerSpec, found: WireServer, own: string): Comparison[] {
  if (!isReadable(found.entities?.nics?.items)) return [];
  return (spec.nics ?? []).map(({ name, lan, dhcp, ips, firewallActive }) => {
    const there = nicsOf(found).find((nic) => nic.properties?.name === name);
    if (!there?.properties) return absent(`nics[${name}]`);
    return patch(`nics[${name}].`, `${own}/nics/${there.id}`, {
      lan: [lan, there.properties.lan],
      dhcp: [dhcp, there.properties.dhcp],
      // An empty list leaves the choice to the platform, whose addresses are then as wanted.
      ips: [ips?.length ? ips : undefined, there.properties.ips],
      firewallActive: [firewallActive, there.properties.firewallActive],
    });
  });
}

function facts(item: unknown): Record<string, unknown> {
  const found = wire.parse(item);
  const { vmState, cores, ram, cpuFamily } = found.properties;
  const nics = nicsOf(found).map(({ id, properties }) =>
    known({ id, name: properties?.name, lan: properties?.lan, mac: properties?.mac, ips: properties?.ips }),
  );
  return known({ vmState, cores, ram, cpuFamily, bootVolumeId: bootVolumeOf(found)?.id, nics });
}

/** The entries that say something: neither absent nor null nor an empty list. */
function known(facts: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(facts).filter(([, value]) => value != null && !(Array.isArray(value) && value.length === 0)),
  );
}

export const server: Kind = {
  kind: "Server",
  plural: "servers",
  shortNames: ["srv"],
  description: "A virtual machine of one of three models (Dedicated Core, vCPU, Cube) with its boot volume and NICs.",
  spec: serverSpec,
  status,
  rules: serverRules,
  immutable: {
    datacenterRef: "a server cannot move to another datacenter",
    datacenterId: "a server cannot move to another datacenter",
    type: "the model of a server is fixed at creation",
    templateUuid: "the size of a Cube is fixed at creation",
    availabilityZone: "the zone of a server is fixed at creation",
    "bootVolume.type": "the technology of a volume is fixed at creation",
    "bootVolume.image": "an image is used at creation only",
    "bootVolume.imageAlias": "an image is used at creation only",
    "bootVolume.sshKeys": "keys are used at creation only",
    "bootVolume.userData": "user data is used at creation only",
    "bootVolume.userDataSecretRef": "user data is used at creation only",
    "bootVolume.licenceType": "the licence of a volume is fixed at creation",
  },
  columns: [
    { name: "VM", type: "string", path: ".status.vmState", description: "What the machine does" },
    { name: "Type", type: "string", path: ".spec.type", description: "Model of the server" },
    { name: "Cores", type: "integer", path: ".status.cores", description: "Cores it has", wide: true },
    { name: "Ram", type: "integer", path: ".status.ram", description: "Memory in MB", wide: true },
    { name: "Datacenter", type: "string", path: ".spec.datacenterRef.name", description: "Datacenter", wide: true },
  ],
  resource: mapping(serverSpec, {
    product: "core",
    noun: "server",
    collection: (parents) => `${datacenterPath({ parents })}/servers`,
    depth: 3,
    holdsData: true,
    // The boot volume belongs to the server object: it goes with it.
    deleteQuery: "?deleteVolumes=true",
    references: (spec) => [datacenterReference(spec)],
    secrets: ({ bootVolume }) =>
      bootVolume?.userDataSecretRef ? [{ field: "bootVolume.userDataSecretRef", ...bootVolume.userDataSecretRef }] : [],
    body,
    compare,
    facts,
  }),
};
