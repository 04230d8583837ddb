import { z } from "zod";
import { differences, known } from "./compare.ts";
import { exactlyOne, formed, managed, managedRules, objectRef, required, uuid } from "./fields.ts";
import { kafkaName, kafkaNameProblem } from "./kafka-name.ts";
import { type Kind, mapping, type Reference } from "./kind.ts";

const connection = z
  .object({
    datacenterRef: objectRef("Datacenter")
      .optional()
      .describe("The Datacenter. Exactly one of datacenterRef and datacenterId."),
    datacenterId: uuid().optional().describe("Platform id of the datacenter."),
    lanRef: objectRef("Lan").optional().describe("The Lan the brokers are in. Exactly one of lanRef and lanId."),
    lanId: formed(/^[1-9][0-9]*$/, 10, "must be the number of a LAN")
      .optional()
      .describe("Number of the LAN."),
    brokerAddresses: z
      .array(
        z
          .string()
          .max(18)
          .meta({
            "x-kubernetes-validations": [
              {
                rule: "isCIDR(self) && cidr(self).ip().family() == 4",
                message: "must be an IPv4 address with its prefix length, for example 192.168.1.101/24",
              },
              {
                rule: "!isCIDR(self) || !cidr('10.224.0.0/11').containsIP(cidr(self).ip())",
                message: "must not be inside 10.224.0.0/11, which the platform uses itself",
              },
            ],
          })
          .describe("Address of a broker in CIDR form."),
      )
      .min(3)
      .max(3)
      .meta({ "x-kubernetes-list-type": "set" })
      .describe("The addresses of the three brokers in the LAN, in CIDR form: 192.168.1.101/24."),
  })
  .meta({
    "x-kubernetes-validations": [exactlyOne("datacenterRef", "datacenterId"), exactlyOne("lanRef", "lanId")],
  });

const spec = z.object({
  ...managed,
  name: kafkaName("cluster"),
  version: z.enum(["4.0.0"]).default("4.0.0").describe("Version of the server."),
  size: z
    .enum(["XS", "S", "M", "L", "XL"])
    .optional()
    .describe("Size of the three brokers: S has 750 GB, M 1200 GB. Required."),
  connection: connection.optional().describe("Where the brokers are reached. Required."),
});
type ClusterSpec = z.output<typeof spec>;

const status = z.object({
  brokerAddresses: z
    .array(z.string().describe("Host and port."))
    .optional()
    .describe("Where the brokers listen, mutual TLS only."),
  bootstrapServers: z.string().optional().describe("The same as one text, as clients take it."),
});

const wire = z.looseObject({
  id: z.string(),
  metadata: z.looseObject({ brokerAddresses: z.array(z.string()).nullish() }).nullish(),
  properties: z.looseObject({
    name: z.string().nullish(),
    version: z.string().nullish(),
    size: z.string().nullish(),
    connections: z.array(z.looseObject({ brokerAddresses: z.array(z.string()).nullish() })).nullish(),
  }),
});

function references({ connection }: ClusterSpec): Reference[] {
  if (!connection) return [];
  const { datacenterRef, datacenterId, lanRef, lanId } = connection;
  const one = (role: string, kind: string, ref: { name: string } | undefined, id: string | undefined): Reference => ({
    role,
    kind,
    field: `connection.${role}Ref`,
    target: id !== undefined ? { id } : { name: ref?.name ?? "" },
  });
  return [one("datacenter", "Datacenter", datacenterRef, datacenterId), one("lan", "Lan", lanRef, lanId)];
}

const never = "the platform cannot change a cluster";

export const kafkaCluster: Kind = {
  kind: "KafkaCluster",
  plural: "kafkaclusters",
  shortNames: ["kc"],
  description: "A cluster of three Kafka brokers in a LAN, reached with mutual TLS only.",
  spec,
  status,
  rules: [...managedRules, required("size"), required("connection")],
  immutable: {
    name: never,
    version: never,
    size: never,
    "connection.datacenterRef": never,
    "connection.datacenterId": never,
    "connection.lanRef": never,
    "connection.lanId": never,
    "connection.brokerAddresses": never,
  },
  columns: [
    { name: "Size", type: "string", path: ".spec.size", description: "Size of the brokers" },
    {
      name: "Bootstrap",
      type: "string",
      path: ".status.bootstrapServers",
      description: "Where clients connect",
      wide: true,
    },
  ],
  resource: mapping(spec, {
    product: "streaming",
    noun: "kafka cluster",
    collection: () => "/clusters",
    depth: 0,
    holdsData: true,
    keptWhileUsed: true,
    echo(resource) {
      const { name, size, connections } = wire.partial({ id: true }).parse(resource).properties;
      return { name, size, addresses: connections?.[0]?.brokerAddresses };
    },
    references,
    problem: (spec, inputs) => kafkaNameProblem(spec, inputs),
    body: (spec, { name, parents }) => ({
      properties: {
        name: spec.name ?? name,
        version: spec.version,
        size: spec.size,
        connections: [
          { datacenterId: parents.datacenter, lanId: parents.lan, brokerAddresses: spec.connection?.brokerAddresses },
        ],
      },
    }),
    compare(spec, item, { name, observed }) {
      const { properties } = wire.parse(item);
      return {
        drift: differences({
          name: [spec.name ?? (observed ? undefined : name), properties.name],
          version: [observed ? undefined : spec.version, properties.version],
          size: [spec.size, properties.size],
          "connection.brokerAddresses": [
            spec.connection?.brokerAddresses.toSorted(),
            properties.connections?.[0]?.brokerAddresses?.toSorted(),
          ],
        }),
      };
    },
    facts(item) {
      const brokerAddresses = wire.parse(item).metadata?.brokerAddresses ?? [];
      return known({ brokerAddresses, bootstrapServers: brokerAddresses.join(",") || undefined });
    },
  }),
};
