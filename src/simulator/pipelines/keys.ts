import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { hashOf, type Pipeline, type Product, takesData } from "../records/pipelines.ts";
import type { World } from "../world.ts";

/** Random, not drawn from the seed: the seed must not reveal the key. The prefix lets tests find keys in output. */
export const newKey = () => `ingestkey_${randomBytes(32).toString("base64url")}`;

/** The columns of a new key. Inside a transaction. */
export function keptKey(world: World, product: Product, key: string): Pick<Pipeline, "keyHash" | "sealedKey"> {
  return { keyHash: hashOf(key), sealedKey: product === "logs" ? sealed(world, key) : null };
}

/** A log pipeline that takes lines now, with its key decrypted, for the handshake only. */
export interface SharedKey {
  world: World;
  pipeline: Pipeline;
  key: string;
}

export function sharedKeys(world: World): SharedKey[] {
  return [...world.pipelines.pipelines.values()].flatMap((pipeline) =>
    pipeline.sealedKey !== null && takesData(pipeline)
      ? [{ world, pipeline, key: opened(world, pipeline.sealedKey) }]
      : [],
  );
}

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** Encrypts a key. The key for that is in the same data directory, as is the key that signs tokens. */
function sealed({ pipelines: { seals } }: World, key: string): string {
  const seal = seals.get("own") ?? randomBytes(32).toString("base64");
  seals.put("own", seal);
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, Buffer.from(seal, "base64"), nonce);
  const text = Buffer.concat([cipher.update(key, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString("base64");
}

function opened({ pipelines: { seals } }: World, sealedKey: string): string {
  const bytes = Buffer.from(sealedKey, "base64");
  const seal = Buffer.from(seals.get("own") ?? "", "base64");
  const decipher = createDecipheriv(algorithm, seal, bytes.subarray(0, nonceBytes));
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString();
}
