import { createCipheriv, createHash, createHmac, createPrivateKey, hash, pbkdf2, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import {
  asn1Null,
  bmpString,
  type Der,
  explicit,
  implicitOctets,
  integer,
  octets,
  oid,
  sequence,
  setOf,
  utf16,
} from "./der.ts";
import { certificatesIn, type Pems } from "./inspect.ts";

/** RFC 7292, 8018 and 5912. With `trustedKeyUsage` Java marks a certificate as a trust anchor. */
const OID = {
  data: oid("1.2.840.113549.1.7.1"),
  encryptedData: oid("1.2.840.113549.1.7.6"),
  shroudedKeyBag: oid("1.2.840.113549.1.12.10.1.2"),
  certBag: oid("1.2.840.113549.1.12.10.1.3"),
  x509Certificate: oid("1.2.840.113549.1.9.22.1"),
  friendlyName: oid("1.2.840.113549.1.9.20"),
  localKeyId: oid("1.2.840.113549.1.9.21"),
  pbes2: oid("1.2.840.113549.1.5.13"),
  pbkdf2: oid("1.2.840.113549.1.5.12"),
  hmacWithSha256: oid("1.2.840.113549.2.9"),
  aes256Cbc: oid("2.16.840.1.101.3.4.1.42"),
  sha256: oid("2.16.840.1.101.3.4.2.1"),
  trustedKeyUsage: oid("2.16.840.1.113894.746875.1.1"),
  anyUsage: oid("2.5.29.37.0"),
} as const;

/** The default of the JDK. The password is random, so more iterations would only cost time. */
const ITERATIONS = 10_000;
const SALT_BYTES = 20;

/**
 * A PKCS#12 key store: the private key and its certificate under the name `user`, and the chain including the CA. It uses PBES2
 * with AES-256 and PBKDF2, and an HMAC-SHA-256 over all, so that JDK, OpenSSL 3 and librdkafka can read it.
 */
export async function keystoreOf({ ca, certificate, privateKey }: Pems, password: string): Promise<Uint8Array> {
  const all = [...certificatesIn(certificate), ...certificatesIn(ca)];
  const [own, ...chain] = new Map(all.map(({ raw, fingerprint256 }) => [fingerprint256, raw])).values();
  if (!own) throw new Error("a key store needs a certificate");
  // The same id on both links the key to its certificate. Any id will do.
  const ownAttributes = [
    friendlyName("user"),
    attribute(OID.localKeyId, octets(createHash("sha256").update(own).digest())),
  ];
  const certificates = sequence(certificateBag(own, ownAttributes), ...chain.map((each) => certificateBag(each)));
  const key = createPrivateKey(privateKey).export({ type: "pkcs8", format: "der" });
  const { algorithm, content } = await encrypt(key, password);
  const keys = sequence(bag(OID.shroudedKeyBag, sequence(algorithm, octets(content)), ownAttributes));
  return withMac([encryptedData(await encrypt(certificates, password)), plainData(keys)], password);
}

/** A PKCS#12 trust store: the CA certificates, the first under the name `ca`, marked as trusted for Java. */
export async function truststoreOf(ca: string, password: string): Promise<Uint8Array> {
  const trusted = attribute(OID.trustedKeyUsage, OID.anyUsage);
  const bags = certificatesIn(ca).map(({ raw }, index) =>
    certificateBag(raw, [friendlyName(index === 0 ? "ca" : `ca-${index + 1}`), trusted]),
  );
  return withMac([encryptedData(await encrypt(sequence(...bags), password))], password);
}

const attribute = (type: Der, value: Der): Der => sequence(type, setOf(value));
const friendlyName = (name: string): Der => attribute(OID.friendlyName, bmpString(name));

const bag = (type: Der, value: Der, attributes: readonly Der[]): Der =>
  sequence(type, explicit(value), ...(attributes.length > 0 ? [setOf(...attributes)] : []));

const certificateBag = (certificate: Uint8Array, attributes: readonly Der[] = []): Der =>
  bag(OID.certBag, sequence(OID.x509Certificate, explicit(octets(certificate))), attributes);

const plainData = (content: Der): Der => sequence(OID.data, explicit(octets(content)));

const encryptedData = ({ algorithm, content }: Encrypted): Der =>
  sequence(OID.encryptedData, explicit(sequence(integer(0), sequence(OID.data, algorithm, implicitOctets(content)))));

interface Encrypted {
  /** The encryption parameters: everything but the password. */
  algorithm: Der;
  content: Uint8Array;
}

async function encrypt(content: Uint8Array, password: string): Promise<Encrypted> {
  const [salt, iv] = [randomBytes(SALT_BYTES), randomBytes(16)];
  const key = await promisify(pbkdf2)(password, salt, ITERATIONS, 32, "sha256");
  const cipher = createCipheriv("aes-256-cbc", key, iv);
  const derivation = sequence(octets(salt), integer(ITERATIONS), integer(32), sequence(OID.hmacWithSha256, asn1Null));
  const scheme = sequence(sequence(OID.pbkdf2, derivation), sequence(OID.aes256Cbc, octets(iv)));
  return {
    algorithm: sequence(OID.pbes2, scheme),
    content: Buffer.concat([cipher.update(content), cipher.final()]),
  };
}

/** A PKCS#12 file of these parts, with a MAC over them: nobody can change them without the password. */
function withMac(parts: readonly Der[], password: string): Uint8Array {
  const content = sequence(...parts);
  const salt = randomBytes(SALT_BYTES);
  const code = createHmac("sha256", macKey(password, salt)).update(content).digest();
  const mac = sequence(sequence(sequence(OID.sha256, asn1Null), octets(code)), octets(salt), integer(ITERATIONS));
  return sequence(integer(3), plainData(content), mac);
}

/** The key of that MAC, by RFC 7292, appendix B. One block is enough, because SHA-256 gives all bytes that the HMAC needs. */
function macKey(password: string, salt: Uint8Array): Uint8Array {
  // Appendix B derives keys for three purposes. The id of a MAC key is 3.
  const purpose = Buffer.alloc(BLOCK, 3);
  let digest: Uint8Array = Buffer.concat([purpose, filled(salt), filled(utf16(`${password}\0`))]);
  // This loop blocks the event loop. The one-shot `hash` takes half the time of create, update and digest.
  for (let round = 0; round < ITERATIONS; round++) digest = hash("sha256", digest, "buffer");
  return digest;
}

/** The block size of SHA-256 in bytes. */
const BLOCK = 64;

/** Repeats the bytes up to a multiple of the block size. */
const filled = (bytes: Uint8Array): Uint8Array => Buffer.alloc(Math.ceil(bytes.length / BLOCK) * BLOCK, bytes);
