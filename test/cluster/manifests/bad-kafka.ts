import { kafkaCluster, kafkaTopic, kafkaUser } from "./base.ts";
import { bad, long, someId } from "./table.ts";

const connection = (fields: object) => ({ connection: fields });
const brokers = (...hosts: string[]) => connection({ brokerAddresses: hosts });
const inOneNetwork = ["192.168.1.101/24", "192.168.1.102/24"];
const form = "must be an IPv4 address with its prefix length, for example 192.168.1.101/24";
const words = "must have 2 to 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends";
const oneCluster = "exactly one of clusterRef and clusterId is required";

export const badKafka = [
  ...bad(kafkaCluster, "KafkaCluster", [
    ["no size", { size: null }, "size is required"],
    ["an unknown size", { size: "XXL" }, "spec.size", '"XS", "S", "M", "L", "XL"'],
    ["another version", { version: "3.9.0" }, "spec.version", '"4.0.0"'],
    ["no connection", { connection: null }, "connection is required"],
    ["no datacenter", connection({ datacenterRef: null }), "exactly one of datacenterRef and datacenterId is required"],
    ["two datacenters", connection({ datacenterId: someId }), "exactly one of datacenterRef and datacenterId"],
    ["no LAN", connection({ lanRef: null }), "exactly one of lanRef and lanId is required"],
    ["two LANs", connection({ lanId: "1" }), "exactly one of lanRef and lanId is required"],
    ["LAN 0", connection({ lanRef: null, lanId: "0" }), "spec.connection.lanId", "must be the number of a LAN"],
    ["no brokers", connection({ brokerAddresses: null }), "spec.connection.brokerAddresses", "Required value"],
    ["two brokers", brokers(...inOneNetwork), "spec.connection.brokerAddresses", "should have at least 3 items"],
    [
      "four brokers",
      brokers(...inOneNetwork, "192.168.1.103/24", "192.168.1.104/24"),
      "spec.connection.brokerAddresses",
      "must have at most 3 items",
    ],
    ["one broker twice", brokers(...inOneNetwork, "192.168.1.101/24"), "must be three different addresses"],
    ["an address without its prefix length", brokers(...inOneNetwork, "192.168.1.103"), "brokerAddresses[2]", form],
    ["an IPv6 address", brokers(...inOneNetwork, "fd00::1/64"), "brokerAddresses[2]", form],
    [
      "the address of the network",
      brokers(...inOneNetwork, "192.168.1.0/24"),
      "must be the address of a broker, for example 192.168.1.101/24, not that of its network",
    ],
    ["brokers of two networks", brokers(...inOneNetwork, "192.168.2.103/24"), "must all be in the same network"],
    [
      "the platform's own network",
      brokers("10.224.0.1/16", "10.224.0.2/16", "10.224.0.3/16"),
      "must not be inside 10.224.0.0/11, which the platform uses itself",
    ],
    ["a name of one character", { name: "a" }, "spec.name", words],
    ["a name with a blank", { name: "my stream" }, "spec.name", words],
    ["a name that ends with a dot", { name: "stream." }, "spec.name", words],
    ["a name of 64 characters", { name: long(64) }, "spec.name", "63"],
    ["observed without an id", { managementPolicy: "Observe" }, "managementPolicy Observe needs externalId"],
  ]),
  ...bad(kafkaTopic, "KafkaTopic", [
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
    ["a name with a slash", { name: "orders/new" }, "spec.name", words],
    ["an unknown field", { partitions: 6 }, 'unknown field "spec.partitions"'],
  ]),
  ...bad(kafkaUser, "KafkaUser", [
    ["no cluster", { clusterRef: null }, oneCluster],
    ["a user by name and id", { user: "admin", userId: someId }, "user and userId exclude each other: remove one"],
    ["a user id that is none", { userId: "admin" }, "spec.userId", "must be a UUID"],
    ["an empty user", { user: "" }, "spec.user", "at least 1 chars long"],
    [
      "a Secret that cannot be named so",
      { secretName: "Kafka_User" },
      "spec.secretName",
      "must be the name of an object",
    ],
    ["renewal in words", { renewBefore: "30 days" }, "spec.renewBefore", "must be a duration such as PT5M or 5m"],
    ["renewal at the last minute", { renewBefore: "59m" }, "spec.renewBefore", "must be from 1h to 8736h"],
    ["renewal before it begins", { renewBefore: "8737h" }, "spec.renewBefore", "must be from 1h to 8736h"],
  ]),
];
