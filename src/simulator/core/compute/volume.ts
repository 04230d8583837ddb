import { z } from "zod";
import { busy, refused } from "../../http/refusal.ts";
import { imagePassword, needsCloudInit, userData } from "../../records/fields.ts";
import { limitsOf } from "../../records/limits.ts";
import { numberIn, type Resource, textIn, textsIn } from "../../store/resource.ts";
import type { World } from "../../world.ts";
import type { Draft, Kind } from "../kind/kind.ts";
import { sameRegion } from "./catalogue.ts";
import { attachedServer, nextSlot } from "./volume-attachment.ts";

export const licences = [
  "UNKNOWN",
  "WINDOWS",
  "WINDOWS2016",
  "WINDOWS2019",
  "WINDOWS2022",
  "WINDOWS2025",
  "RHEL",
  "LINUX",
  "OTHER",
] as const;

const hotPlugs = [
  "cpuHotPlug",
  "ramHotPlug",
  "nicHotPlug",
  "nicHotUnplug",
  "discVirtioHotPlug",
  "discVirtioHotUnplug",
] as const;

export const volume: Kind = {
  type: "volume",
  collection: "volumes",
  param: "volumeId",
  parents: ["datacenter"],
  verbs: { collection: "GP", item: "GUAD" },
  paged: true,
  schema: z.object({
    name: z.string().nullish(),
    type: z.enum(["HDD", "SSD", "SSD Standard", "SSD Premium", "DAS"]).nullish(),
    size: z.int().positive().nullish(),
    availabilityZone: z.enum(["AUTO", "ZONE_1", "ZONE_2", "ZONE_3"]).nullish(),
    image: z.string().nullish(),
    imageAlias: z.string().nullish(),
    imagePassword: imagePassword.nullish(),
    sshKeys: z.array(z.string()).nullish(),
    userData: userData.nullish(),
    bus: z.enum(["VIRTIO", "IDE", "UNKNOWN"]).nullish(),
    licenceType: z.enum(licences).nullish(),
    applicationType: z.string().nullish(),
    backupunitId: z.string().nullish(),
    exposeSerial: z.boolean().nullish(),
    requireLegacyBios: z.boolean().nullish(),
    bootOrder: z.enum(["AUTO", "NONE", "PRIMARY"]).nullish(),
    ...Object.fromEntries(hotPlugs.map((name) => [name, z.boolean().nullish()])),
  }),
  createOnly: ["image", "imageAlias", "imagePassword", "sshKeys", "userData", "backupunitId"],
  writeOnly: ["imagePassword", "sshKeys", "userData"],
  readsAs: { sshKeys: null },
  defaults: {
    type: "HDD",
    availabilityZone: "AUTO",
    bus: "VIRTIO",
    applicationType: "UNKNOWN",
    exposeSerial: false,
    requireLegacyBios: true,
    bootOrder: "AUTO",
  },
  keptOnPut: ["type", "size", "availabilityZone", "licenceType", ...hotPlugs],
  spans: { create: [3, 6], update: [2, 4], delete: [2, 4] },

  shape(draft) {
    const { world, next, previous, holder } = draft;
    if (next.type === "SSD") next.type = "SSD Premium";
    shapeDisk(draft);
    if (previous !== null) return;
    shapeSource(draft);
    if (holder !== null) {
      Object.assign(next, nextSlot(world, holder));
      draft.refs = [holder.key];
    }
  },

  guard(_world, { properties }, write) {
    if (write === "delete" && properties.type === "DAS") {
      throw refused("[VDC-14-21] The direct-attached volume of a Cube cannot be deleted; delete the Cube");
    }
  },

  view(_world, volume) {
    const attached = attachedServer(volume);
    if (attached !== undefined) return { ...volume.properties, bootServer: attached.split("/").at(-1) };
    return { ...volume.properties, deviceNumber: null, pciSlot: null, bootServer: null };
  },
};

/** Type, zone and size. */
function shapeDisk(draft: Draft): void {
  const { world, given, next, previous, holder } = draft;
  const previousType = previous && textIn(previous.properties, "type");
  const ofNewCube = previous === null && holder?.properties.type === "CUBE" && holder.state === "BUSY";
  if (next.type === "DAS") {
    if (previous === null && !ofNewCube) {
      draft.fault("type", "DAS exists only as the inline volume of a new server of type CUBE");
    }
    if (given.size !== undefined && given.size !== previous?.properties.size) {
      draft.fault("size", "of a direct-attached volume is fixed by the template; leave it out");
    }
    if (next.availabilityZone !== "AUTO") draft.fault("availabilityZone", "is not available for type DAS");
    if (previous === null) next.size = templateSize(world, holder);
  }
  if (previousType && previousType !== next.type && (previousType === "DAS" || next.type === "DAS")) {
    draft.fault("type", "cannot be changed from or to DAS");
  }
  if (ofNewCube && next.type !== "DAS") draft.fault("type", "the inline volume of a Cube must be of type DAS");
  const size = numberIn(next, "size");
  if (size === undefined) {
    if (next.type !== "DAS") draft.fault("size", "is required");
    return;
  }
  if (previous !== null && size < (numberIn(previous.properties, "size") ?? 0)) {
    draft.fault("size", "can only grow");
  }
  const { hddLimitPerVolume, ssdLimitPerVolume } = limitsOf(world);
  const most = (next.type === "HDD" ? hddLimitPerVolume : ssdLimitPerVolume) / 1024;
  if (size > most) draft.fault("size", `must be at most ${most} GB`);
}

function templateSize(world: World, holder: Resource | null): number | undefined {
  const template = world.resources.get(`templates/${textIn(holder?.properties ?? {}, "templateUuid")}`);
  return template && numberIn(template.properties, "storageSize");
}

/** Where the content comes from: an image or snapshot by id, an image by alias, or nothing but a licence type. */
function shapeSource(draft: Draft): void {
  const { world, given, next } = draft;
  if (given.backupunitId !== undefined && world.resources.get(`backupunits/${given.backupunitId}`) === undefined) {
    draft.fault("backupunitId", `the backup unit ${given.backupunitId} does not exist`);
  }
  if (given.image !== undefined && given.imageAlias !== undefined) {
    draft.fault("imageAlias", "cannot be combined with image");
  }
  const source = sourceOf(draft);
  if (given.image === undefined && given.imageAlias === undefined) {
    if (given.licenceType === undefined) draft.fault("licenceType", "is needed without image and imageAlias");
  } else if (source === undefined) {
    const property = given.image === undefined ? "imageAlias" : "image";
    draft.fault(property, `"${given[property]}" does not exist in the location of the datacenter`);
  } else {
    next.image = source.id;
    next.licenceType ??= source.properties.licenceType;
    if (source.type === "snapshot") checkSnapshot(draft, source);
  }
  for (const flag of hotPlugs) next[flag] ??= source?.properties[flag] === true;
  if (given.userData !== undefined && source?.properties.cloudInit !== "V1") {
    draft.fault("userData", needsCloudInit);
  }
}

/** A volume has room for the whole snapshot that it is made from. */
function checkSnapshot(draft: Draft, snapshot: Resource): void {
  if (snapshot.state === "BUSY") throw busy(snapshot);
  const least = numberIn(snapshot.properties, "size") ?? 0;
  if ((numberIn(draft.next, "size") ?? least) < least) {
    draft.fault("size", `must be at least ${least} GB, the size of the snapshot ${snapshot.id}`);
  }
}

/** The image or snapshot that `given` names, if the region of the datacenter has it. */
export function sourceOf({ world, given, parent }: Pick<Draft, "world" | "given" | "parent">): Resource | undefined {
  const offered = (each: Resource) => sameRegion(world, each.properties, parent?.properties ?? {});
  const id = textIn(given, "image");
  if (id !== undefined) {
    const found = world.resources.get(`images/${id}`) ?? world.resources.get(`snapshots/${id}`);
    return found && offered(found) && found.properties.imageType !== "CDROM" ? found : undefined;
  }
  const alias = textIn(given, "imageAlias");
  if (alias === undefined) return undefined;
  for (const each of world.resources.ofType("image")) {
    const { imageType } = each.properties;
    if (imageType === "HDD" && textsIn(each.properties, "imageAliases").includes(alias) && offered(each)) return each;
  }
  return undefined;
}
