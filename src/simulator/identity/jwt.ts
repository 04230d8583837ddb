import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { z } from "zod";

export interface Claims {
  iss: string;
  iat: number;
  exp: number;
  identity: { uuid: string; contractNumber: number; role: string; privileges: readonly string[] };
}

/** Signs and checks RS256 tokens with one key pair. */
export interface Signer {
  issue(tokenId: string, claims: Claims): string;
  /** The token id (`kid`) when the signature is ours, else undefined. Expiry and revocation are not judged here. */
  tokenIdOf(token: string): string | undefined;
}

const headerSchema = z.object({ alg: z.literal("RS256"), kid: z.string() });

/** A checked signature is remembered: the same token arrives with every call. */
const remembered = 1000;

export function newPrivateKey(): string {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

export function createSigner(privateKeyPem: string): Signer {
  const privateKey = createPrivateKey(privateKeyPem);
  const publicKey = createPublicKey(privateKey);
  const known = new Map<string, string>();

  return {
    issue(tokenId, claims) {
      const head = `${encode({ typ: "JWT", alg: "RS256", kid: tokenId })}.${encode(claims)}`;
      return `${head}.${sign("RSA-SHA256", Buffer.from(head), privateKey).toString("base64url")}`;
    },
    tokenIdOf(token) {
      const cached = known.get(token);
      if (cached !== undefined) return cached;
      const tokenId = checkedTokenId(token, publicKey);
      if (tokenId === undefined) return undefined;
      if (known.size >= remembered) known.clear();
      known.set(token, tokenId);
      return tokenId;
    },
  };
}

function checkedTokenId(token: string, publicKey: KeyObject): string | undefined {
  const [head, payload, signature, ...rest] = token.split(".");
  if (head === undefined || payload === undefined || signature === undefined || rest.length > 0) return undefined;
  const genuine = verify(
    "RSA-SHA256",
    Buffer.from(`${head}.${payload}`),
    publicKey,
    Buffer.from(signature, "base64url"),
  );
  if (!genuine) return undefined;
  return headerSchema.parse(JSON.parse(Buffer.from(head, "base64url").toString())).kid;
}

const claimed = z.looseObject({ identity: z.looseObject({ uuid: z.string() }) });

/** The user whom a token names, whether or not it is valid. */
export function userIdIn(token: string): string | undefined {
  try {
    return claimed.parse(JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString())).identity.uuid;
  } catch {
    return undefined;
  }
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
