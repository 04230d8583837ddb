import { z } from "zod";
import { authoritySchema } from "../certificates.ts";
import type { Documents } from "../store/documents.ts";
import { rowSchema } from "./life.ts";

export const keyAlgorithms = ["rsa2048", "rsa3072", "rsa4096"] as const;

/** Private keys are checked and not stored: nothing here serves TLS with them. */
const certificateSchema = z.object({
  name: z.string(),
  /** PEM, as is the chain. */
  certificate: z.string(),
  certificateChain: z.string(),
  /** The id of what issued it; null: it was uploaded. */
  autoCertificate: z.string().nullable(),
});

const autoCertificateSchema = z.object({
  name: z.string(),
  provider: z.string(),
  commonName: z.string(),
  keyAlgorithm: z.enum(keyAlgorithms),
  subjectAlternativeNames: z.array(z.string()).readonly(),
  lastIssuedCertificate: z.string().nullable(),
  /** When the next certificate is issued. */
  renewAt: z.number(),
});

const providerSchema = z.object({
  name: z.string(),
  email: z.string(),
  server: z.string(),
  /** The id of the key of an account elsewhere; its secret is not kept. */
  keyId: z.string().nullable(),
});

export type Certificate = Readonly<z.infer<typeof certificateSchema>>;
export type AutoCertificate = Readonly<z.infer<typeof autoCertificateSchema>>;
export type Provider = Readonly<z.infer<typeof providerSchema>>;

/** Everything that the platform remembers of the certificate manager. */
export function createCertificateRecords(documents: Documents) {
  return {
    certificates: documents.table("certificates", rowSchema(certificateSchema)),
    autoCertificates: documents.table("auto-certificates", rowSchema(autoCertificateSchema)),
    providers: documents.table("certificate-providers", rowSchema(providerSchema)),
    /** The issuing authority, in one row. */
    authorities: documents.table("certificate-authorities", authoritySchema),
  };
}

export type CertificateRecords = ReturnType<typeof createCertificateRecords>;
