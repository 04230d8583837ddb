import { z } from "zod";
import type { Inputs, Operation, Reference, Shown } from "../desired.ts";
import { boundedText } from "../fields/bounded.ts";
import { known, patch, wantedName } from "../fields/compare.ts";
import {
  coreItem,
  datacenterPath,
  datacenterReference,
  inDatacenter,
  irreplaceable,
  managed,
  managedRules,
  objectRef,
  platformName,
  prose,
  uuid,
} from "../fields/fields.ts";
import { readsOf } from "../fields/reads.ts";
import { countOf } from "../fields/rules.ts";
import { type Kind, mapping } from "../kind.ts";

const spec = z.object({
  ...managed,
  ...irreplaceable,
  ...inDatacenter,
  datacenterRef: inDatacenter.datacenterRef.describe("With volumeId: the Datacenter of the volume."),
  datacenterId: inDatacenter.datacenterId.describe("With volumeId: platform id of the datacenter of the volume."),
  volumeRef: objectRef("Volume").optional().describe("Volume to copy. Excludes serverRef and volumeId."),
  serverRef: objectRef("Server")
    .optional()
    .describe("Server whose boot volume is copied. Excludes volumeRef and volumeId."),
  volumeId: uuid().optional().describe("Platform id of the volume to copy. Excludes volumeRef and serverRef."),
  name: platformName("snapshot"),
  description: prose(1024).optional().describe("Free text shown on the platform."),
});
type SnapshotSpec = z.output<typeof spec>;

const status = z.object({
  location: z.string().optional().describe("Location; volumes in the same location can start from it."),
  size: z.number().optional().describe("Size in GB."),
  restored: z.string().optional().describe("Last value of the annotation mooring.dev/restore-at that was handled."),
});

const wire = coreItem({
  name: z.string().nullish(),
  description: z.string().nullish(),
  location: z.string().nullish(),
  size: z.number().nullish(),
});

/** A new value of this annotation restores the snapshot to its volume. */
const RESTORE_AT = "mooring.dev/restore-at";
const collection = "/snapshots";
const volumePath = (parents: Inputs["parents"]) =>
  `${datacenterPath(parents)}/volumes/${encodeURIComponent(parents.volume ?? "")}`;

/** The volume as it is now. A Volume or Server that was created again has a new id on the platform. */
function volumeNow({ parents, refs }: Inputs): Inputs["parents"] {
  const { volume, datacenter } = refs;
  return volume && datacenter ? { datacenter: datacenter.id, volume: volume.id } : parents;
}

const sourceStatus = z.object({ parents: z.object({ datacenter: z.string() }), bootVolumeId: z.string().optional() });

function references(spec: SnapshotSpec): Reference[] {
  const read = (shown: Shown) => sourceStatus.safeParse(shown).data;
  const datacenter = { what: "datacenter", of: (shown: Shown) => read(shown)?.parents.datacenter };
  if (spec.volumeRef) {
    const named = { kind: "Volume", field: "volumeRef", target: spec.volumeRef };
    return [
      { role: "datacenter", ...named, part: datacenter },
      { role: "volume", ...named },
    ];
  }
  if (spec.serverRef) {
    const named = { kind: "Server", field: "serverRef", target: spec.serverRef };
    return [
      { role: "datacenter", ...named, part: datacenter },
      { role: "volume", ...named, part: { what: "boot volume", of: (shown) => read(shown)?.bootVolumeId } },
    ];
  }
  if (spec.volumeId === undefined) return [];
  const volume: Reference = { role: "volume", kind: "Volume", field: "volumeId", target: { id: spec.volumeId } };
  return [datacenterReference(spec), volume];
}

/** The annotation in the form that status stores, so that a restore that was handled is recognized. */
const requestedRestore = ({ [RESTORE_AT]: asked }: Inputs["annotations"]) => asked && boundedText(asked);

/**
 * The pending restore. An annotation that the object was created with does not count: applying a manifest again must
 * not overwrite a volume.
 */
function pendingRestore({ annotations, shown }: Pick<Inputs, "annotations" | "shown">): string | undefined {
  const asked = requestedRestore(annotations);
  return asked === undefined || shown.restored === undefined || shown.restored === asked ? undefined : asked;
}

function restoration(id: string, inputs: Inputs): Operation | undefined {
  const asked = inputs.observed ? undefined : pendingRestore(inputs);
  if (asked === undefined) return undefined;
  return {
    action: "restore the volume",
    method: "POST",
    path: `${volumePath(volumeNow(inputs))}/restore-snapshot`,
    body: { properties: { snapshotId: id } },
    once: true,
    marks: { restored: asked },
  };
}

const sourceFields = ["volumeRef", "serverRef", "volumeId"];
const sources = countOf(sourceFields);

export const snapshot: Kind = {
  kind: "Snapshot",
  plural: "snapshots",
  shortNames: ["snap"],
  description: "A full copy of a volume. It outlives the volume, and new volumes can start from it.",
  spec,
  status,
  rules: [
    ...managedRules,
    {
      rule: `${sources} == 1 || (has(self.externalId) && ${sources} == 0)`,
      message: `exactly one of volumeRef, serverRef and volumeId is required; only with externalId all may be missing`,
      requires: sourceFields,
    },
    {
      rule: "has(self.volumeId) ? has(self.datacenterRef) != has(self.datacenterId) : !has(self.datacenterRef) && !has(self.datacenterId)",
      message:
        "volumeId needs exactly one of datacenterRef and datacenterId; without volumeId remove both, a Volume or Server knows its datacenter",
    },
  ],
  immutable: {
    volumeRef: "a snapshot is the copy of one volume",
    serverRef: "a snapshot is the copy of one volume",
    volumeId: "a snapshot is the copy of one volume",
    datacenterRef: "a snapshot is the copy of one volume",
    datacenterId: "a snapshot is the copy of one volume",
  },
  creationOnly: ["volumeRef", "serverRef", "volumeId", "datacenterRef", "datacenterId"],
  annotations: [RESTORE_AT],
  columns: [
    { name: "Size", type: "integer", path: ".status.size", description: "Size in GB" },
    { name: "Volume", type: "string", path: ".spec.volumeRef.name", description: "Copied volume" },
    {
      name: "Server",
      type: "string",
      path: ".spec.serverRef.name",
      description: "Server whose boot volume is copied",
      wide: true,
    },
    { name: "Location", type: "string", path: ".status.location", description: "Location", wide: true },
  ],
  resource: mapping(spec, {
    names: { type: "snapshot" },
    place: {
      product: "core",
      collection: () => collection,
      outlives: ["datacenter", "volume"],
      depth: 1,
      reads: readsOf(wire),
      references,
      labelled: true,
    },
    creation: {
      path: (parents) => `${volumePath(parents)}/create-snapshot`,
      problem(spec, inputs) {
        if (pendingRestore(inputs) === undefined) return undefined;
        if (inputs.abroad?.includes("volume") && !inputs.refs.volume) {
          const source = spec.serverRef ? `Server ${spec.serverRef.name}` : `Volume ${spec.volumeRef?.name}`;
          return `${RESTORE_AT}: ${source} of another namespace is not granted and not restored: remove the annotation, or ask for a Grant there`;
        }
        if (inputs.parents.volume !== undefined) return undefined;
        return `${RESTORE_AT}: the volume to restore is unknown: remove the annotation, or delete the object (deletionPolicy: Retain keeps the snapshot) and create it again with externalId and volumeRef`;
      },
      body: (spec, { name }) => ({
        properties: {
          name: spec.name ?? name,
          ...(spec.description !== undefined && { description: spec.description }),
        },
      }),
    },
    comparison: {
      compare(spec, item, inputs) {
        const { id, properties } = wire.parse(item);
        const described = patch("", `${collection}/${id}`, {
          name: [wantedName(spec, inputs), properties.name],
          description: [spec.description, properties.description],
        });
        const next = described.next ?? restoration(id, inputs);
        return { ...described, ...(next && { next }) };
      },
      facts(item, { annotations, shown }) {
        // The value that the object was created with counts as handled.
        const { location, size } = wire.parse(item).properties;
        return { ...known({ location, size }), restored: shown.restored ?? requestedRestore(annotations) ?? "" };
      },
    },
    destruction: { holdsData: true },
  }),
};
