import { bad, type Refused } from "../../../manifests.ts";
import { base } from "./bases.ts";

const nic = (fields: object) => ({ nics: [{ name: "public", lan: 1, ...fields }] });
const rule = (fields: object) => nic({ firewallRules: [{ name: "web", protocol: "TCP", ...fields }] });
const inRule = "spec.nics[0].firewallRules[0]";

export const refusedNics: Refused[] = [
  ...bad(base, "Server with a firewall rule", [
    ["without a name", nic({ firewallRules: [{ protocol: "TCP" }] }), `${inRule}.name`, "Required value"],
    ["without a protocol", nic({ firewallRules: [{ name: "web" }] }), `${inRule}.protocol`, "Required value"],
    ["of an unknown protocol", rule({ protocol: "tcp" }), `${inRule}.protocol`, '"TCP"'],
    ["of both directions", rule({ type: "BIDIRECTIONAL" }), `${inRule}.type`, '"EGRESS"'],
    [
      "that has the name of another",
      nic({
        firewallRules: [
          { name: "web", protocol: "TCP" },
          { name: "web", protocol: "UDP" },
        ],
      }),
      "spec.nics[0].firewallRules",
      "name must be unique within the list",
    ],
    [
      "with half a range of ports",
      rule({ portRangeStart: 80 }),
      inRule,
      "portRangeStart and portRangeEnd are needed together",
    ],
    [
      "with a range that ends before it begins",
      rule({ portRangeStart: 80, portRangeEnd: 79 }),
      inRule,
      "portRangeEnd must not be less",
    ],
    [
      "with port 0",
      rule({ portRangeStart: 0, portRangeEnd: 1 }),
      `${inRule}.portRangeStart`,
      "greater than or equal to 1",
    ],
    [
      "with ports of ICMP",
      rule({ protocol: "ICMP", portRangeStart: 1, portRangeEnd: 1 }),
      inRule,
      "are for TCP and UDP only",
    ],
    ["with an ICMP type of TCP", rule({ icmpType: 8 }), inRule, "are for ICMP and ICMPv6 only"],
    [
      "with ICMP code 255",
      rule({ protocol: "ICMP", icmpCode: 255 }),
      `${inRule}.icmpCode`,
      "less than or equal to 254",
    ],
    [
      "with a source by name",
      rule({ sourceIp: "example.com" }),
      `${inRule}.sourceIp`,
      "must be an IP address or a network",
    ],
    [
      "with an address in a network",
      rule({ targetIp: "10.0.1.7/24" }),
      `${inRule}.targetIp`,
      "must be the first address of the network",
    ],
    ["with half a MAC address", rule({ sourceMac: "02:01:0a" }), `${inRule}.sourceMac`, "must be a MAC address"],
    [
      "too many",
      nic({ firewallRules: Array.from({ length: 51 }, (_, n) => ({ name: `r${n}`, protocol: "ANY" })) }),
      "spec.nics[0].firewallRules",
      "must have at most 50 items",
    ],
  ]),
  ...bad(base, "Server with a NIC", [
    ["without a name", { nics: [{ lan: 1 }] }, "spec.nics[0].name", "Required value"],
    ["with an empty name", nic({ name: "" }), "spec.nics[0].name", "at least 1 chars long"],
    ["without a LAN", { nics: [{ name: "public" }] }, "spec.nics[0]", "exactly one of lan and lanRef is required"],
    ["in two LANs", nic({ lanRef: { name: "front" } }), "spec.nics[0]", "exactly one of lan and lanRef is required"],
    ["in LAN 0", nic({ lan: 0 }), "spec.nics[0].lan", "greater than or equal to 1"],
    ["in a LAN by name", nic({ lan: "private" }), "spec.nics[0].lan", "must be of type integer"],
    [
      "named twice",
      {
        nics: [
          { name: "public", lan: 1 },
          { name: "public", lan: 2 },
        ],
      },
      "spec.nics",
      "name must be unique",
    ],
    ["with an address that is none", nic({ ips: ["10.0.0.256"] }), "spec.nics[0].ips[0]", "must be an IPv4 address"],
    ["with a network", nic({ ips: ["10.0.0.0/24"] }), "spec.nics[0].ips[0]", "must be an IPv4 address"],
    ["with an IPv6 address", nic({ ips: ["2001:db8:0:1:1:1:1:1"] }), "spec.nics[0].ips[0]", "must be an IPv4 address"],
    [
      "with an address given twice",
      nic({ ips: ["10.0.0.1", "10.0.0.1"] }),
      "spec.nics[0].ips",
      "must not contain duplicates",
    ],
    [
      "with an address of no IPBlock",
      nic({ ipsFrom: [{ index: 0 }] }),
      "spec.nics[0].ipsFrom[0].ipBlockRef",
      "Required value",
    ],
    [
      "with the address before the first",
      nic({ ipsFrom: [{ ipBlockRef: { name: "web" }, index: -1 }] }),
      "spec.nics[0].ipsFrom[0].index",
      "greater than or equal to 0",
    ],
    [
      "with addresses of 33 IPBlocks",
      nic({ ipsFrom: Array.from({ length: 33 }, (_, index) => ({ ipBlockRef: { name: "web" }, index })) }),
      "spec.nics[0].ipsFrom",
      "32",
    ],
    ["with dhcp as text", nic({ dhcp: "yes" }), "spec.nics[0].dhcp", "must be of type boolean"],
    [
      "with an IPv4 address for IPv6",
      nic({ ipv6Ips: ["10.0.0.1"] }),
      "spec.nics[0].ipv6Ips[0]",
      "must be an IPv6 address, for example 2001:db8::7",
    ],
    [
      "with the IPv6 block of a LAN",
      nic({ ipv6CidrBlock: "2001:db8:0:1::/64" }),
      "spec.nics[0].ipv6CidrBlock",
      "must be a /80 block",
    ],
    [
      "with an IPv6 address outside of its block",
      nic({ ipv6CidrBlock: "2001:db8:0:1:2::/80", ipv6Ips: ["2001:db8:0:1:3::7"] }),
      "spec.nics[0]",
      "ipv6Ips must lie in ipv6CidrBlock",
    ],
    [
      "with the same IPv6 address twice",
      nic({ ipv6Ips: ["2001:db8::7", "2001:db8::7"] }),
      "spec.nics[0].ipv6Ips",
      "must not contain duplicates",
    ],
    ["with an unknown firewall type", nic({ firewallType: "Ingress" }), "spec.nics[0].firewallType", '"INGRESS"'],
    ["that is no list", { nics: "public" }, "spec.nics", "must be of type array"],
    [
      "and 64 more",
      { nics: Array.from({ length: 65 }, (_, lan) => ({ name: `n${lan}`, lan: lan + 1 })) },
      "spec.nics",
      "64",
    ],
    ["with an unknown field", nic({ mac: "02:01:00:00:00:01" }), 'unknown field "spec.nics[0].mac"'],
  ]),
];
