import { z } from "zod";
import type { Inputs, Reference, Shown } from "../desired.ts";
import { nameOf } from "../fields/column.ts";
import { differences, known, wantedName } from "../fields/compare.ts";
import {
  coreItem,
  datacenterPath,
  datacenterReference,
  inDatacenter,
  line,
  managed,
  managedRules,
  objectRef,
  platformName,
  required,
  uuid,
} from "../fields/fields.ts";
import { flowLogFields, flowLogProperties, flowLogWords } from "../fields/network/flow-log.ts";
import { readsOf } from "../fields/reads.ts";
import { countOf } from "../fields/rules.ts";
import { type Kind, mapping } from "../kind.ts";

const byId = (noun: string) =>
  uuid().optional().describe(`Platform id of the ${noun} to watch, together with its datacenter.`);

const spec = z.object({
  ...managed,
  ...inDatacenter,
  datacenterRef: inDatacenter.datacenterRef.describe("With a target by id: the Datacenter of the target."),
  datacenterId: inDatacenter.datacenterId.describe("With a target by id: platform id of the target's datacenter."),
  serverRef: objectRef("Server").optional().describe("Server of the NIC to watch. Needs nic."),
  nic: line(255).optional().describe("Name of the NIC of that Server."),
  serverId: uuid()
    .optional()
    .describe("Platform id of the server of the NIC to watch. Needs nicId and its datacenter."),
  nicId: uuid().optional().describe("Platform id of the NIC of that server."),
  networkLoadBalancerId: byId("network load balancer"),
  applicationLoadBalancerId: byId("application load balancer"),
  natGatewayId: byId("NAT gateway"),
  name: platformName("flow log"),
  action: flowLogFields.action.optional().describe("Traffic to record. Required."),
  direction: flowLogFields.direction.optional().describe("Direction of the traffic. Required."),
  bucket: flowLogFields.bucket
    .optional()
    .describe("Bucket for the records, optionally with a prefix after a slash. It must exist. Required."),
});
type FlowLogSpec = z.output<typeof spec>;

const status = z.object({
  action: z.string().optional().describe("Recorded traffic on the platform."),
  direction: z.string().optional().describe("Direction on the platform."),
  bucket: z.string().optional().describe("Bucket for the records."),
  server: z.string().optional().describe("Name of the Server object of the NIC, or the id of its server."),
});

const wire = coreItem({
  name: z.string().nullish(),
  action: z.string().nullish(),
  direction: z.string().nullish(),
  bucket: z.string().nullish(),
});

/** The targets other than a NIC: the field in spec, which is also the role, and the collection. */
const gateways = [
  ["networkLoadBalancerId", "networkloadbalancers"],
  ["applicationLoadBalancerId", "applicationloadbalancers"],
  ["natGatewayId", "natgateways"],
] as const;
const targets = ["serverRef", "serverId", ...gateways.map(([field]) => field)];

function collection(parents: Inputs["parents"]): string {
  const id = (role: string) => encodeURIComponent(parents[role] ?? "");
  const datacenter = datacenterPath(parents);
  for (const [role, name] of gateways) {
    if (parents[role] !== undefined) return `${datacenter}/${name}/${id(role)}/flowlogs`;
  }
  return `${datacenter}/servers/${id("server")}/nics/${id("nic")}/flowlogs`;
}

const serverStatus = z.object({
  parents: z.object({ datacenter: z.string() }),
  nics: z.array(z.object({ id: z.string(), name: z.string().optional() })).default([]),
});

function references(spec: FlowLogSpec): Reference[] {
  const { serverRef, nic } = spec;
  const read = (shown: Shown) => serverStatus.safeParse(shown).data;
  if (!serverRef) {
    const { serverId, nicId } = spec;
    const isIn = (shown: Shown) => read(shown)?.nics.some(({ id }) => id === nicId) ?? false;
    const part = { kind: "Server", isIn };
    const ofNic: Reference[] = [
      ...(serverId === undefined
        ? []
        : [{ role: "server", kind: "Server", field: "serverId", target: { id: serverId } }]),
      ...(nicId === undefined ? [] : [{ role: "nic", kind: "", field: "nicId", target: { id: nicId, part } }]),
    ];
    const ofGateway = gateways.flatMap(([role]): Reference[] => {
      const id = spec[role];
      return id === undefined ? [] : [{ role, kind: "", field: role, target: { id } }];
    });
    return [datacenterReference(spec), ...ofNic, ...ofGateway];
  }
  const server = { kind: "Server", field: "serverRef", target: serverRef };
  return [
    { role: "datacenter", ...server, part: { what: "datacenter", of: (shown) => read(shown)?.parents.datacenter } },
    { role: "server", ...server },
    {
      role: "nic",
      ...server,
      field: "nic",
      part: {
        what: `NIC ${nic}`,
        of: (shown) => read(shown)?.nics.find(({ name }) => name === nic)?.id,
        all: (shown) => read(shown)?.nics.flatMap(({ name }) => name ?? []) ?? [],
      },
    },
  ];
}

/** The body that the platform expects. */
const properties = (spec: FlowLogSpec, inputs: Inputs) => ({
  name: wantedName(spec, inputs),
  ...flowLogProperties(spec),
});

const never = "the platform cannot change a FlowLog";

export const flowLog: Kind = {
  kind: "FlowLog",
  plural: "flowlogs",
  shortNames: ["flow"],
  description: "Traffic records of a NIC, load balancer or NAT gateway, written to object storage.",
  spec,
  status,
  rules: [
    ...managedRules,
    required("action"),
    required("direction"),
    required("bucket"),
    {
      rule: `${countOf(targets)} == 1`,
      message: `exactly one of ${targets.slice(0, -1).join(", ")} and ${targets.at(-1)} is required`,
    },
    { rule: "has(self.serverRef) == has(self.nic)", message: "serverRef and nic must be set together" },
    { rule: "has(self.serverId) == has(self.nicId)", message: "serverId and nicId must be set together" },
    {
      rule: "has(self.serverRef) ? !has(self.datacenterRef) && !has(self.datacenterId) : has(self.datacenterRef) != has(self.datacenterId)",
      message: "a target by id needs exactly one of datacenterRef and datacenterId; remove both with serverRef",
    },
  ],
  immutable: Object.fromEntries(
    [...targets, "nic", "nicId", "datacenterRef", "datacenterId", "name", "action", "direction", "bucket"].map(
      (field) => [field, never],
    ),
  ),
  comparable: ["name", "action", "direction", "bucket"],
  columns: [
    { name: "Server", type: "string", path: ".status.server", description: "Server of the NIC" },
    { name: "Action", type: "string", path: ".status.action", description: "Recorded traffic" },
    { name: "Bucket", type: "string", path: ".status.bucket", description: "Bucket for the records" },
    {
      name: "Direction",
      type: "string",
      path: ".status.direction",
      description: "Direction of the traffic",
      wide: true,
    },
  ],
  resource: mapping(spec, {
    names: { type: "flow-log" },
    identity: { onePer: "NIC, load balancer or NAT gateway" },
    place: { product: "core", collection, depth: 1, reads: readsOf(wire), references },
    creation: { body: (spec, inputs) => ({ properties: properties(spec, inputs) }) },
    comparison: {
      compare(spec, item, inputs) {
        const found = wire.parse(item).properties;
        const shown = flowLogWords(found);
        return {
          drift: differences({
            name: [wantedName(spec, inputs), found.name],
            action: [spec.action, shown.action],
            direction: [spec.direction, shown.direction],
            bucket: [spec.bucket, found.bucket],
          }),
        };
      },
      facts(item, { refs, shown }) {
        const { properties } = wire.parse(item);
        const { bucket } = properties;
        return known({
          ...flowLogWords(properties),
          bucket,
          server: nameOf(refs.server?.id, refs.server) ?? shown.server,
        });
      },
    },
    destruction: { holdsData: false },
  }),
};
