import { z } from "zod";
import type { CertificateAccess } from "../desired.ts";
import { differences } from "../fields/compare.ts";
import { duration, secondsOf } from "../fields/duration.ts";
import { exactlyOne, line, managed, managedRules, objectName, uuid, wireId } from "../fields/fields.ts";
import { hostPort } from "../fields/secrets/encode.ts";
import { secretNameOf } from "../fields/secrets/keys.ts";
import { type Kind, mapping } from "../kind.ts";
import { brokersOf } from "./kafka-cluster.ts";
import { clusterPath, clusterReference, inCluster } from "./kafka-topic.ts";

const spec = z.object({
  ...managed,
  ...inCluster,
  user: line(255).optional().describe("Name of the user in the cluster. Default: admin. Excludes userId."),
  userId: uuid().optional().describe("Platform id of the user. Excludes user."),
  secretName: objectName()
    .optional()
    .describe("Name of the Secret for workloads. Default: the object's name with -kafkauser added."),
  renewBefore: duration("1h", "8736h")
    .optional()
    .describe(
      "Time before expiry at which the certificate is renewed, for example 720h. Default: after two thirds of its lifetime.",
    ),
});

const status = z.object({
  user: z.string().optional().describe("Name of the user."),
});

const wire = z.looseObject({ id: wireId(), properties: z.looseObject({ name: z.string().nullish() }).nullish() });
const access = z.looseObject({
  metadata: z.looseObject({
    certificateAuthority: z.string().min(1),
    certificate: z.string().min(1),
    privateKey: z.string().min(1),
  }),
});

const certificate: CertificateAccess = {
  paths: (id, parents) => [`${clusterPath(parents)}/users/${encodeURIComponent(id)}/access`, clusterPath(parents)],
  read([answer]) {
    const pems = access.safeParse(answer).data?.metadata;
    return pems && { ca: pems.certificateAuthority, certificate: pems.certificate, privateKey: pems.privateKey };
  },
  data([, cluster], { ca, certificate: own, privateKey, keystore, truststore, password }) {
    const servers = brokersOf(cluster)
      .map((broker) => hostPort("brokerAddresses", broker))
      .join(",");
    return {
      "ca.crt": ca,
      "tls.crt": own,
      "tls.key": privateKey,
      "keystore.p12": keystore,
      "truststore.p12": truststore,
      "store.password": password,
      "bootstrap.servers": servers,
      "client.properties": javaClient(servers, password),
      "librdkafka.properties": librdkafka(servers),
    };
  },
};

/** Both files refer to other files of the Secret by its mount path. */
const MOUNT = "/etc/kafka-user";
const HINT = `# The Secret is mounted at ${MOUNT}.`;

const javaClient = (servers: string, password: string): string => `${HINT}
bootstrap.servers=${servers}
security.protocol=SSL
ssl.keystore.type=PKCS12
ssl.keystore.location=${MOUNT}/keystore.p12
ssl.keystore.password=${password}
ssl.key.password=${password}
ssl.truststore.type=PKCS12
ssl.truststore.location=${MOUNT}/truststore.p12
ssl.truststore.password=${password}
ssl.endpoint.identification.algorithm=
`;

const librdkafka = (servers: string): string => `${HINT}
bootstrap.servers=${servers}
security.protocol=ssl
ssl.ca.location=${MOUNT}/ca.crt
ssl.certificate.location=${MOUNT}/tls.crt
ssl.key.location=${MOUNT}/tls.key
ssl.endpoint.identification.algorithm=none
`;

export const kafkaUser: Kind = {
  kind: "KafkaUser",
  plural: "kafkausers",
  shortNames: ["ku"],
  free: true,
  description: "Access to a KafkaCluster: a Secret with the client certificate, renewed before it expires.",
  spec,
  status,
  rules: [
    ...managedRules,
    exactlyOne("clusterRef", "clusterId"),
    {
      rule: "!(has(self.user) && has(self.userId))",
      message: "user and userId exclude each other: remove one of them",
    },
  ],
  immutable: {
    clusterRef: "a user belongs to one cluster",
    clusterId: "a user belongs to one cluster",
    user: "a KafkaUser belongs to one user",
    userId: "a KafkaUser belongs to one user",
  },
  comparable: ["user", "userId"],
  columns: [
    { name: "Secret", type: "string", path: ".status.secretName", description: "Secret for workloads" },
    {
      name: "Expires",
      type: "string",
      path: ".status.expiresIn",
      description: "Days until the certificate expires",
    },
    { name: "Cluster", type: "string", path: ".spec.clusterRef.name", description: "Cluster", wide: true },
  ],
  resource: mapping(spec, {
    names: { type: "user" },
    identity: {
      permanent: true,
      shared: true,
      isMeant(spec, item) {
        const { id, properties } = wire.parse(item);
        return spec.userId === undefined ? properties?.name === (spec.user ?? "admin") : id === spec.userId;
      },
    },
    place: {
      product: "streaming",
      collection: (parents) => `${clusterPath(parents)}/users`,
      depth: 0,
      references: (spec) => [clusterReference(spec)],
    },
    creation: { body: () => ({}) },
    comparison: {
      compare({ user, userId }, item) {
        const { id, properties } = wire.parse(item);
        const name = properties?.name;
        return { drift: differences({ user: [name == null ? undefined : user, name], userId: [userId, id] }) };
      },
      facts(item) {
        const name = wire.parse(item).properties?.name;
        return name == null ? {} : { user: name };
      },
    },
    destruction: { holdsData: false },
    secret: {
      certificate,
      publication: (spec, inputs) => ({ name: secretNameOf(spec, inputs, "KafkaUser"), data: () => ({}) }),
      rotation: ({ renewBefore }) => (renewBefore ? { beforeEndSeconds: secondsOf(renewBefore) ?? 0 } : {}),
    },
  }),
};
