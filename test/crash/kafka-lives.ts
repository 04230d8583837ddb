import { createPrivateKey, X509Certificate } from "node:crypto";
import { ALLOW_DATA_LOSS, ROTATE_AT } from "../../src/engine/objects/names.ts";
import { readStatus } from "../../src/engine/schema/status.ts";
import { kafkaSecretFiles } from "../kafka-secret-files.ts";
import type { Life } from "./lives.ts";
import { account, datacenter, type Ground, manifest } from "./manifests.ts";

const lan = manifest("Lan", "brokers", { datacenterRef: { name: "home" } });
const small = {
  size: "S",
  connection: {
    datacenterRef: { name: "home" },
    lanRef: { name: "brokers" },
    brokerAddresses: ["192.168.1.101/24", "192.168.1.102/24", "192.168.1.103/24"],
  },
};
const stream = manifest("KafkaCluster", "stream", small);
const inStream = { clusterRef: { name: "stream" } };

export function kafkaCluster(ground: Ground): Life {
  return {
    prerequisites: [account(ground), datacenter, lan],
    annotations: { [ALLOW_DATA_LOSS]: "true" },
    spec: small,
    changes: [{ title: "replace", spec: { ...small, size: "M", replacePolicy: "WhenNeeded" }, shows: { size: "M" } }],
  };
}

export function kafkaTopic(ground: Ground): Life {
  const spec = { ...inStream, replicationFactor: 3, numberOfPartitions: 3 };
  const wider = { ...spec, numberOfPartitions: 6, replacePolicy: "WhenNeeded" };
  return {
    prerequisites: [account(ground), datacenter, lan, stream],
    annotations: { [ALLOW_DATA_LOSS]: "true" },
    spec,
    changes: [{ title: "replace", spec: wider, shows: { numberOfPartitions: 6 } }],
  };
}

/** Until half of its life is over, the platform has no other certificate to give. */
const HALF_A_YEAR = 190 * 86_400;

export function kafkaUser(ground: Ground): Life {
  return {
    prerequisites: [account(ground), datacenter, lan, stream],
    spec: inStream,
    changes: [
      {
        title: "renew",
        spec: inStream,
        annotations: { [ROTATE_AT]: "first" },
        afterSeconds: HALF_A_YEAR,
        renewsKey: true,
      },
    ],
    secrets: (object) => [{ name: readStatus(object).secretName ?? "", works: async (data) => faultOf(data) }],
  };
}

/** Why no client could be let in with what is in the Secret. */
function faultOf(data: Record<string, string>): string | undefined {
  const missing = kafkaSecretFiles.filter((file) => !data[file]);
  if (missing.length > 0) return `it has no ${missing.join(", ")}`;
  const [authority, own] = [data["ca.crt"], data["tls.crt"]].map((pem = "") => new X509Certificate(pem));
  if (!authority || !own?.checkIssued(authority) || !own.verify(authority.publicKey)) return "the CA has not signed it";
  return own.checkPrivateKey(createPrivateKey(data["tls.key"] ?? "")) ? undefined : "its key is another one's";
}
