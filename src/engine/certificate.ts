import { createPrivateKey, X509Certificate } from "node:crypto";
import type { CertificateFacts } from "./status-schema.ts";

export interface Pems {
  ca: string;
  certificate: string;
  privateKey: string;
}

export type Inspection = { facts: Omit<CertificateFacts, "version"> } | { problem: string };

/** What a client certificate says, or why nobody could use it. Judged before it is published. */
export function inspect({ ca, certificate, privateKey }: Pems, now: number): Inspection {
  let issuer: X509Certificate;
  let own: X509Certificate;
  try {
    issuer = new X509Certificate(ca);
    own = new X509Certificate(certificate);
  } catch {
    return { problem: "it is no certificate in PEM" };
  }
  if (!own.checkIssued(issuer) || !own.verify(issuer.publicKey))
    return { problem: "the cluster's CA has not signed it" };
  const ends = Date.parse(own.validTo);
  if (ends <= now) return { problem: `it has ended on ${new Date(ends).toISOString()}` };
  try {
    if (!own.checkPrivateKey(createPrivateKey(privateKey))) return { problem: "its private key is another one's" };
  } catch {
    return { problem: "its private key is no key in PEM" };
  }
  return {
    facts: {
      serial: own.serialNumber,
      issuedAt: new Date(own.validFrom).toISOString(),
      expiresAt: new Date(ends).toISOString(),
      fingerprint: own.fingerprint256.replaceAll(":", "").toLowerCase().slice(0, 12),
    },
  };
}
