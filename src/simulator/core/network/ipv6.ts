import { BlockList } from "node:net";
import { type Properties, type Resource, textIn, textsIn } from "../../store/resource.ts";
import type { World } from "../../world.ts";

/** IPv6 networks are nested: a LAN has a /64 in the /56 of its datacenter, a NIC a /80 in that. */

/** The eight groups of 16 bits of a network's address. */
function groupsOf(block: string): number[] {
  const [head = "", tail = ""] = (block.split("/")[0] ?? "").split("::");
  const read = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
  const [front, back] = [read(head), read(tail)];
  return [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back];
}

/** The network of the first `groups` groups, with `number` in the last of them. */
function subnet(block: string, groups: number, number: number): string {
  const own = groupsOf(block).slice(0, groups);
  own[groups - 1] = (own[groups - 1] ?? 0) | number;
  return `${own.map((group) => group.toString(16)).join(":")}::/${groups * 16}`;
}

/** The network with the LAN's number inside the datacenter's. */
export const lanBlock = (datacenterBlock: string, lanId: string) => subnet(datacenterBlock, 4, Number(lanId) % 256);

/** Whether a network or an address lies in a network. */
export function isInside(inner: string, outer: string): boolean {
  const [[address = "", length = "128"], [start = "", size = ""]] = [inner.split("/"), outer.split("/")];
  const list = new BlockList();
  list.addSubnet(start, Number(size), "ipv6");
  return Number(length) >= Number(size) && list.check(address, "ipv6");
}

/** The network of a NIC in a LAN that has one: its own where it lies there, else one that follows from its MAC. */
export function nicBlock(lan: Resource | undefined, { ipv6CidrBlock, mac }: Properties): string | undefined {
  const outer = textIn(lan?.properties ?? {}, "ipv6CidrBlock");
  if (outer === undefined) return undefined;
  if (typeof ipv6CidrBlock === "string" && isInside(ipv6CidrBlock, outer)) return ipv6CidrBlock;
  const number = Number.parseInt(String(mac).replaceAll(":", "").slice(-4), 16);
  return subnet(outer, 5, (number + 1) % 65_536);
}

/** The IPv6 properties of a NIC: none in a LAN without a network, else at least one address. */
export function ipv6Of(world: World, { refs, properties }: Resource): Properties {
  const lan = refs.map((ref) => world.resources.get(ref)).find((each) => each?.type === "lan");
  const block = nicBlock(lan, properties);
  if (block === undefined) return {};
  const own = textsIn(properties, "ipv6Ips").filter((address) => isInside(address, block));
  return {
    ipv6CidrBlock: block,
    ipv6Ips: own.length > 0 ? own : [block.replace(/\/80$/, "1")],
    dhcpv6: properties.dhcpv6 ?? true,
  };
}
