import { BlockList, isIP } from "node:net";

/** A set of addresses and networks. */
export type Networks = (address: string) => boolean;

/** Size of the cache of results, because the same addresses occur many times. */
const KEPT = 65_536;

/** The set of these addresses and CIDR networks; undefined if one of the texts is neither. */
export function networksOf(texts: readonly string[]): Networks | undefined {
  const list = new BlockList();
  for (const text of texts) {
    const [address = "", bits, ...rest] = text.split("/");
    const family = isIP(address);
    const longest = family === 4 ? 32 : 128;
    const length = bits === undefined ? longest : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
    if (family === 0 || rest.length > 0 || !(length <= longest)) return undefined;
    list.addSubnet(address, length, family === 4 ? "ipv4" : "ipv6");
  }
  let known = new Map<string, boolean>();
  return (address) => {
    const cached = known.get(address);
    if (cached !== undefined) return cached;
    const isIn = list.check(address, address.includes(":") ? "ipv6" : "ipv4");
    if (known.size >= KEPT) known = new Map();
    known.set(address, isIn);
    return isIn;
  };
}
