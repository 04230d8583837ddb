import { z } from "zod";
import { known, patch, together } from "./compare.ts";
import {
  datacenterPath,
  datacenterReference,
  datacenterRules,
  inDatacenter,
  managed,
  managedRules,
  objectRef,
  platformName,
  required,
  uuid,
  whenManaged,
  whole,
} from "./fields.ts";
import {
  firstBootFields,
  firstBootImmutable,
  firstBootProblem,
  firstBootRules,
  firstBootSecrets,
  userDataOf,
} from "./first-boot.ts";
import {
  imageFields,
  imageImmutable,
  imageLookups,
  imageProblem,
  imageProperties,
  imageReferences,
  imageRules,
} from "./images.ts";
import { type Comparison, type Inputs, type Kind, mapping } from "./kind.ts";
import { licenceType } from "./licences.ts";

const attachTo = z
  .object({
    serverRef: objectRef("Server").optional().describe("The Server, an object in the same namespace."),
    serverId: uuid().optional().describe("Platform id of the server."),
  })
  .meta({
    "x-kubernetes-validations": [
      {
        rule: "has(self.serverRef) != has(self.serverId)",
        message: "exactly one of serverRef and serverId is required",
      },
    ],
  });

const spec = z.object({
  ...managed,
  ...inDatacenter,
  name: platformName("volume"),
  size: whole(1, 1_000_000).optional().describe("Size in GB; can only grow. Required."),
  type: z
    .enum(["HDD", "SSD Standard", "SSD Premium"])
    .optional()
    .describe("Storage technology. Required; cannot be changed."),
  availabilityZone: z
    .enum(["AUTO", "ZONE_1", "ZONE_2", "ZONE_3"])
    .default("AUTO")
    .describe("Zone of the volume. Unlike a server it may be in ZONE_3."),
  ...imageFields,
  ...firstBootFields,
  licenceType,
  bus: z.enum(["VIRTIO", "IDE"]).optional().describe("How the volume is connected. The platform's default is VIRTIO."),
  attachTo: attachTo
    .optional()
    .describe(
      "The server it is attached to. When it changes, the volume moves; when it is removed, the volume is detached.",
    ),
});
type VolumeSpec = z.output<typeof spec>;

const status = z.object({
  size: z.number().optional().describe("Size in GB."),
  serverId: z.string().optional().describe("Platform id of the server that it is attached to."),
  deviceNumber: z.int().optional().describe("Number of its slot in that server."),
  attachedTo: z.string().optional().describe("Platform id of the server that spec has attached it to."),
});

const wire = z.object({
  id: z.string(),
  properties: z.object({
    name: z.string().nullish(),
    size: z.number().nullish(),
    type: z.string().nullish(),
    availabilityZone: z.string().nullish(),
    bus: z.string().nullish(),
    bootServer: z.string().nullish(),
    deviceNumber: z.int().nullish(),
  }),
});
type WireVolume = z.output<typeof wire>;

const collection = (parents: Inputs["parents"]) => `${datacenterPath(parents)}/volumes`;

/** A volume is in one server at a time: it leaves the one before it goes to the other. */
function compareAttachment(spec: VolumeSpec, { id, properties }: WireVolume, inputs: Inputs): Comparison {
  const wanted = inputs.refs.server?.id;
  const found = properties.bootServer ?? undefined;
  // What somebody else has attached stays where it is, for as long as spec says nothing about it.
  const released = spec.attachTo === undefined && found !== undefined && inputs.shown.attachedTo === found;
  if (!released && (wanted === undefined || wanted === found)) return { drift: [] };
  const drift = [{ field: "attachTo", wanted: wanted ?? "", found: found ?? "" }];
  const of = (server: string) => `${datacenterPath(inputs.parents)}/servers/${encodeURIComponent(server)}/volumes`;
  if (found !== undefined) return { drift, next: { action: "detach", method: "DELETE", path: `${of(found)}/${id}` } };
  return { drift, next: { action: "attach", method: "POST", path: of(wanted ?? ""), body: { id } } };
}

function compare(spec: VolumeSpec, item: unknown, inputs: Inputs): Comparison {
  const found = wire.parse(item);
  const { name, size, bus, type, availabilityZone } = found.properties;
  const named = {
    name: [spec.name ?? (inputs.observed ? undefined : inputs.name), name],
    bus: [spec.bus, bus],
  } as const;
  const sized = { size: [spec.size, size] } as const;
  const fixed = {
    type: [spec.type, type],
    availabilityZone: [inputs.observed ? undefined : spec.availabilityZone, availabilityZone],
  } as const;
  // A volume that somebody let grow cannot shrink again.
  const tooLarge = size != null && size > (spec.size ?? size);
  const own = `${collection(inputs.parents)}/${found.id}`;
  const properties = tooLarge
    ? patch("", own, named, { ...fixed, ...sized })
    : patch("", own, { ...named, ...sized }, fixed);
  return together([properties, compareAttachment(spec, found, inputs)]);
}

/** The server has to be in the same datacenter. */
function problem(spec: VolumeSpec, inputs: Inputs): string | undefined {
  const home = z.object({ parents: z.object({ datacenter: z.string() }) }).safeParse(inputs.refs.server?.status).data;
  const here = inputs.parents.datacenter;
  if (home && here !== undefined && home.parents.datacenter !== here) {
    const server = spec.attachTo?.serverRef?.name ?? spec.attachTo?.serverId;
    return `attachTo: Server ${server} is in another datacenter: a volume can only be attached within its own`;
  }
  return imageProblem(spec, inputs) ?? firstBootProblem(spec, inputs);
}

export const volume: Kind = {
  kind: "Volume",
  plural: "volumes",
  shortNames: ["vol"],
  description: "Block storage of a datacenter that can be attached to a server.",
  spec,
  status,
  rules: [
    ...managedRules,
    ...datacenterRules,
    required("size"),
    required("type"),
    ...imageRules().map(whenManaged),
    ...firstBootRules(),
    {
      rule: "!has(self.size) || !has(oldSelf.size) || self.size >= oldSelf.size",
      message: "size can only grow: keep the size, or delete the object and create it again",
    },
  ],
  immutable: {
    datacenterRef: "a volume cannot move to another datacenter",
    datacenterId: "a volume cannot move to another datacenter",
    type: "the technology of a volume is fixed at creation",
    availabilityZone: "the zone of a volume is fixed at creation",
    licenceType: "the licence of a volume is fixed at creation",
    ...imageImmutable(),
    ...firstBootImmutable(),
  },
  columns: [
    { name: "Size", type: "integer", path: ".status.size", description: "Size in GB" },
    { name: "Server", type: "string", path: ".spec.attachTo.serverRef.name", description: "Server it is attached to" },
    { name: "Device", type: "integer", path: ".status.deviceNumber", description: "Slot in that server", wide: true },
    { name: "Datacenter", type: "string", path: ".spec.datacenterRef.name", description: "Datacenter", wide: true },
  ],
  resource: mapping(spec, {
    product: "core",
    noun: "volume",
    collection,
    depth: 1,
    holdsData: true,
    references: (spec) => [
      datacenterReference(spec),
      ...imageReferences(spec),
      ...(spec.attachTo ? [serverReference(spec.attachTo)] : []),
    ],
    secrets: (spec) => firstBootSecrets(spec),
    lookups: (spec, inputs) => imageLookups(spec, inputs),
    problem,
    body: (spec, inputs) => ({
      properties: {
        name: spec.name ?? inputs.name,
        size: spec.size,
        type: spec.type,
        availabilityZone: spec.availabilityZone,
        ...imageProperties(spec, inputs),
        licenceType: spec.licenceType,
        bus: spec.bus,
        sshKeys: spec.sshKeys,
        userData: userDataOf(spec, inputs),
      },
    }),
    compare,
    facts(item, { refs, shown }) {
      const { size, bootServer, deviceNumber } = wire.parse(item).properties;
      const ours = bootServer != null && (bootServer === refs.server?.id || bootServer === shown.attachedTo);
      return known({ size, serverId: bootServer, deviceNumber, attachedTo: ours ? bootServer : undefined });
    },
  }),
};

function serverReference({ serverRef, serverId }: z.output<typeof attachTo>) {
  const target = serverId !== undefined ? { id: serverId } : { name: serverRef?.name ?? "" };
  return { role: "server", kind: "Server", field: "attachTo", target, bond: "use" } as const;
}
