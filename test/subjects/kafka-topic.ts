import { kafkaCluster } from "./kafka-cluster.ts";
import type { Subject } from "./subject.ts";
import { brokerLan, clusters, home, inStream, manifest } from "./surroundings.ts";

export const kafkaTopic: Subject = {
  kind: "KafkaTopic",
  spec: { ...inStream, replicationFactor: 3, numberOfPartitions: 3 },
  wire: {
    collection: "streamingTopics",
    path: (ground) => `${clusters}/${ground.cluster}/topics`,
    body: (name) => ({ properties: { name, replicationFactor: 3, numberOfPartitions: 3 } }),
  },
  place: () => inStream,
  fixedChange: { spec: { numberOfPartitions: 6 }, shows: { numberOfPartitions: 6 } },
  needs: () => [home, brokerLan, manifest("KafkaCluster", "stream", kafkaCluster.spec)],
};
