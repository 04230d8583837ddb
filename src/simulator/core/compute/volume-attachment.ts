import { refused } from "../../http/refusal.ts";
import { numberIn, type Resource } from "../../store/resource.ts";
import type { World } from "../../world.ts";

/** The NVMe volume of a Cube and up to 23 add-on volumes. */
const cubeSlots = 24;

export const attachedServer = (volume: Resource) => volume.refs.find((ref) => /\/servers\/[^/]+$/.test(ref));

export function attachVolume(world: World, server: Resource, volume: Resource) {
  if (attachedServer(volume) !== undefined) {
    throw refused(`[VDC-14-20] The volume ${volume.id} is attached to a server already; detach it first`);
  }
  return { properties: { ...volume.properties, ...nextSlot(world, server) }, refs: [server.key] };
}

export function detachVolume(_world: World, _server: Resource, volume: Resource) {
  if (volume.properties.type === "DAS") {
    throw refused("[VDC-14-21] The direct-attached volume of a Cube cannot be detached");
  }
  return { properties: { ...volume.properties, deviceNumber: null, pciSlot: null }, refs: [] };
}

/** The first free device of a server; refuses when a Cube has none left. */
export function nextSlot(world: World, server: Resource): { deviceNumber: number; pciSlot: number } {
  const volumes = world.resources.referrers(server.key, "volume");
  if (server.properties.type === "CUBE" && volumes.length >= cubeSlots) {
    throw refused(
      `[VDC-14-22] A Cube has ${cubeSlots} device slots: its direct-attached volume and ${cubeSlots - 1} add-on volumes`,
    );
  }
  const taken = new Set(volumes.map((each) => numberIn(each.properties, "deviceNumber")));
  let deviceNumber = 1;
  while (taken.has(deviceNumber)) deviceNumber += 1;
  return { deviceNumber, pciSlot: deviceNumber + 4 };
}
