import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { createLayout, mediaTypes } from "../formats/oci.ts";

/** Signs like cosign: ECDSA on P-256 over SHA-256, in DER, as base64. */
export type Signer = {
  signature(content: Buffer | string): string;
  /** In PEM. */
  publicKey: string;
};

/** Reads a private key in PEM. Its password, if any, is in an environment variable. */
export function openSigner(path: string, password = process.env.MOORING_KEY_PASSWORD): Signer {
  const key = readKey(path, password);
  if (key.asymmetricKeyDetails?.namedCurve !== "prime256v1") throw new Error(`${path} is not an ECDSA key on P-256`);
  return {
    signature: (content) => sign("sha256", Buffer.from(content), key).toString("base64"),
    publicKey: createPublicKey(key).export({ type: "spki", format: "pem" }).toString(),
  };
}

function readKey(path: string, passphrase: string | undefined): KeyObject {
  const key = readFileSync(path, "utf8");
  if (/ENCRYPTED (SIGSTORE|COSIGN) PRIVATE KEY/.test(key)) {
    throw new Error(`${path} is in cosign's own format; give a key in PEM, as openssl writes it (docs/release.md)`);
  }
  return createPrivateKey(passphrase === undefined ? key : { key, passphrase });
}

/** The signed payload of an image: its digest and its published name. */
export const simpleSigning = (repository: string, digest: string): string =>
  JSON.stringify({
    critical: {
      identity: { "docker-reference": repository },
      image: { "docker-manifest-digest": digest },
      type: "cosign container image signature",
    },
    optional: null,
  });

/** The annotation that `cosign verify` reads. */
export const SIGNATURE = "dev.cosignproject.cosign/signature";

/** The tag under which cosign finds the signature of an image. */
export const signatureTag = (digest: string): string => `${digest.replace(":", "-")}.sig`;

/** Writes the signature of an image or artifact as a layout to push. */
export function writeSignature(folder: string, signer: Signer, repository: string, digest: string): void {
  const layout = createLayout(folder);
  const payload = simpleSigning(repository, digest);
  const layer = layout.blob(payload, mediaTypes.signature);
  const config = {
    architecture: "",
    os: "",
    config: {},
    created: "0001-01-01T00:00:00Z",
    history: [{ created: "0001-01-01T00:00:00Z" }],
    rootfs: { type: "layers", diff_ids: [layer.digest] },
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: layout.json(config, mediaTypes.config),
    layers: [{ ...layer, annotations: { [SIGNATURE]: signer.signature(payload) } }],
  };
  layout.tag(layout.json(manifest, mediaTypes.manifest), signatureTag(digest));
}

const IN_TOTO = "application/vnd.in-toto+json";

/** The signed bytes of an envelope: type and content with their lengths. */
export const preAuthentication = (type: string, content: string): string =>
  ["DSSEv1", Buffer.byteLength(type), type, Buffer.byteLength(content), content].join(" ");

/** A statement in a signed envelope (DSSE). */
export const envelope = (signer: Signer, statement: string): string =>
  `${JSON.stringify(signedEnvelope(signer, statement))}\n`;

function signedEnvelope(signer: Signer, statement: string) {
  const signatures = [{ sig: signer.signature(preAuthentication(IN_TOTO, statement)) }];
  return { payloadType: IN_TOTO, payload: Buffer.from(statement).toString("base64"), signatures };
}

/** The signature of a file as a Sigstore bundle: the form that cosign reads from version 3 on. */
export const signatureBundle = (signer: Signer, content: string): string =>
  sigstoreBundle(signer, {
    messageSignature: {
      messageDigest: { algorithm: "SHA2_256", digest: createHash("sha256").update(content).digest("base64") },
      signature: signer.signature(content),
    },
  });

/** The envelope of a statement as a Sigstore bundle. */
export const envelopeBundle = (signer: Signer, statement: string): string =>
  sigstoreBundle(signer, { dsseEnvelope: signedEnvelope(signer, statement) });

function sigstoreBundle({ publicKey }: Signer, content: object): string {
  const key = createPublicKey(publicKey).export({ type: "spki", format: "der" });
  const verificationMaterial = { publicKey: { hint: createHash("sha256").update(key).digest("base64") } };
  const mediaType = "application/vnd.dev.sigstore.bundle.v0.3+json";
  return `${JSON.stringify({ mediaType, verificationMaterial, ...content })}\n`;
}
