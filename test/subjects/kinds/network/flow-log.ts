import {
  type Base,
  bad,
  by,
  datacenterById,
  each,
  fixedField,
  fixedParent,
  good,
  observed,
  otherId,
  someId,
} from "../../manifests.ts";
import { replaced, type Subject } from "../../subject.ts";
import { home, host, hostRef, inDatacenter, inPlace } from "../../surroundings.ts";

const capture = { action: "Rejected", direction: "Ingress", bucket: "flow-logs" };
const base = { kind: "FlowLog", spec: { serverRef: { name: "host" }, nic: "public", ...capture } };
const all = { spec: { action: "Any" }, shows: { action: "ALL" } };

const never = "the platform cannot change a FlowLog";
const noServer = { serverRef: null, nic: null };
/** The flow log of a load balancer or NAT gateway. */
const gatewayLog = (field: string): Base =>
  by(base, { serverRef: undefined, nic: undefined, ...inDatacenter, [field]: someId });
const gateways = ["networkLoadBalancerId", "applicationLoadBalancerId", "natGatewayId"];
const nicById = by(base, {
  serverRef: undefined,
  nic: undefined,
  serverId: someId,
  nicId: someId,
  datacenterId: someId,
});

/** There can be one per NIC: each has a NIC of its own, which is called like it. */
export const subject: Subject = {
  ...base,
  own: (name) => ({ nic: name }),
  wire: {
    collection: "flowlogs",
    path: (ground, name) => `${inPlace("servers")(ground)}/${ground.server}/nics/${ground.nics[name]}/flowlogs`,
    body: (name) => ({ properties: { name, action: "REJECTED", direction: "INGRESS", bucket: "flow-logs" } }),
  },
  place: (name) => ({ serverRef: { name: "host" }, nic: name }),
  fixedChange: all,
  needs: ({ nth }) => [home, host(nth)],
  life: ({ nth }) => {
    const spec = { ...hostRef(nth), nic: "watched", ...capture };
    return { spec, changes: [replaced(spec, all)] };
  },
  manifests: {
    accepted: [
      ...good(base, "FlowLog", [
        ["of a NIC", {}],
        ["of a NIC by ids", { serverRef: null, nic: null, serverId: someId, nicId: someId, datacenterId: someId }],
        ["with a prefix", { bucket: "flow-logs/web/2026" }],
        ...each("action", ["Accepted", "Rejected", "Any"]),
        ...each("direction", ["Ingress", "Egress", "Bidirectional"]),
        ["only observed, by nothing but its place", { ...observed, action: null, direction: null, bucket: null }],
      ]),
      ...gateways.flatMap((field) =>
        good(gatewayLog(field), `FlowLog with ${field}`, [
          ["in a Datacenter", {}],
          ["in a datacenter by id", datacenterById],
        ]),
      ),
    ],
    refused: [
      ...bad(base, "FlowLog", [
        ["no action", { action: null }, "action is required"],
        ["no direction", { direction: null }, "direction is required"],
        ["no bucket", { bucket: null }, "bucket is required"],
        ["an action as the platform spells it", { action: "ALL" }, "spec.action", '"Accepted", "Rejected", "Any"'],
        ["an unknown direction", { direction: "Both" }, "spec.direction", '"Ingress", "Egress", "Bidirectional"'],
        ["a bucket in upper case", { bucket: "Logs" }, "spec.bucket", "must be the name of a bucket", "my-bucket/flow"],
        ["an empty prefix", { bucket: "flow-logs/" }, "spec.bucket", "must be the name of a bucket"],
        ["a prefix that leads out", { bucket: "flow-logs/a/../b" }, "spec.bucket", "a folder named '.' or '..'"],
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
      ...bad(gatewayLog("natGatewayId"), "FlowLog of a NAT gateway", [
        ["no datacenter", { datacenterRef: null }, "needs exactly one of datacenterRef and datacenterId"],
        ["two datacenters", { datacenterId: someId }, "needs exactly one of datacenterRef and datacenterId"],
        ["an id that is none", { natGatewayId: "out" }, "spec.natGatewayId", "must be a UUID"],
        ["a NIC", { nic: "public" }, "serverRef and nic must be set together"],
      ]),
    ],
    changes: {
      accepted: [...good(base, "FlowLog", [["kept when deleted", { deletionPolicy: "Retain" }]])],
      fixed: [
        fixedField(base, "serverRef", { name: "other" }, never),
        fixedField(base, "nic", "other", never),
        fixedField(nicById, "serverId", otherId, never),
        fixedField(nicById, "nicId", otherId, never),
        ...gateways.map((field) => fixedField(gatewayLog(field), field, otherId, never)),
        ...fixedParent(gatewayLog("natGatewayId"), "datacenter", never),
        fixedField(base, "name", "other", never),
        fixedField(base, "action", "Any", never),
        fixedField(base, "direction", "Egress", never),
        fixedField(base, "bucket", "other-bucket", never),
      ],
    },
  },
};
