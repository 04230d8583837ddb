import { createPrivateKey, X509Certificate } from "node:crypto";
import { ROTATE_AT } from "../../../../src/engine/state/names.ts";
import { given } from "../../../cluster/hands.ts";
import { kafkaSecretFiles } from "../../../kafka-secret-files.ts";
import { bad, by, each, fixedField, fixedParent, good, otherId, someId } from "../../manifests.ts";
import { secretOf } from "../../pipeline.ts";
import type { Subject } from "../../subject.ts";
import { clusters, inStream } from "../../surroundings.ts";
import { subject as kafkaTopic, oneCluster } from "./kafka-topic.ts";

const base = { kind: "KafkaUser", spec: inStream };

/** Until half of its life is over, the platform has no other certificate to give. */
const HALF_A_YEAR = 190 * 86_400;

const onlyOne = "a KafkaUser belongs to one user";

export const subject: Subject = {
  ...base,
  wire: { collection: "streamingUsers", path: (ground) => `${clusters}/${ground.cluster}/users` },
  hands: given("kafkauser"),
  shows: () => ({ name: "admin" }),
  unlike: {},
  place: () => inStream,
  move: { spec: { clusterRef: { name: "other-stream" } }, shows: {} },
  ...(kafkaTopic.needs && { needs: kafkaTopic.needs }),
  life: () => ({
    changes: [
      {
        title: "renew",
        spec: inStream,
        annotations: { [ROTATE_AT]: "first" },
        afterSeconds: HALF_A_YEAR,
        renewsKey: true,
      },
    ],
    secrets: secretOf(async (data) => faultOf(data)),
  }),
  manifests: {
    accepted: [
      ...good(base, "KafkaUser", [
        ["as small as can be", {}],
        ["in a cluster by id", { clusterRef: null, clusterId: someId }],
        ["by name", { user: "admin", secretName: "stream.access" }],
        ["by id", { userId: someId }],
        ...each("renewBefore", ["1h", "720h", "PT8736H", "P30D"]),
      ]),
    ],
    refused: [
      ...bad(base, "KafkaUser", [
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
    ],
    changes: {
      accepted: [
        ...good(base, "KafkaUser", [["another Secret, renewed earlier", { secretName: "b", renewBefore: "2000h" }]]),
      ],
      fixed: [
        ...fixedParent(base, "cluster", "a user belongs to one cluster"),
        fixedField(by(base, { user: "admin" }), "user", "other", onlyOne),
        fixedField(by(base, { userId: someId }), "userId", otherId, onlyOne),
      ],
    },
  },
};

/** Why no client could be let in with what is in the Secret. */
function faultOf(data: Record<string, string>): string | undefined {
  const missing = kafkaSecretFiles.filter((file) => !data[file]);
  if (missing.length > 0) return `it has no ${missing.join(", ")}`;
  const [authority, own] = [data["ca.crt"], data["tls.crt"]].map((pem = "") => new X509Certificate(pem));
  if (!authority || !own?.checkIssued(authority) || !own.verify(authority.publicKey)) return "the CA has not signed it";
  return own.checkPrivateKey(createPrivateKey(data["tls.key"] ?? "")) ? undefined : "its key is another one's";
}
