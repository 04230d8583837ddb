import { BlockList, isIPv4 } from "node:net";
import type { Resource } from "../../store/resource.ts";
import type { World } from "../../world.ts";

/** Public addresses come from the range for benchmarks: they look public and lead nowhere. */
const publicStart = 198 * 2 ** 24 + 18 * 2 ** 16;

const privateRanges = new BlockList();
privateRanges.addSubnet("10.0.0.0", 8);
privateRanges.addSubnet("172.16.0.0", 12);
privateRanges.addSubnet("192.168.0.0", 16);
privateRanges.addSubnet("100.64.0.0", 10);
privateRanges.addSubnet("169.254.0.0", 16);

export const isPublic = (address: string) => isIPv4(address) && !privateRanges.check(address);

const dotted = (address: number) => [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");

/** An address for a NIC in a LAN, as the platform picks it. */
export const addressIn = (world: World, lan: Resource) =>
  lan.properties.public === true ? publicAddress(world) : privateAddress(world, lan);

/** The next public address; addresses are not given out twice. */
export function publicAddress(world: World): string {
  return dotted(publicStart + 1 + world.counters.next("public-address"));
}

/** The private network of a LAN: a /16 of its own in the datacenter, large enough for any number of NICs. */
export const lanNetwork = (lanId: string) => `10.${Number(lanId) % 256}.0.0/16`;

/** The next free address in the network of a LAN. */
export function privateAddress(world: World, { key, id }: Resource): string {
  const host = 10 + world.counters.next(`host/${key}`);
  return `10.${Number(id) % 256}.${Math.floor(host / 250) % 250}.${(host % 250) + 1}`;
}
