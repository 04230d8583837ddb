import {
  createPrivateKey,
  generateKeyPair,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  type webcrypto,
} from "node:crypto";
import { isIP } from "node:net";
import { promisify } from "node:util";
import { z } from "zod";

export const authoritySchema = z.object({ certificate: z.string(), privateKey: z.string() });

/** A certificate authority of the simulator's own: PEM. */
export type Authority = Readonly<z.infer<typeof authoritySchema>>;

/** A certificate and its key: PEM. */
export type Issued = Authority;

export interface Validity {
  notBefore: Date;
  notAfter: Date;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const oneDay = 86_400_000;

/** Loaded with the first certificate: the module is large, and most importers never make one. */
async function loadX509() {
  await import("reflect-metadata");
  return import("@peculiar/x509");
}

/** For a number of days from `now`, and a day before it for clocks that are behind. */
export const validFor = (now: number, days: number): Validity => ({
  notBefore: new Date(now - oneDay),
  notAfter: new Date(now + days * oneDay),
});

const newKeys = () => generateKeyPairSync("ec", { namedCurve: algorithm.namedCurve });
const signing = (key: KeyObject) => key.toCryptoKey(algorithm, true, ["sign"]);
const verifying = (key: KeyObject) => key.toCryptoKey(algorithm, true, ["verify"]);
const pemOf = (key: KeyObject) => key.export({ type: "pkcs8", format: "pem" }).toString();
const serial = () => `00${randomBytes(15).toString("hex")}`;

export async function newAuthority(name: string, validity: Validity): Promise<Authority> {
  const x509 = await loadX509();
  const { privateKey, publicKey } = newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: `CN=${name}`,
    ...validity,
    signingAlgorithm: algorithm,
    keys: { privateKey: signing(privateKey), publicKey: verifying(publicKey) },
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(verifying(publicKey)),
    ],
  });
  return { certificate: `${certificate.toString("pem")}\n`, privateKey: pemOf(privateKey) };
}

/** For a server under these host names and addresses. */
export async function serverCertificate(
  authority: Authority,
  hosts: readonly string[],
  validity: Validity,
): Promise<Issued> {
  const x509 = await loadX509();
  return issued(authority, "Platform simulator", validity, [
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    new x509.SubjectAlternativeNameExtension(
      hosts.map((value) => ({ type: isIP(value) === 0 ? ("dns" as const) : ("ip" as const), value })),
    ),
  ]);
}

/** For a client who is known by this name. */
export async function clientCertificate(authority: Authority, name: string, validity: Validity): Promise<Issued> {
  const x509 = await loadX509();
  return issued(authority, name, validity, [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])]);
}

/** For a domain. Its RSA key is not kept: only the certificate is returned. */
export async function domainCertificate(
  authority: Authority,
  name: string,
  names: readonly string[],
  bits: number,
  validity: Validity,
): Promise<string> {
  const x509 = await loadX509();
  const { publicKey } = await promisify(generateKeyPair)("rsa", { modulusLength: bits });
  const subject = publicKey.toCryptoKey({ name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, true, ["verify"]);
  return signed(authority, name, subject, validity, [
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: "dns" as const, value }))),
  ]);
}

type Extension = InstanceType<Awaited<ReturnType<typeof loadX509>>["Extension"]>;

async function issued(
  authority: Authority,
  name: string,
  validity: Validity,
  extensions: Extension[],
): Promise<Issued> {
  const { privateKey, publicKey } = newKeys();
  const certificate = await signed(authority, name, verifying(publicKey), validity, extensions);
  return { certificate, privateKey: pemOf(privateKey) };
}

async function signed(
  authority: Authority,
  name: string,
  publicKey: webcrypto.CryptoKey,
  validity: Validity,
  extensions: Extension[],
): Promise<string> {
  const x509 = await loadX509();
  const issuer = new x509.X509Certificate(authority.certificate);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: `CN=${name}`,
    issuer: issuer.subject,
    ...validity,
    signingAlgorithm: algorithm,
    signingKey: signing(createPrivateKey(authority.privateKey)),
    publicKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      ...extensions,
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
    ],
  });
  return `${certificate.toString("pem")}\n`;
}
