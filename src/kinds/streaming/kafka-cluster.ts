import { z } from "zod";
import type { Content } from "../contents.ts";
import { differences, known, wantedName } from "../fields/compare.ts";
import { irreplaceable, managed, managedRules, required, wireId } from "../fields/fields.ts";
import { output, outputField } from "../fields/secrets/output.ts";
import { type Kind, mapping } from "../kind.ts";
import {
  connection,
  connectionFields,
  connectionMentions,
  connectionProblem,
  connectionReferences,
} from "./kafka-connection.ts";
import { kafkaName, kafkaNameProblem } from "./kafka-name.ts";

const spec = z.object({
  ...managed,
  ...irreplaceable,
  name: kafkaName("cluster"),
  version: z.enum(["4.0.0"]).default("4.0.0").describe("Kafka version."),
  size: z
    .enum(["XS", "S", "M", "L", "XL"])
    .optional()
    .describe("Size of the three brokers: S has 750 GB, M 1200 GB. Required."),
  connection: connection.optional().describe("Network of the brokers. Required."),
  ...outputField,
});

const status = z.object({
  size: z.string().optional().describe("Size of the brokers."),
  brokerAddresses: z
    .array(z.string().describe("Host and port."))
    .optional()
    .describe("Addresses of the brokers; mutual TLS only."),
  bootstrapServers: z.string().optional().describe("The same as one string, for bootstrap.servers of clients."),
});

const wire = z.looseObject({
  id: wireId(),
  metadata: z.looseObject({ brokerAddresses: z.array(z.string()).nullish() }).nullish(),
  properties: z.looseObject({
    name: z.string().nullish(),
    version: z.string().nullish(),
    size: z.string().nullish(),
    connections: z
      .array(
        z.looseObject({
          datacenterId: z.string().nullish(),
          lanId: z.string().nullish(),
          brokerAddresses: z.array(z.string()).nullish(),
        }),
      )
      .nullish(),
  }),
});

/** The addresses of the brokers; on a platform that does not report them, their addresses in the LAN. */
export function brokersOf(item: unknown): string[] {
  const { metadata, properties } = wire.parse(item);
  const inLan = properties.connections?.[0]?.brokerAddresses ?? [];
  return metadata?.brokerAddresses ?? inLan.map((address) => address.replace(/\/\d+$/, ":9093"));
}

const topicList = z.looseObject({
  items: z.array(
    z.looseObject({ id: z.string(), properties: z.looseObject({ name: z.string().nullish() }).nullish() }),
  ),
});

/** Topics in which brokers keep their own state. It is of no use without the other topics. */
const OF_BROKERS: readonly unknown[] = ["__consumer_offsets", "__transaction_state", "__share_group_state"];

/** The topics whose records are deleted with the cluster. */
const topicsIn = (list: unknown): Content[] =>
  topicList
    .parse(list)
    .items.filter(({ properties }) => !OF_BROKERS.includes(properties?.name))
    .map(({ id, properties }) => ({ id, title: `topic ${properties?.name ?? id}` }));

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
  comparable: [
    "name",
    "version",
    "size",
    "connection.datacenterRef",
    "connection.datacenterId",
    "connection.lanRef",
    "connection.lanId",
    "connection.brokerAddresses",
  ],
  columns: [
    { name: "Size", type: "string", path: ".status.size", description: "Size of the brokers" },
    {
      name: "Bootstrap",
      type: "string",
      path: ".status.bootstrapServers",
      description: "Addresses for clients",
      wide: true,
    },
  ],
  resource: mapping(spec, {
    names: {
      type: "cluster",
      fields: { "connections[0]": "connection", connections: "connection" },
    },
    identity: {
      echo(resource) {
        const { name, version, size, connections } = wire.partial({ id: true }).parse(resource).properties;
        const { datacenterId, lanId, brokerAddresses } = connections?.[0] ?? {};
        return { name, version, size, datacenterId, lanId, brokerAddresses: brokerAddresses?.toSorted() };
      },
    },
    place: {
      product: "streaming",
      collection: () => "/clusters",
      depth: 0,
      references: ({ connection }) => (connection ? connectionReferences(connection) : []),
      mentions: ({ connection }) => connectionMentions(connection),
    },
    creation: {
      problem: (spec, inputs) =>
        kafkaNameProblem(spec, inputs) ?? (spec.connection && connectionProblem(spec.connection, inputs)),
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
    },
    comparison: {
      compare(spec, item, inputs) {
        const { observed, adopted, parents } = inputs;
        const { properties } = wire.parse(item);
        const { datacenterId, lanId, brokerAddresses } = properties.connections?.[0] ?? {};
        const fields = connectionFields(spec.connection);
        return {
          drift: differences({
            name: [wantedName(spec, inputs), properties.name],
            version: [observed || adopted ? undefined : spec.version, properties.version],
            size: [spec.size, properties.size],
            [fields.datacenter]: [parents.datacenter, datacenterId],
            [fields.lan]: [parents.lan, lanId],
            "connection.brokerAddresses": [spec.connection?.brokerAddresses.toSorted(), brokerAddresses?.toSorted()],
          }),
        };
      },
      facts(item) {
        const brokerAddresses = brokersOf(item);
        return known({
          size: wire.parse(item).properties.size,
          brokerAddresses,
          bootstrapServers: brokerAddresses.join(",") || undefined,
        });
      },
    },
    destruction: { contents: { reads: { "/topics": topicsIn } }, holdsData: true },
    output: output((item, { id }) => ({ ID: id, BOOTSTRAP_SERVERS: brokersOf(item) })),
  }),
};
