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
 * Returns the fields of a client certificate, or why it cannot be used. Checked before it is published. The first certificate
 * of a chain is the client's own, the others lead to the CA. A problem never quotes the input.
 */
export function inspect({ ca, certificate, privateKey }: Pems, now: number): Inspection {
  let path: X509Certificate[] | undefined;
  try {
    const authorities = certificatesIn(ca);
    const [first, ...others] = certificatesIn(certificate);
    if (!first) return { problem: "it is not a PEM certificate" };
    if (authorities.length === 0) return { problem: "the cluster's CA is not a PEM certificate" };
    path = pathTo(authorities, first, others);
  } catch {
    return { problem: "it cannot be read" };
  }
  const [own] = path ?? [];
  if (!path || !own) return { problem: "it is not signed by the cluster's CA" };
  const ended = path.find(({ validToDate }) => validToDate.getTime() <= now);
  if (ended) return { problem: `${ended === own ? "it" : "its issuer"} expired on ${written(ended.validToDate)}` };
  if (own.validFromDate.getTime() > now) return { problem: `it is not valid before ${written(own.validFromDate)}` };
  try {
    if (!own.checkPrivateKey(createPrivateKey(privateKey))) return { problem: "its private key does not match" };
  } catch {
    return { problem: "its private key is not a PEM key" };
  }
  return {
    facts: {
      serial: own.serialNumber,
      issuedAt: written(own.validFromDate),
      expiresAt: written(own.validToDate),
      fingerprint: own.fingerprint256,
    },
  };
}

/** All certificates in a text, in order; throws when one of them cannot be parsed. */
export const certificatesIn = (pem: string): X509Certificate[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []).map(
    (each) => new X509Certificate(each),
  );

const written = (date: Date): string => date.toISOString();

/** The chain from this certificate to a CA that signed it; undefined when there is none. */
function pathTo(
  authorities: readonly X509Certificate[],
  from: X509Certificate,
  between: readonly X509Certificate[],
): X509Certificate[] | undefined {
  const signed = (issuer: X509Certificate) => from.checkIssued(issuer) && from.verify(issuer.publicKey);
  const authority = authorities.find(signed);
  if (authority) return [from, authority];
  const next = between.find(signed);
  if (!next) return undefined;
  const others = between.filter((each) => each !== next);
  const rest = pathTo(authorities, next, others);
  return rest && [from, ...rest];
}
