/** Names of common IANA protocol numbers. */
const names: Record<number, string> = {
  0: "HOPOPT",
  1: "ICMP",
  2: "IGMP",
  4: "IPIP",
  6: "TCP",
  17: "UDP",
  33: "DCCP",
  41: "IPv6",
  46: "RSVP",
  47: "GRE",
  50: "ESP",
  51: "AH",
  58: "ICMPv6",
  88: "EIGRP",
  89: "OSPF",
  97: "ETHERIP",
  103: "PIM",
  112: "VRRP",
  115: "L2TP",
  132: "SCTP",
  136: "UDPLite",
  137: "MPLS",
};

export const protocolName = (number: number): string => names[number] ?? String(number);
