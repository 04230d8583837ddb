import { type Base, by, someId } from "../../../manifests.ts";
import { bootVolume, image, inDatacenter } from "../../../surroundings.ts";

export const spec = { ...inDatacenter, cores: 2, ram: 2048, bootVolume, nics: [{ name: "public", lan: 1 }] };
/** A Dedicated Core server, with boot volume and NIC. */
export const base: Base = { kind: "Server", spec };

const bare = { bootVolume: undefined, nics: undefined };
export const vcpu = by(base, { ...bare, type: "VCPU" });
export const cube = by(base, {
  ...bare,
  cores: undefined,
  ram: undefined,
  type: "CUBE",
  templateUuid: someId,
  bootVolume: image,
});
export const namedCube = by(cube, {
  templateUuid: undefined,
  templateName: "basic cube xs",
  bootVolume: { imageLookup: { name: "Ubuntu-24" } },
});
