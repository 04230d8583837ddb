import { createPrivateKey, X509Certificate } from "node:crypto";
import { ROTATE_AT } from "../../src/engine/state/names.ts";
import { given } from "../cluster/hands.ts";
import { kafkaSecretFiles } from "../kafka-secret-files.ts";
import { kafkaTopic } from "./kafka-topic.ts";
import { secretOf } from "./pipeline.ts";
import type { Subject } from "./subject.ts";
import { clusters, inStream } from "./surroundings.ts";

/** Until half of its life is over, the platform has no other certificate to give. */
const HALF_A_YEAR = 190 * 86_400;

export const kafkaUser: Subject = {
  kind: "KafkaUser",
  spec: inStream,
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
};

/** Why no client could be let in with what is in the Secret. */
function faultOf(data: Record<string, string>): string | undefined {
  const missing = kafkaSecretFiles.filter((file) => !data[file]);
  if (missing.length > 0) return `it has no ${missing.join(", ")}`;
  const [authority, own] = [data["ca.crt"], data["tls.crt"]].map((pem = "") => new X509Certificate(pem));
  if (!authority || !own?.checkIssued(authority) || !own.verify(authority.publicKey)) return "the CA has not signed it";
  return own.checkPrivateKey(createPrivateKey(data["tls.key"] ?? "")) ? undefined : "its key is another one's";
}
