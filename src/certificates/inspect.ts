import { createPrivateKey, X509Certificate } from "node:crypto";

export interface Pems {
  ca: string;
  certificate: string;
  privateKey: string;
}

/** Fields of a certificate. */
export interface Facts {
  serial: string;
  issuedAt: string;
  expiresAt: string;
  fingerprint: string;
}

export type Inspection = { facts: Facts } | { problem: string };

/**
 * Checks a client certificate before it is published: returns its fields, or why it cannot be used. In `certificate`, the
 * client's own comes first, and intermediates follow. A problem never quotes the input.
 */
export function inspect({ ca, certificate, privateKey }: Pems, now: number): Inspection {
  let chain: X509Certificate[] | undefined;
  try {
    const authorities = certificatesIn(ca);
    const [first, ...others] = certificatesIn(certificate);
    if (!first) return { problem: "it is not a PEM certificate" };
    if (authorities.length === 0) return { problem: "the cluster's CA is not a PEM certificate" };
    chain = chainTo(authorities, first, others);
  } catch {
    return { problem: "it cannot be read" };
  }
  const [own] = chain ?? [];
  if (!chain || !own) return { problem: "it is not signed by the cluster's CA" };
  const expired = chain.find(({ validToDate }) => validToDate.getTime() <= now);
  if (expired)
    return { problem: `${expired === own ? "it" : "its issuer"} expired on ${isoTime(expired.validToDate)}` };
  if (own.validFromDate.getTime() > now) return { problem: `it is not valid before ${isoTime(own.validFromDate)}` };
  try {
    if (!own.checkPrivateKey(createPrivateKey(privateKey))) return { problem: "its private key does not match" };
  } catch {
    return { problem: "its private key is not a PEM key" };
  }
  return {
    facts: {
      serial: own.serialNumber,
      issuedAt: isoTime(own.validFromDate),
      expiresAt: isoTime(own.validToDate),
      fingerprint: own.fingerprint256,
    },
  };
}

/** All certificates in a text, in order; throws when one of them cannot be parsed. */
export const certificatesIn = (pem: string): X509Certificate[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []).map(
    (each) => new X509Certificate(each),
  );

const isoTime = (date: Date): string => date.toISOString();

/** The chain from this certificate to a CA that signed it; undefined when there is none. */
function chainTo(
  authorities: readonly X509Certificate[],
  from: X509Certificate,
  intermediates: readonly X509Certificate[],
): X509Certificate[] | undefined {
  const signed = (issuer: X509Certificate) => from.checkIssued(issuer) && from.verify(issuer.publicKey);
  const authority = authorities.find(signed);
  if (authority) return [from, authority];
  const next = intermediates.find(signed);
  if (!next) return undefined;
  const others = intermediates.filter((each) => each !== next);
  const rest = chainTo(authorities, next, others);
  return rest && [from, ...rest];
}
