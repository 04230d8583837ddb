import { BlockList, isIPv6 } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether a peer is on this machine. IPv4 peers of a dual-stack socket arrive as `::ffff:127.0.0.1`. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  return loopback.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
