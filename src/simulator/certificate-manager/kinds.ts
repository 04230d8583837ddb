import { z } from "zod";
import { checkedProperties, propertiesPath } from "../core/kind/body.ts";
import type { Call, Route } from "../http/exchange.ts";
import { conflict, invalid } from "../http/refusal.ts";
import { contains, type Managed } from "../managed/kind.ts";
import { managedRoutes } from "../managed/routes.ts";
import type { Host } from "../managed/service.ts";
import { type AutoCertificate, type Certificate, keyAlgorithms, type Provider } from "../records/certificates.ts";
import type { Own } from "../records/life.ts";
import { timestamp } from "../time.ts";
import type { World } from "../world.ts";
import { issueDue } from "./issue.ts";
import { certificateIn, chainIn, factsOf, privateKeyIn } from "./x509.ts";

export const certificateHost: Host = { path: "certificate-manager", privilege: "accessAndManageCertificates" };

const name = z.string().min(1, "must not be empty").max(255, "must have at most 255 characters");
/** The only property that a change can set, for every kind. */
const changeShape = z.object({ name });

const renamed = <T>({ own }: Own<T>, { body }: Call): Own<T> => ({
  own: { ...own, ...checkedProperties(changeShape, body) },
});

const common = {
  host: certificateHost,
  change: "PATCH" as const,
  statuses: { create: 201, change: 200 },
  span: [1_000, 3_000] as const,
};

const certificateShape = z
  .object({ name, certificate: z.string(), certificateChain: z.string().nullish(), privateKey: z.string() })
  .superRefine((body, context) => {
    const fault = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    const certificate = certificateIn(body.certificate);
    const chain = body.certificateChain ? chainIn(body.certificateChain) : [];
    const key = privateKeyIn(body.privateKey);
    if (certificate === undefined) fault("certificate", "must be a certificate in PEM form");
    if (chain === undefined) fault("certificateChain", "must be certificates in PEM form");
    if (key === undefined) fault("privateKey", "must be a private key in PEM form, without a passphrase");
    if (certificate === undefined) return;
    if (key !== undefined && !certificate.checkPrivateKey(key))
      fault("privateKey", "is not the key of the certificate");
    const issuer = chain?.[0];
    if (issuer !== undefined && !certificate.checkIssued(issuer)) {
      fault("certificateChain", "must begin with the certificate of the issuer");
    }
  });

export const certificateKind: Managed<Own<Certificate>> = {
  ...common,
  type: "certificate",
  path: "/certificates",
  param: "certificateId",
  table: ({ certificates }) => certificates.certificates,
  given(_, call, before) {
    if (before !== undefined) return renamed(before, call);
    const { name: called, certificate, certificateChain } = checkedProperties(certificateShape, call.body);
    return { own: { name: called, certificate, certificateChain: certificateChain ?? "", autoCertificate: null } };
  },
  properties: ({ own: { name: called, certificate, certificateChain } }) => ({
    name: called,
    certificate,
    certificateChain,
  }),
  metadata({ clock }, { state, failure, own }) {
    const { notBefore, notAfter, ...facts } = factsOf(own.certificate);
    return {
      state,
      message: failure ?? "",
      ...(own.autoCertificate !== null && { autoCertificate: own.autoCertificate }),
      expired: notAfter < clock.now(),
      notBefore: timestamp(notBefore),
      notAfter: timestamp(notAfter),
      ...facts,
    };
  },
  filters: {
    commonName: ({ own }, value) => contains(factsOf(own.certificate).commonName, value),
    autoCertificate: ({ own }, value) => own.autoCertificate === value,
  },
};

const domain = z
  .string()
  .regex(/^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i, "must be a domain name");
const autoCertificateShape = z.object({
  name,
  provider: z.string(),
  commonName: domain,
  keyAlgorithm: z.enum(keyAlgorithms, { error: `must be one of ${keyAlgorithms.join(", ")}` }),
  subjectAlternativeNames: z.array(domain).max(100, "must have at most 100 names").nullish(),
});

export const autoCertificateKind: Managed<Own<AutoCertificate>> = {
  ...common,
  type: "auto-certificate",
  path: "/auto-certificates",
  param: "autoCertificateId",
  table: ({ certificates }) => certificates.autoCertificates,
  given({ certificates }, call, before) {
    if (before !== undefined) return renamed(before, call);
    const { subjectAlternativeNames, ...body } = checkedProperties(autoCertificateShape, call.body);
    if (certificates.providers.get(body.provider) === undefined) {
      throw invalid(`${propertiesPath}.provider`, "must be the id of a provider of the contract");
    }
    const names = subjectAlternativeNames ?? [];
    return { own: { ...body, subjectAlternativeNames: names, lastIssuedCertificate: null, renewAt: 0 } };
  },
  properties: ({ own: { lastIssuedCertificate: _, renewAt: __, ...properties } }) => properties,
  metadata: (_, { state, failure, own: { lastIssuedCertificate } }) => ({
    state,
    message: failure ?? "",
    ...(lastIssuedCertificate !== null && { lastIssuedCertificate }),
  }),
  filters: { commonName: ({ own }, value) => contains(own.commonName, value) },
};

const providerShape = z.object({
  name,
  email: z.email("must be an email address"),
  server: z.url({ protocol: /^https?$/, error: "must be the URL of an ACME directory" }),
  externalAccountBinding: z.object({ keyId: z.string().min(1), keySecret: z.string().min(1) }).nullish(),
});

/** 409 while something needs the provider. */
function checkUnused({ certificates }: World, id: string): void {
  const user = [...certificates.autoCertificates.values()].find(({ own }) => own.provider === id);
  if (user === undefined) return;
  throw conflict(`The provider ${id} is used by the auto-certificate ${user.id}`);
}

export const providerKind: Managed<Own<Provider>> = {
  ...common,
  type: "provider",
  path: "/providers",
  param: "providerId",
  table: ({ certificates }) => certificates.providers,
  given(_, call, before) {
    if (before !== undefined) return renamed(before, call);
    const { externalAccountBinding, ...body } = checkedProperties(providerShape, call.body);
    return { own: { ...body, keyId: externalAccountBinding?.keyId ?? null } };
  },
  properties: ({ own: { keyId, ...properties } }) => ({
    ...properties,
    ...(keyId !== null && { externalAccountBinding: { keyId } }),
  }),
  metadata: (_, { state, failure }) => ({ state, message: failure ?? "" }),
  checkRemoval: (world, { id }) => checkUnused(world, id),
};

/** Certificates, auto-certificates and providers. */
export function certificateRoutes(world: World): Route[] {
  const upToDate = { prepare: () => issueDue(world) };
  return [
    ...managedRoutes(world, certificateKind, upToDate),
    ...managedRoutes(world, autoCertificateKind, upToDate),
    ...managedRoutes(world, providerKind),
  ];
}
