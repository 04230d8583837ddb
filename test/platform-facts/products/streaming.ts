import type { Fact } from "../fact.ts";

const clusters = "test/simulator/streaming/clusters.test.ts";
const topics = "test/simulator/streaming/topics.test.ts";
const users = "test/simulator/streaming/users.test.ts";
const ownClients = "test/simulator/process/own-clients.test.ts";
const kafka = "test/clients/kafka.test.ts";
const cluster = "test/kinds/streaming/kafka-cluster.test.ts";
const topic = "test/kinds/streaming/kafka-topic.test.ts";
const secret = "test/engine/secrets/certificate-secret.test.ts";
const user = "test/kinds/streaming/kafka-user.test.ts";

/** Event streaming. */
export const streaming: readonly Fact[] = [
  [248, "a cluster has id and name", clusters, "is DEPLOYING, not to be seen at first, and AVAILABLE"],
  [249, "its version is 4.0.0", clusters, "%s: 422 that names %s", "with another version"],
  [250, "its size is S or M", clusters, "but not with the size %s", "M"],
  [251, "it tells the addresses of its brokers", clusters, "and AVAILABLE with its brokers' addresses within 20"],
  [252, "there are three brokers", kafka, "there are three, and a topic has as many copies"],
  [254, "a topic has an id", topics, "is DEPLOYING, then AVAILABLE, and stored as it was sent"],
  [255, "and a type", topics, "is DEPLOYING, then AVAILABLE, and stored as it was sent"],
  [256, "only its name is needed", topics, "needs nothing but a name, and of what was left out only the retention"],
  [257, "three copies are recommended", topic, "is nothing for three copies and a multiple of three"],
  [258, "copies have no default", topics, "needs nothing but a name, and of what was left out only the retention"],
  [259, "a multiple of three partitions is recommended", topic, "are %d partitions"],
  [
    260,
    "partitions are what consumers share",
    kafka,
    "has the partitions and the retention that the API was asked for",
  ],
  [261, "another number moves keys", topic, "says what another number of partitions does to keys"],
  [262, "a week by default", ownClients, "shows how long a topic keeps records where nobody said so"],
  [263, "-1 is no limit", topic, "a topic %s is up to date once it is there", "that keeps its records"],
  [264, "but the storage", topic, "is to keep records forever, which fills the storage of the cluster"],
  [
    265,
    "clients have no way but mutual TLS",
    "test/simulator/streaming/settings.test.ts",
    "no client without a certificate",
  ],
  [266, "port 9093", cluster, "come from its connection where the platform does not tell them"],
  [267, "credentials come from the user", users, "gets a certificate for clients that matches its key and chains"],
  [268, "for 365 days", ownClients, "issues client certificates of 365 days"],
  [269, "no check of host names", user, "has settings for Java that trust the cluster's own CA and no host name"],
  [270, "a PKCS#12 store or PEM", secret, "is in the Secret together with everything that clients ask for"],
  [271, "POST /clusters", clusters, "is DEPLOYING, not to be seen at first, and AVAILABLE"],
  [272, "GET of a cluster", clusters, "and AVAILABLE with its brokers' addresses within 20 seconds"],
  [273, "POST of a topic", topics, "is DEPLOYING, then AVAILABLE, and stored as it was sent"],
  [274, "GET of topics", topics, "is listed without pages, in the order of creation"],
  [275, "GET of a topic", topics, "is DEPLOYING, then AVAILABLE, and stored as it was sent"],
  [276, "DELETE of a topic is 202", topics, "is DESTROYING after its deletion, then gone, and its name is free again"],
  [277, "GET of the access", users, "are in the access call alone"],
  [279, "an expired certificate is refused", kafka, "accept a client with the certificate, and none without a valid"],
];
