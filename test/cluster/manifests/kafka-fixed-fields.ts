import { accessToken, type Base, inferenceAccess, kafkaAt, kafkaCluster, kafkaTopic, kafkaUser } from "./base.ts";
import { by, change, otherId } from "./fixed-fields.ts";
import { someId } from "./table.ts";

const never = (noun: string) => `the platform cannot change a ${noun}`;
const cluster = (field: string, value: unknown, base = kafkaCluster) => change(base, field, value, never("cluster"));
const topic = (field: string, value: unknown) => change(kafkaTopic, field, value, never("topic"));
const homeOf = (base: Base, why: string) => [
  ...change(base, "clusterRef", { name: "other" }, why),
  ...change(by(base, { clusterRef: undefined, clusterId: someId }), "clusterId", otherId, why),
];
const onlyOne = "a KafkaUser belongs to one user";

/** Refused as they stand, and allowed with replacePolicy: WhenNeeded. */
export const kafkaFixedFields = [
  ...cluster("name", "other"),
  ...cluster("size", "M"),
  ...cluster("connection.datacenterRef", { name: "other" }),
  ...cluster("connection.datacenterId", otherId, kafkaAt({ datacenterRef: undefined, datacenterId: someId })),
  ...cluster("connection.lanRef", { name: "other" }),
  ...cluster("connection.lanId", "2", kafkaAt({ lanRef: undefined, lanId: "1" })),
  ...cluster("connection.brokerAddresses", ["10.0.0.1/24", "10.0.0.2/24", "10.0.0.3/24"]),
  ...homeOf(kafkaTopic, "a topic cannot move to another cluster"),
  ...topic("name", "other"),
  ...topic("replicationFactor", 2),
  ...change(
    kafkaTopic,
    "numberOfPartitions",
    6,
    `${never("topic")}, and with another number of partitions keys map to other partitions`,
  ),
  ...topic("logRetention", { retentionTime: -1 }),
  ...homeOf(kafkaUser, "a user belongs to one cluster"),
  ...change(by(kafkaUser, { user: "admin" }), "user", "other", onlyOne),
  ...change(by(kafkaUser, { userId: someId }), "userId", otherId, onlyOne),
  ...change(accessToken, "lifetime", "7d", "the lifetime of a token is fixed when it is created"),
  ...change(inferenceAccess, "lifetime", "7d", "the lifetime of a token is fixed when it is created"),
];
