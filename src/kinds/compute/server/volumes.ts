import { z } from "zod";
import type { Comparison, Inputs, Operation, Shown } from "../../desired.ts";
import { firstBootFields, firstBootProperties, firstBootRules } from "../../fields/boot/first-boot.ts";
import { imageFields, imageProperties, imageRules, licenceType } from "../../fields/boot/images.ts";
import { wantedOfOthers } from "../../fields/compare.ts";
import { datacenterPath, platformName, volumeSize } from "../../fields/fields.ts";
import { joined, ruled } from "../../fields/rules.ts";
import type { Remains } from "../../parts.ts";
import { patchVolume } from "../volume/patch.ts";
import { bootVolumeOf, readable, volumesOf, type WireServer } from "./wire.ts";

/** Prefix of the boot volume's fields in spec. */
export const BOOT = "bootVolume.";

const fields = z.object({
  name: platformName("boot volume", "the server's name with -boot added"),
  size: volumeSize()
    .optional()
    .describe("Size in GB; can only grow. Required, except for a Cube, where the template fixes it."),
  type: z
    .enum(["HDD", "SSD Standard", "SSD Premium", "DAS"])
    .optional()
    .describe("Storage technology. Required, except for a Cube, which always has DAS."),
  ...imageFields,
  ...firstBootFields,
  licenceType,
  bus: z.enum(["VIRTIO", "IDE"]).optional().describe("Bus of the volume. Default: VIRTIO."),
});
export const bootVolume = ruled(fields, joined(imageRules(BOOT), ...firstBootRules(BOOT)));
type BootVolume = z.output<typeof bootVolume>;

/** The boot volume in the body that creates its server. */
export const bootVolumeProperties = (volume: BootVolume, server: string, inputs: Inputs) => ({
  name: volume.name ?? `${server}-boot`,
  size: volume.size,
  type: volume.type ?? "DAS",
  ...imageProperties(volume, inputs, BOOT),
  ...firstBootProperties(volume, inputs, BOOT),
  licenceType: volume.licenceType,
  bus: volume.bus,
});

/**
 * The id of the boot volume that spec asks for. If that volume is lost, the platform boots from another one, which is
 * somebody's data.
 */
export const ownBootVolume = (spec: { bootVolume?: unknown }, { bootVolumeId: id }: Shown): string | undefined =>
  spec.bootVolume && typeof id === "string" ? id : undefined;

export function compareBootVolume(
  wanted: BootVolume | undefined,
  found: WireServer,
  { parents, shown, ...inputs }: Pick<Inputs, "parents" | "observed" | "adopted" | "shown">,
): Comparison[] {
  if (!wanted || !readable(found.entities?.volumes?.items)) return [];
  const own = ownBootVolume({ bootVolume: wanted }, shown);
  const volume = own === undefined ? bootVolumeOf(found) : volumesOf(found).find(({ id }) => id === own);
  // A missing boot volume is reported and not replaced, because its data is lost.
  if (!volume?.properties) return [{ drift: [{ field: "bootVolume", wanted: "present", found: "absent" }] }];
  const { name, size, bus, type } = volume.properties;
  const named = { name: [wanted.name, name], bus: [wanted.bus, bus] } as const;
  const path = `${datacenterPath(parents)}/volumes/${volume.id}`;
  // "SSD" is the former name of "SSD Premium".
  const fixed = { type: [wantedOfOthers(wanted.type, inputs), type === "SSD" ? "SSD Premium" : type] } as const;
  return [patchVolume(BOOT, path, named, [wanted.size, size], fixed)];
}

/**
 * Detaches a volume from a server before the deletion of the server, which deletes all attached volumes. Volumes that
 * were created with the server stay attached: the direct-attached volume of a Cube, which cannot be detached, or the
 * boot volume of spec.
 */
export function detachVolume(
  spec: { type: string; bootVolume?: unknown },
  found: WireServer,
  path: string,
  shown: Shown,
): Operation | undefined {
  const volumes = readable(found.entities?.volumes?.items);
  if (!volumes) throw new Error("the attached volumes are missing");
  const own = ownBootVolume(spec, shown) ?? (spec.bootVolume ? found.properties.bootVolume?.id : undefined);
  const boot = spec.type === "CUBE" ? undefined : own;
  const other = volumes.find(({ id, properties }) => id !== boot && properties.type !== "DAS");
  if (!other) return undefined;
  const action = `detach volume ${other.properties.name ?? other.id}`;
  return { action, method: "DELETE", path: `${path}/volumes/${other.id}` };
}

const shownVolumes = z.object({
  bootVolumeId: z.string().optional(),
  attachedBootVolumes: z.array(z.string()).default([]),
  volumes: z.array(z.object({ id: z.string() })).default([]),
});
const attachable = z.object({ properties: z.object({ bootServer: z.string().nullish() }) });

/** The volumes of a deleted server. Mooring deletes only the boot volume of spec with it, and detaches all others first. */
export const remainingVolumes: Remains = {
  kind: "Volume",
  ids(shown) {
    const { bootVolumeId, attachedBootVolumes, volumes } = shownVolumes
      .catch({ attachedBootVolumes: [], volumes: [] })
      .parse(shown);
    const boot = bootVolumeId === undefined ? [] : [bootVolumeId];
    return [...new Set([...boot, ...attachedBootVolumes, ...volumes.map(({ id }) => id)])];
  },
  isUnused(item) {
    const { data } = attachable.safeParse(item);
    return data && data.properties.bootServer == null;
  },
};
