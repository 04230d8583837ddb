import { z } from "zod";
import type { Inputs, ObjectRef, Reference } from "../desired.ts";
import { nested, wantedName } from "../fields/compare.ts";
import {
  exactlyOne,
  irreplaceable,
  managed,
  managedRules,
  objectRef,
  required,
  uuid,
  whole,
  wireId,
} from "../fields/fields.ts";
import { type Kind, mapping } from "../kind.ts";
import { kafkaName, kafkaNameProblem } from "./kafka-name.ts";

/** Fields of every kind that lives in a KafkaCluster. */
export const inCluster = {
  clusterRef: objectRef("KafkaCluster")
    .optional()
    .describe("The KafkaCluster. Exactly one of clusterRef and clusterId."),
  clusterId: uuid().optional().describe("Platform id of the cluster. Exactly one of clusterRef and clusterId."),
};

export function clusterReference(spec: {
  clusterRef?: ObjectRef | undefined;
  clusterId?: string | undefined;
}): Reference {
  const target = spec.clusterId !== undefined ? { id: spec.clusterId } : (spec.clusterRef ?? { name: "" });
  return { role: "cluster", kind: "KafkaCluster", field: "clusterRef", target };
}

export const clusterPath = (parents: Inputs["parents"]): string =>
  `/clusters/${encodeURIComponent(parents.cluster ?? "")}`;

const MAX_INT32 = 2_147_483_647;

/** Defaults of the brokers. The platform may omit them from its answers. */
const brokerDefaults = {
  replicationFactor: 1,
  numberOfPartitions: 1,
  retentionTime: 604_800_000,
  segmentBytes: 1_073_741_824,
};

const spec = z.object({
  ...managed,
  ...irreplaceable,
  ...inCluster,
  name: kafkaName("topic"),
  replicationFactor: whole(1, 3)
    .optional()
    .describe("Number of brokers that keep each record; 3 is recommended. Required."),
  numberOfPartitions: whole(1, MAX_INT32)
    .optional()
    .describe(
      "Number of partitions, the maximum number of consumers of a group; a multiple of three is recommended. Default: 1.",
    ),
  logRetention: z
    .object({
      retentionTime: z
        .int()
        .min(-1)
        .optional()
        .describe(
          "Retention time in milliseconds; -1 keeps records until the storage of the cluster is full. Default: 604800000, seven days.",
        ),
      segmentBytes: whole(14, MAX_INT32).optional().describe("Size of a segment file in bytes. Default: 1073741824."),
    })
    .optional()
    .describe("Retention of records."),
});
type TopicSpec = z.output<typeof spec>;

const status = z.object({
  numberOfPartitions: z.int().optional().describe("Number of partitions."),
  replicationFactor: z.int().optional().describe("Number of brokers that keep each record."),
  logRetention: z
    .object({
      retentionTime: z
        .int()
        .describe("Retention time in milliseconds; -1 is limited by the storage of the cluster only."),
      segmentBytes: z.int().describe("Size of a segment file in bytes."),
    })
    .optional()
    .describe("Retention of records, with the defaults of the brokers."),
});

const wire = z.looseObject({
  id: wireId(),
  properties: z.looseObject({
    name: z.string().nullish(),
    replicationFactor: z.int().nullish(),
    numberOfPartitions: z.int().nullish(),
    logRetention: z.looseObject({ retentionTime: z.int().nullish(), segmentBytes: z.int().nullish() }).nullish(),
  }),
});

/** The properties of a topic, with defaults where the answer omits them. */
function foundIn(item: unknown) {
  const { name, replicationFactor, numberOfPartitions, logRetention } = wire.parse(item).properties;
  return {
    name,
    replicationFactor: replicationFactor ?? brokerDefaults.replicationFactor,
    numberOfPartitions: numberOfPartitions ?? brokerDefaults.numberOfPartitions,
    logRetention: {
      retentionTime: logRetention?.retentionTime ?? brokerDefaults.retentionTime,
      segmentBytes: logRetention?.segmentBytes ?? brokerDefaults.segmentBytes,
    },
  };
}

const forever =
  "logRetention.retentionTime -1 keeps records until the storage of the KafkaCluster is full: set a retention time, or watch the storage";

/** Values that are allowed but not recommended. */
function advice({ numberOfPartitions, replicationFactor, logRetention }: TopicSpec, { adopted }: Inputs): string[] {
  const count = numberOfPartitions === undefined ? "is not set and defaults to 1, which" : `${numberOfPartitions}`;
  const partitions = `numberOfPartitions ${count} is not a multiple of three: partitions are not spread evenly over the three brokers`;
  const loss = replicationFactor === 1 ? "its records are lost" : "its records have a single copy left";
  const replicas = `replicationFactor ${replicationFactor} is not 3: when a broker fails, ${loss}`;
  return [
    ...((numberOfPartitions ?? (adopted ? 3 : 1)) % 3 === 0 ? [] : [partitions]),
    ...(replicationFactor === undefined || replicationFactor === 3 ? [] : [replicas]),
    ...(logRetention?.retentionTime === -1 ? [forever] : []),
  ];
}

const never = "the platform cannot change a topic";

export const kafkaTopic: Kind = {
  kind: "KafkaTopic",
  plural: "kafkatopics",
  shortNames: ["kt"],
  free: true,
  description: "A topic of a Kafka cluster.",
  spec,
  status,
  rules: [...managedRules, exactlyOne("clusterRef", "clusterId"), required("replicationFactor")],
  immutable: {
    clusterRef: "a topic cannot move to another cluster",
    clusterId: "a topic cannot move to another cluster",
    name: never,
    replicationFactor: never,
    numberOfPartitions: `${never}, and with another number of partitions keys map to other partitions`,
    logRetention: never,
  },
  comparable: ["name", "replicationFactor", "numberOfPartitions", "logRetention"],
  columns: [
    { name: "Partitions", type: "integer", path: ".status.numberOfPartitions", description: "Number of partitions" },
    {
      name: "Replicas",
      type: "integer",
      path: ".status.replicationFactor",
      description: "Number of brokers that keep each record",
    },
    { name: "Cluster", type: "string", path: ".spec.clusterRef.name", description: "Cluster", wide: true },
  ],
  resource: mapping(spec, {
    names: { type: "topic" },
    identity: { echo: (resource) => ({ name: wire.partial({ id: true }).parse(resource).properties.name }) },
    place: {
      product: "streaming",
      collection: (parents) => `${clusterPath(parents)}/topics`,
      depth: 0,
      references: (spec) => [clusterReference(spec)],
    },
    creation: {
      problem: kafkaNameProblem,
      advice,
      body: (spec, { name }) => ({
        properties: {
          name: spec.name ?? name,
          replicationFactor: spec.replicationFactor,
          numberOfPartitions: spec.numberOfPartitions,
          logRetention: spec.logRetention,
        },
      }),
    },
    comparison: {
      compare(spec, item, inputs) {
        const { replicationFactor, numberOfPartitions, logRetention } = spec;
        const wanted = { name: wantedName(spec, inputs), replicationFactor, numberOfPartitions, logRetention };
        return { drift: nested(wanted, foundIn(item)) };
      },
      facts(item) {
        const { name: _, ...facts } = foundIn(item);
        return facts;
      },
    },
    destruction: { holdsData: true },
  }),
};
