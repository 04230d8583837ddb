import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";

/** The facts about a certificate that reads show. */
export interface Facts {
  notBefore: number;
  notAfter: number;
  serialNumber: string;
  commonName: string;
  subjectAlternativeNames: string[];
}

/** The certificate in a PEM text; undefined: there is none. */
export function certificateIn(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** The certificates of a PEM text, in their order; undefined: one of them is none. */
export function chainIn(pem: string): X509Certificate[] | undefined {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  const chain = blocks.flatMap((block) => certificateIn(block) ?? []);
  return chain.length === blocks.length && chain.length > 0 ? chain : undefined;
}

export function privateKeyIn(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

export function factsOf(pem: string): Facts {
  const { validFrom, validTo, serialNumber, subject, subjectAltName = "" } = new X509Certificate(pem);
  return {
    notBefore: Date.parse(validFrom),
    notAfter: Date.parse(validTo),
    serialNumber,
    commonName: /^CN=(.*)$/m.exec(subject)?.[1] ?? "",
    subjectAlternativeNames: [...subjectAltName.matchAll(/(?:DNS|IP Address):([^,\s]+)/g)].map(([, name = ""]) => name),
  };
}
