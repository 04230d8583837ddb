import { generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { Clock } from "../runtime/clock.ts";

/** A certificate and its key: either file paths or PEM contents. */
export interface Pair {
  cert: string;
  key: string;
}

/** Rejects unless certificate and key match: while the files are being replaced they may not. */
export async function readPair(files: Pair): Promise<Pair> {
  const [cert, key] = await Promise.all([readFile(files.cert, "utf8"), readFile(files.key, "utf8")]);
  createSecureContext({ cert, key });
  return { cert, key };
}

/** A minute is short enough: cert-manager and others renew the files long before they expire. */
const REREAD_MS = 60_000;

/** Reads the files every minute, and calls `changed` with them even if they are the same. Returns the function to stop. */
export function followPair(
  files: Pair,
  { clock, changed, onError }: { clock: Clock; changed: (pair: Pair) => void; onError: (error: unknown) => void },
): () => void {
  const reread = () => {
    readPair(files).then(changed).catch(onError);
    cancel = clock.after(REREAD_MS, reread);
  };
  let cancel = clock.after(REREAD_MS, reread);
  return () => cancel();
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY_MS = 86_400_000;
const YEARS = 10;

/** A certificate for scrapers that do not verify the server. Each process makes its own. */
export async function selfSigned(now: number): Promise<Pair> {
  // Imported here because these modules are large and only needed here.
  await import("reflect-metadata");
  const x509 = await import("@peculiar/x509");
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: algorithm.namedCurve });
  const cryptoKey = (key: KeyObject, usage: "sign" | "verify") => key.toCryptoKey(algorithm, true, [usage]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: `00${randomBytes(15).toString("hex")}`,
    name: "CN=mooring",
    notBefore: new Date(now - DAY_MS),
    notAfter: new Date(now + YEARS * 365 * DAY_MS),
    signingAlgorithm: algorithm,
    keys: { privateKey: cryptoKey(privateKey, "sign"), publicKey: cryptoKey(publicKey, "verify") },
    extensions: [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth])],
  });
  return { cert: certificate.toString("pem"), key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
}
