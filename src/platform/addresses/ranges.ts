import { BlockList, isIP } from "node:net";

/** A name without a dot after it, or an address without brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$|\.$/g, "");

export const defaultPort = (protocol: string): string => (protocol === "https:" ? "443" : "80");

export function contains(range: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && range.check(address, version === 4 ? "ipv4" : "ipv6");
}

/** Addresses in any of these subnets, such as 10.0.0.0/8. */
export function rangeOf(...subnets: string[]): BlockList {
  const range = new BlockList();
  for (const subnet of subnets) {
    const [address = "", prefix] = subnet.split("/");
    range.addSubnet(address, Number(prefix), isIP(address) === 4 ? "ipv4" : "ipv6");
  }
  return range;
}
