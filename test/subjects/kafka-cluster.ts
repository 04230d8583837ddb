import type { Subject } from "./subject.ts";
import { brokerLan, clusters, home, inDatacenter } from "./surroundings.ts";

const brokerAddresses = ["192.168.1.101/24", "192.168.1.102/24", "192.168.1.103/24"];

/** In the LAN `brokers`. */
export const kafkaCluster: Subject = {
  kind: "KafkaCluster",
  spec: { size: "S", connection: { ...inDatacenter, lanRef: { name: "brokers" }, brokerAddresses } },
  wire: {
    collection: "streamingClusters",
    path: () => clusters,
    body: (name, { datacenter: datacenterId, lan: lanId }) => ({
      properties: { name, version: "4.0.0", size: "S", connections: [{ datacenterId, lanId, brokerAddresses }] },
    }),
  },
  fixedChange: { spec: { size: "M" }, shows: { size: "M" } },
  needs: () => [home, brokerLan],
};
