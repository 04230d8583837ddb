import { bad, each, fixedField, fixedParent, good, observed, someId } from "../../manifests.ts";
import type { Subject } from "../../subject.ts";
import { brokerLan, clusters, home, inStream, manifest } from "../../surroundings.ts";
import { subject as kafkaCluster, kafkaName } from "./kafka-cluster.ts";

const base = { kind: "KafkaTopic", spec: { ...inStream, replicationFactor: 3, numberOfPartitions: 3 } };

export const oneCluster = "exactly one of clusterRef and clusterId is required";
const topic = (field: string, value: unknown, more = "") =>
  fixedField(base, field, value, `the platform cannot change a topic${more}`);

export const subject: Subject = {
  ...base,
  wire: {
    collection: "streamingTopics",
    path: (ground) => `${clusters}/${ground.cluster}/topics`,
    body: (name) => ({ properties: { name, replicationFactor: 3, numberOfPartitions: 3 } }),
  },
  place: () => inStream,
  fixedChange: { spec: { numberOfPartitions: 6 }, shows: { numberOfPartitions: 6 } },
  needs: () => [home, brokerLan, manifest("KafkaCluster", "stream", kafkaCluster.spec)],
  manifests: {
    accepted: [
      ...good(base, "KafkaTopic", [
        ["as small as can be", {}],
        ["in a cluster by id", { clusterRef: null, clusterId: someId }],
        ["with a name of two characters", { name: "a1" }],
        ["with all that a name may have", { name: "Orders_v1.eu-2" }],
        ...each("replicationFactor", [1, 2, 3]),
        ...each("numberOfPartitions", [1, 4, 2_147_483_647]),
        ["kept for ever", { logRetention: { retentionTime: -1 } }],
        ["kept for a year, in small segments", { logRetention: { retentionTime: 31_536_000_000, segmentBytes: 14 } }],
        ["only observed, by nothing but its place", { ...observed, replicationFactor: null }],
      ]),
    ],
    refused: [
      ...bad(base, "KafkaTopic", [
        ["no cluster", { clusterRef: null }, oneCluster],
        ["two clusters", { clusterId: someId }, oneCluster],
        ["no replication factor", { replicationFactor: null }, "replicationFactor is required"],
        ["more copies than brokers", { replicationFactor: 4 }, "spec.replicationFactor", "less than or equal to 3"],
        ["no partitions", { numberOfPartitions: 0 }, "spec.numberOfPartitions", "greater than or equal to 1"],
        ["partitions as text", { numberOfPartitions: "6" }, "spec.numberOfPartitions", "must be of type integer"],
        ["a retention of -2", { logRetention: { retentionTime: -2 } }, "logRetention.retentionTime", "equal to -1"],
        [
          "a retention with a unit",
          { logRetention: { retentionTime: "7d" } },
          "logRetention.retentionTime",
          "type integer",
        ],
        ["segments of 13 bytes", { logRetention: { segmentBytes: 13 } }, "logRetention.segmentBytes", "equal to 14"],
        ["a name with a slash", { name: "orders/new" }, "spec.name", kafkaName],
        ["an unknown field", { partitions: 6 }, 'unknown field "spec.partitions"'],
      ]),
    ],
    changes: {
      accepted: [...good(base, "KafkaTopic", [["replaced when needed", { replacePolicy: "WhenNeeded" }]])],
      fixed: [
        ...fixedParent(base, "cluster", "a topic cannot move to another cluster"),
        topic("name", "other"),
        topic("replicationFactor", 2),
        topic("numberOfPartitions", 6, ", and with another number of partitions keys map to other partitions"),
        topic("logRetention", { retentionTime: -1 }),
      ],
    },
  },
};
