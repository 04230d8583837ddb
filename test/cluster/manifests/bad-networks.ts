import { flowLog, gatewayLog, ipBlock, lan } from "./base.ts";
import { bad, long, someId } from "./table.ts";

const noServer = { serverRef: null, nic: null };

export const badNetworks = [
  ...bad(lan, "Lan", [
    ["no datacenter", { datacenterRef: null }, "exactly one of datacenterRef and datacenterId is required"],
    ["two datacenters", { datacenterId: someId }, "exactly one of datacenterRef and datacenterId is required"],
    ["observed without an id", { managementPolicy: "Observe" }, "managementPolicy Observe needs externalId"],
    ["a UUID for a number", { externalId: someId }, "spec.externalId", "Too long"],
    ["a number that is none", { externalId: "0" }, "spec.externalId", "must be the number of a LAN"],
    ["public as text", { public: "yes" }, "spec.public", "must be of type boolean"],
    ["an empty name", { name: "" }, "spec.name", "at least 1 chars long"],
    [
      "an IPv4 block",
      { ipv6: "10.0.0.0/24" },
      "spec.ipv6",
      "must be AUTO or a /64 block, for example fd00:2000:0:1::/64",
    ],
    ["a block of another size", { ipv6: "fd00::/56" }, "spec.ipv6", "must be AUTO or a /64 block"],
    ["an address for a block", { ipv6: "fd00::1" }, "spec.ipv6", "must be AUTO or a /64 block"],
    ["a block that is none", { ipv6: "fd00::1::/64" }, "spec.ipv6", "must be AUTO or a /64 block"],
    ["auto in lower case", { ipv6: "auto" }, "spec.ipv6", "must be AUTO or a /64 block"],
    ["an unknown field", { pcc: someId }, 'unknown field "spec.pcc"'],
  ]),
  ...bad(ipBlock, "IPBlock", [
    ["no location", { location: null }, "location is required"],
    ["no size", { size: null }, "size is required"],
    ["observed without an id", { managementPolicy: "Observe" }, "managementPolicy Observe needs externalId"],
    ["a location as a slug", { location: "de-txl" }, "spec.location", "must be a location <country>/<site>"],
    ["size 0", { size: 0 }, "spec.size", "greater than or equal to 1"],
    ["10001 addresses", { size: 10_001 }, "spec.size", "less than or equal to 10000"],
    ["half an address", { size: 0.5 }, "spec.size", "must be of type integer"],
    ["a name of 256 characters", { name: long(256) }, "spec.name", "255"],
    ["addresses of one's choice", { ips: ["203.0.113.7"] }, 'unknown field "spec.ips"'],
    ["an output that is nowhere", { output: {} }, "exactly one of secretName and configMapName is required"],
    [
      "an output in two places",
      { output: { secretName: "a", configMapName: "b" } },
      "exactly one of secretName and configMapName is required",
    ],
    ["an output of a bad name", { output: { secretName: "A B" } }, "must be the name of an object"],
  ]),
  ...bad(flowLog, "FlowLog", [
    ["no action", { action: null }, "action is required"],
    ["no direction", { direction: null }, "direction is required"],
    ["no bucket", { bucket: null }, "bucket is required"],
    ["an action in the platform's word", { action: "ALL" }, "spec.action", '"Accepted", "Rejected", "Any"'],
    ["an unknown direction", { direction: "Both" }, "spec.direction", '"Ingress", "Egress", "Bidirectional"'],
    ["a bucket in upper case", { bucket: "Logs" }, "spec.bucket", "must be the name of a bucket", "my-bucket/flow"],
    ["an empty prefix", { bucket: "flow-logs/" }, "spec.bucket", "must be the name of a bucket"],
    ["a bucket of two characters", { bucket: "ab" }, "spec.bucket", "must be the name of a bucket"],
    ["a server without its NIC", { nic: null }, "serverRef and nic must be set together"],
    ["a NIC without its server", { serverRef: null }, "serverRef and nic must be set together"],
    [
      "nothing to watch",
      { ...noServer, datacenterId: someId },
      "exactly one of serverRef, serverId, networkLoadBalancerId, applicationLoadBalancerId and natGatewayId is required",
    ],
    [
      "two things to watch",
      { natGatewayId: someId },
      "exactly one of serverRef, serverId, networkLoadBalancerId, applicationLoadBalancerId and natGatewayId is required",
    ],
    [
      "a server and a datacenter",
      { datacenterRef: { name: "berlin" } },
      "needs exactly one of datacenterRef and datacenterId; remove both with serverRef",
    ],
    [
      "a NIC by name and by id",
      { serverId: someId, nicId: someId },
      "exactly one of serverRef, serverId, networkLoadBalancerId",
    ],
    [
      "a server's id without its NIC's",
      { ...noServer, serverId: someId, datacenterId: someId },
      "serverId and nicId must be set together",
    ],
    [
      "ids without a datacenter",
      { ...noServer, serverId: someId, nicId: someId },
      "needs exactly one of datacenterRef and datacenterId",
    ],
    ["observed without an id", { managementPolicy: "Observe" }, "managementPolicy Observe needs externalId"],
  ]),
  ...bad(gatewayLog("natGatewayId", someId), "FlowLog of a NAT gateway", [
    ["no datacenter", { datacenterRef: null }, "needs exactly one of datacenterRef and datacenterId"],
    ["two datacenters", { datacenterId: someId }, "needs exactly one of datacenterRef and datacenterId"],
    ["an id that is none", { natGatewayId: "out" }, "spec.natGatewayId", "must be a UUID"],
    ["a NIC", { nic: "public" }, "serverRef and nic must be set together"],
  ]),
];
