import { type Base, bad, by, each, fixedField, good, long, observed, otherId, someId } from "../../manifests.ts";
import type { Subject } from "../../subject.ts";
import { brokerLan, clusters, home, inDatacenter } from "../../surroundings.ts";

const brokerAddresses = ["192.168.1.101/24", "192.168.1.102/24", "192.168.1.103/24"];
const spec = { size: "S", connection: { ...inDatacenter, lanRef: { name: "brokers" }, brokerAddresses } };
const base = { kind: "KafkaCluster", spec };

const connection = (fields: object) => ({ connection: fields });
const brokers = (...hosts: string[]) => connection({ brokerAddresses: hosts });
const inOneNetwork = ["192.168.1.101/24", "192.168.1.102/24"];
export const kafkaName = "must have 2 to 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends";
const form = "must be an IPv4 address with its prefix length, for example 192.168.1.101/24";
const around = (prefix: string, first = 101, bits = 24) => [0, 1, 2].map((nth) => `${prefix}${first + nth}/${bits}`);
/** A cluster that is reached in this way. */
const at = (fields: object): Base => by(base, connection({ ...spec.connection, ...fields }));
const cluster = (field: string, value: unknown, from: Base = base) =>
  fixedField(from, field, value, "the platform cannot change a cluster");

/** In the LAN `brokers`. */
export const subject: Subject = {
  ...base,
  wire: {
    collection: "streamingClusters",
    path: () => clusters,
    body: (name, { datacenter: datacenterId, lan: lanId }) => ({
      properties: { name, version: "4.0.0", size: "S", connections: [{ datacenterId, lanId, brokerAddresses }] },
    }),
  },
  fixedChange: { spec: { size: "M" }, shows: { size: "M" } },
  needs: () => [home, brokerLan],
  manifests: {
    accepted: [
      ...good(base, "KafkaCluster", [
        ["as small as can be", {}],
        [
          "in a datacenter and LAN by id",
          { connection: { datacenterRef: null, datacenterId: someId, lanRef: null, lanId: "1" } },
        ],
        ["just outside the platform's own network", { connection: { brokerAddresses: around("10.223.255.") } }],
        ["in the smallest network", { connection: { brokerAddresses: around("192.168.1.", 1, 29) } }],
        ["version 4.0.0 with the longest name", { version: "4.0.0", name: long(63) }],
        ...each("size", ["XS", "S", "M", "L", "XL"]),
        ["only observed, by nothing but its id", { ...observed, size: null, connection: null }],
      ]),
    ],
    refused: [
      ...bad(base, "KafkaCluster", [
        ["no size", { size: null }, "size is required"],
        ["an unknown size", { size: "XXL" }, "spec.size", '"XS", "S", "M", "L", "XL"'],
        ["another version", { version: "3.9.0" }, "spec.version", '"4.0.0"'],
        ["no connection", { connection: null }, "connection is required"],
        [
          "no datacenter",
          connection({ datacenterRef: null }),
          "exactly one of datacenterRef and datacenterId is required",
        ],
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
        ["a name of one character", { name: "a" }, "spec.name", kafkaName],
        ["a name with a blank", { name: "my stream" }, "spec.name", kafkaName],
        ["a name that ends with a dot", { name: "stream." }, "spec.name", kafkaName],
        ["a name of 64 characters", { name: long(64) }, "spec.name", "63"],
        ["observed without an id", { managementPolicy: "Observe" }, "managementPolicy Observe needs externalId"],
      ]),
    ],
    changes: {
      accepted: [...good(base, "KafkaCluster", [["kept when deleted", { deletionPolicy: "Retain" }]])],
      fixed: [
        cluster("name", "other"),
        cluster("size", "M"),
        cluster("connection.datacenterRef", { name: "other" }),
        cluster("connection.datacenterId", otherId, at({ datacenterRef: undefined, datacenterId: someId })),
        cluster("connection.lanRef", { name: "other" }),
        cluster("connection.lanId", "2", at({ lanRef: undefined, lanId: "1" })),
        cluster("connection.brokerAddresses", ["10.0.0.1/24", "10.0.0.2/24", "10.0.0.3/24"]),
      ],
    },
  },
};
