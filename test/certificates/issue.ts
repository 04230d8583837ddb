import "reflect-metadata";
import { createPrivateKey, generateKeyPairSync, randomBytes } from "node:crypto";
import * as x509 from "@peculiar/x509";
import type { Pems } from "../../src/certificates/inspect.ts";

/** The time of certificate checks in tests, and the start of the fake clock. */
export const NOW = Date.UTC(2026, 0, 1);
export const DAY_MS = 86_400_000;

const EC = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const RSA = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" } as const;

/** A certificate with its key, both PEM. */
export interface Issued {
  certificate: string;
  privateKey: string;
}

interface Order {
  name: string;
  /** Absent: self-signed. */
  issuer?: Issued;
  key?: "ec" | "rsa";
  /** Days from NOW. */
  from?: number;
  to?: number;
}

export async function issue({ name, issuer, key = "ec", from = -1, to = 364 }: Order): Promise<Issued> {
  const pair =
    key === "ec"
      ? generateKeyPairSync("ec", { namedCurve: EC.namedCurve })
      : generateKeyPairSync("rsa", { modulusLength: 2048 });
  const signer = issuer ? createPrivateKey(issuer.privateKey) : pair.privateKey;
  const algorithmOf = (of: { asymmetricKeyType?: string | undefined }) => (of.asymmetricKeyType === "ec" ? EC : RSA);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: `00${randomBytes(15).toString("hex")}`,
    subject: `CN=${name}`,
    issuer: issuer ? new x509.X509Certificate(issuer.certificate).subject : `CN=${name}`,
    notBefore: new Date(NOW + from * DAY_MS),
    notAfter: new Date(NOW + to * DAY_MS),
    signingAlgorithm: algorithmOf(signer),
    signingKey: signer.toCryptoKey(algorithmOf(signer), true, ["sign"]),
    publicKey: pair.publicKey.toCryptoKey(algorithmOf(pair.publicKey), true, ["verify"]),
    extensions: [new x509.BasicConstraintsExtension(!issuer || name.includes("CA"), undefined, true)],
  });
  return {
    certificate: `${certificate.toString("pem")}\n`,
    privateKey: pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** The platform's answer about a user; valid, except for the given fields. */
export async function accessOf({ key, from, to, ...more }: Partial<Order & Pems> = {}): Promise<Pems> {
  const issuer = await issue({ name: "Cluster CA", to: 3650, ...(key && { key }) });
  const order = {
    name: "admin",
    issuer,
    ...(key && { key }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
  const { certificate, privateKey } = await issue(order);
  return { ca: issuer.certificate, certificate, privateKey, ...more };
}
