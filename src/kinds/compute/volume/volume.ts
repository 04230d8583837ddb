import { z } from "zod";
import type { Comparison, Inputs } from "../../desired.ts";
import {
  firstBootFields,
  firstBootImmutable,
  firstBootProblem,
  firstBootProperties,
  firstBootRules,
  firstBootSecrets,
} from "../../fields/boot/first-boot.ts";
import {
  imageFields,
  imageImmutable,
  imageLookups,
  imageMentions,
  imageName,
  imageProblem,
  imageProperties,
  imageReferences,
  imageRules,
  licenceType,
} from "../../fields/boot/images.ts";
import { nameOf } from "../../fields/column.ts";
import { known, together, wantedName, wantedOfOthers } from "../../fields/compare.ts";
import {
  coreItem,
  datacenterPath,
  datacenterReference,
  datacenterRules,
  inDatacenter,
  irreplaceable,
  managed,
  managedRules,
  platformName,
  required,
  volumeSize,
  whenCreated,
  wireId,
} from "../../fields/fields.ts";
import { readsOf } from "../../fields/reads.ts";
import { type Kind, mapping } from "../../kind.ts";
import { attachmentProblem, attachReferences, attachTo, compareAttachment, isByMooring } from "./attachment.ts";
import { patchVolume } from "./patch.ts";

const spec = z.object({
  ...managed,
  ...irreplaceable,
  ...inDatacenter,
  name: platformName("volume"),
  size: volumeSize().optional().describe("Size in GB; can only grow. Required."),
  type: z
    .enum(["HDD", "SSD Standard", "SSD Premium"])
    .optional()
    .describe("Storage technology. Required; cannot be changed."),
  availabilityZone: z
    .enum(["AUTO", "ZONE_1", "ZONE_2", "ZONE_3"])
    .default("AUTO")
    .describe("Zone of the volume; unlike a server, it can be in ZONE_3."),
  ...imageFields,
  ...firstBootFields,
  licenceType,
  bus: z.enum(["VIRTIO", "IDE"]).optional().describe("Bus of the volume. Default: VIRTIO."),
  attachTo: attachTo
    .optional()
    .describe("Server to attach it to. If changed, the volume moves; if removed, the volume is detached."),
});
type VolumeSpec = z.output<typeof spec>;

const status = z.object({
  size: z.number().optional().describe("Size in GB."),
  type: z.string().optional().describe("Storage technology."),
  serverId: z.string().optional().describe("Platform id of the server it is attached to."),
  server: z.string().optional().describe("Name of the Server object with that id, or the id if there is none."),
  deviceNumber: z.int().optional().describe("Slot number in that server."),
  attachedTo: z.string().optional().describe("Platform id of the server that Mooring attached it to."),
});

const wire = coreItem({
  name: z.string().nullish(),
  size: z.number().nullish(),
  type: z.string().nullish(),
  availabilityZone: z.string().nullish(),
  licenceType: z.string().nullish(),
  bus: z.string().nullish(),
  bootServer: wireId().nullish(),
  deviceNumber: z.int().nullish(),
});

/** "SSD" is the former name of "SSD Premium". */
const typeOf = ({ type }: z.output<typeof wire>["properties"]) => (type === "SSD" ? "SSD Premium" : type);

const collection = (parents: Inputs["parents"]) => `${datacenterPath(parents)}/volumes`;

function compare(spec: VolumeSpec, item: unknown, inputs: Inputs): Comparison {
  const found = wire.parse(item);
  const { name, size, bus, availabilityZone, licenceType, bootServer } = found.properties;
  const named = {
    name: [wantedName(spec, inputs), name],
    bus: [spec.bus, bus],
  } as const;
  const fixed = {
    type: [spec.type, typeOf(found.properties)],
    // With AUTO, any zone that the platform chose matches.
    availabilityZone: [spec.availabilityZone === "AUTO" ? undefined : spec.availabilityZone, availabilityZone],
    licenceType: [licenceType == null ? undefined : wantedOfOthers(spec.licenceType, inputs), licenceType],
  } as const;
  const own = `${collection(inputs.parents)}/${found.id}`;
  const properties = patchVolume("", own, named, [spec.size, size], fixed);
  return together([properties, compareAttachment(spec.attachTo, { id: found.id, bootServer }, inputs)]);
}

export const volume: Kind = {
  kind: "Volume",
  plural: "volumes",
  shortNames: ["vol"],
  description: "Block storage in a datacenter that can be attached to a server.",
  spec,
  status,
  rules: [
    ...managedRules,
    ...datacenterRules,
    required("size"),
    required("type"),
    whenCreated(imageRules()),
    ...firstBootRules(),
  ],
  grows: ["size"],
  immutable: {
    datacenterRef: "a volume cannot move to another datacenter",
    datacenterId: "a volume cannot move to another datacenter",
    type: "the technology of a volume is fixed at creation",
    availabilityZone: "the zone of a volume is fixed at creation",
    licenceType: "the licence of a volume is fixed at creation",
    ...imageImmutable(),
    ...firstBootImmutable(),
  },
  comparable: ["type", "availabilityZone", "licenceType"],
  creationOnly: Object.keys({ ...imageImmutable(), ...firstBootImmutable() }),
  ignoresCase: [imageName()],
  columns: [
    { name: "Size", type: "integer", path: ".status.size", description: "Size in GB" },
    { name: "Server", type: "string", path: ".status.server", description: "Server it is attached to" },
    { name: "Device", type: "integer", path: ".status.deviceNumber", description: "Slot in that server", wide: true },
    { name: "Datacenter", type: "string", path: ".spec.datacenterRef.name", description: "Datacenter", wide: true },
  ],
  resource: mapping(spec, {
    names: { type: "volume" },
    place: {
      product: "core",
      collection,
      depth: 1,
      reads: readsOf(wire),
      showsUsers: true,
      references: (spec) => [datacenterReference(spec), ...imageReferences(spec), ...attachReferences(spec.attachTo)],
      mentions: (spec) => imageMentions(spec),
    },
    creation: {
      secrets: (spec) => firstBootSecrets(spec),
      lookups: (spec, inputs) => imageLookups(spec, inputs),
      problem: (spec, inputs) =>
        attachmentProblem(spec.attachTo, spec.name ?? inputs.name, inputs) ??
        imageProblem(spec, inputs) ??
        firstBootProblem(spec, inputs),
      body: (spec, inputs) => ({
        properties: {
          name: spec.name ?? inputs.name,
          size: spec.size,
          type: spec.type,
          availabilityZone: spec.availabilityZone,
          ...imageProperties(spec, inputs),
          licenceType: spec.licenceType,
          bus: spec.bus,
          ...firstBootProperties(spec, inputs),
        },
      }),
    },
    comparison: {
      compare,
      facts(item, { refs, shown, marks }) {
        const { properties } = wire.parse(item);
        const { size, bootServer, deviceNumber } = properties;
        const ours =
          (bootServer != null && bootServer === refs.server?.id) ||
          isByMooring(bootServer, { shown, ...(marks && { marks }) });
        const server = nameOf(bootServer, refs.server, shown.serverId === bootServer ? shown.server : undefined);
        return known({
          size,
          type: typeOf(properties),
          serverId: bootServer,
          server,
          deviceNumber,
          attachedTo: ours ? bootServer : undefined,
        });
      },
    },
    destruction: {
      holdsData: true,
      keptWhileUsed: true,
      // An attachment by Mooring ends with the deletion. A server that somebody else gave this volume would lose its disk.
      users({ attachTo }, item, known) {
        const { bootServer } = wire.parse(item).properties;
        const isOurs = attachTo !== undefined || isByMooring(bootServer, known);
        return bootServer == null || isOurs ? [] : [`server ${bootServer} on the platform`];
      },
    },
  }),
};
