import { kafkaCluster, kafkaTopic, kafkaUser } from "./base.ts";
import { each, good, long, someId } from "./table.ts";

const observe = { managementPolicy: "Observe", externalId: someId };
const byId = { clusterRef: null, clusterId: someId };

/** What must be accepted: each kind as it stands, every boundary, every value of every enumeration. */
export const goodKafka = [
  ...good(kafkaCluster, "KafkaCluster", [
    ["as small as can be", {}],
    [
      "in a datacenter and LAN by id",
      { connection: { datacenterRef: null, datacenterId: someId, lanRef: null, lanId: "1" } },
    ],
    ["just outside the platform's own network", { connection: { brokerAddresses: around("10.223.255.") } }],
    ["in the smallest network", { connection: { brokerAddresses: around("192.168.1.", 1, 29) } }],
    ["version 4.0.0 with the longest name", { version: "4.0.0", name: long(63) }],
    ...each("size", ["XS", "S", "M", "L", "XL"]),
    ["only observed, by nothing but its id", { ...observe, size: null, connection: null }],
  ]),
  ...good(kafkaTopic, "KafkaTopic", [
    ["as small as can be", {}],
    ["in a cluster by id", byId],
    ["with a name of two characters", { name: "a1" }],
    ["with all that a name may have", { name: "Orders_v1.eu-2" }],
    ...each("replicationFactor", [1, 2, 3]),
    ...each("numberOfPartitions", [1, 4, 2_147_483_647]),
    ["kept for ever", { logRetention: { retentionTime: -1 } }],
    ["kept for a year, in small segments", { logRetention: { retentionTime: 31_536_000_000, segmentBytes: 14 } }],
    ["only observed, by nothing but its place", { ...observe, replicationFactor: null }],
  ]),
  ...good(kafkaUser, "KafkaUser", [
    ["as small as can be", {}],
    ["in a cluster by id", byId],
    ["by name", { user: "admin", secretName: "stream.access" }],
    ["by id", { userId: someId }],
    ...each("renewBefore", ["1h", "720h", "PT8736H", "P30D"]),
  ]),
];

function around(prefix: string, first = 101, bits = 24): string[] {
  return [0, 1, 2].map((nth) => `${prefix}${first + nth}/${bits}`);
}

/** Changes of an object that exists. */
export const goodKafkaChanges = [
  ...good(kafkaCluster, "KafkaCluster", [["kept when deleted", { deletionPolicy: "Retain" }]]),
  ...good(kafkaTopic, "KafkaTopic", [["replaced when needed", { replacePolicy: "WhenNeeded" }]]),
  ...good(kafkaUser, "KafkaUser", [["another Secret, renewed earlier", { secretName: "b", renewBefore: "2000h" }]]),
];
