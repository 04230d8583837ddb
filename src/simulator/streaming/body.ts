import { z } from "zod";
import { checkedProperties } from "../core/kind/body.ts";
import { refuseBusy } from "../core/provisioning/reading.ts";
import type { Call } from "../http/exchange.ts";
import { type Cluster, sizes, type Topic } from "../records/streaming.ts";
import { isVisible } from "../store/shown.ts";
import type { World } from "../world.ts";
import { connectionsSchema, type Network } from "./connections.ts";

const nameRule = "must have 2 to 63 characters: letters, digits, - _ and . with a letter or digit at both ends";
const nameSchema = z
  .string()
  .regex(/^[A-Za-z0-9][-_.A-Za-z0-9]*[A-Za-z0-9]$/, nameRule)
  .max(63, nameRule);

/** The one version of the brokers. */
const version = "4.0.0";
const mostOf32Bits = 2 ** 31 - 1;

const clusterSchema = (network: Network) =>
  z.object({
    name: nameSchema,
    version: z.literal(version, { error: `must be ${version}` }),
    size: z.enum(sizes, { error: `must be one of ${sizes.join(", ")}` }),
    connections: connectionsSchema(network),
  });

/** The properties of a cluster that a call sends; refuses a network that is being changed, too. */
export function givenCluster(world: World, { body, at }: Call): Cluster["properties"] {
  const seen = (key: string) => {
    const resource = world.resources.get(key);
    return resource !== undefined && isVisible(resource, at) ? resource : undefined;
  };
  const datacenter = (id: string) => seen(`datacenters/${id}`);
  const lan = (datacenterId: string, id: string) => seen(`datacenters/${datacenterId}/lans/${id}`);
  const schema = clusterSchema({
    hasDatacenter: (id) => datacenter(id) !== undefined,
    hasLan: (datacenterId, id) => lan(datacenterId, id) !== undefined,
  });
  const properties = checkedProperties(schema, body);
  for (const { datacenterId, lanId } of properties.connections) {
    refuseBusy([datacenter(datacenterId), lan(datacenterId, lanId)].filter((each) => each !== undefined));
  }
  return properties;
}

/** `null` counts as absent. */
const optional = <T>(schema: z.ZodType<T>) => schema.nullish().transform((value) => value ?? undefined);

const wholeNumber = (low: number, high: number, rule: string) =>
  optional(z.int({ error: rule }).min(low, rule).max(high, rule));

const replicasRule = (brokers: number) =>
  `must be ${brokers === 1 ? "1" : `a whole number from 1 to ${brokers}`}, the number of brokers`;
const topicSchema = (brokers: number) =>
  z.object({
    name: nameSchema,
    replicationFactor: wholeNumber(1, brokers, replicasRule(brokers)),
    numberOfPartitions: wholeNumber(1, mostOf32Bits, "must be a whole number of at least 1"),
    logRetention: optional(
      z.object({
        retentionTime: wholeNumber(-1, Number.MAX_SAFE_INTEGER, "must be milliseconds, or -1 for no limit"),
        // A smaller segment cannot hold a record.
        segmentBytes: wholeNumber(14, mostOf32Bits, `must be a whole number from 14 to ${mostOf32Bits}`),
      }),
    ),
  });

/** The properties of a topic that a call sends; refuses more copies than there are brokers. */
export const givenTopic = (body: string, brokers: number): Topic["properties"] =>
  checkedProperties(topicSchema(brokers), body);
