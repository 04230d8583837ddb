import { generateKeyPairSync, randomBytes, X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Writable } from "node:stream";
import { z } from "zod";
import { yamlText } from "../../diagnostics/manifest-text.ts";
import { sweepAfterwards } from "./guarded.ts";
import { lockHolder, tryLock } from "./lock.ts";

/** Names in a cluster's folder. The components run in that folder, so these are also their paths. */
export const files = {
  etcdSocket: "etcd.sock:0",
  etcdData: "etcd",
  certificates: "certificates",
  servingCertificate: "certificates/apiserver.crt",
  serviceAccountKey: "service-account.key",
  serviceAccountPublicKey: "service-account.pub",
  tokens: "tokens.csv",
  kubeconfig: "kubeconfig",
  controllerManagerKubeconfig: "controller-manager.kubeconfig",
  identity: "identity.json",
  lock: "lock",
} as const;

/** State that a kept cluster reuses at its next start, so that an existing kubeconfig still works. */
const identitySchema = z.object({
  port: z.number().optional(),
  adminToken: z.string(),
  controllerManagerToken: z.string(),
});

export type Identity = z.infer<typeof identitySchema>;

export interface ClusterFolder {
  readonly path: string;
  readonly kept: boolean;
  readonly identity: Identity;
  /**
   * Every program that works in the folder holds this. A temporary folder is removed when the last of them has ended.
   */
  readonly hold: Writable | undefined;
  /** Releases the folder: a temporary one is removed, a kept one is free for the next start. */
  close(): Promise<void>;
}

/** Opens a temporary folder, or the kept one at `data`. It contains keys and tokens. */
export async function openFolder(data?: string): Promise<ClusterFolder> {
  const opened = data === undefined ? await openTemporary() : await openKept(resolve(data));
  try {
    return { ...opened, kept: data !== undefined, identity: await prepare(opened.path) };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function openTemporary(): Promise<Pick<ClusterFolder, "path" | "hold" | "close">> {
  const path = await mkdtemp(join(await realpath(tmpdir()), "mooring-cluster-"));
  const sweeper = sweepAfterwards(path);
  return { path, hold: sweeper.hold, close: () => sweeper.sweep() };
}

async function openKept(path: string): Promise<Pick<ClusterFolder, "path" | "hold" | "close">> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const lockFile = join(path, files.lock);
  const held = tryLock(lockFile);
  if (!held) throw new Error(`${path} is in use by another "mooring cluster" (${lockHolder(lockFile)})`);
  return { path, hold: undefined, close: async () => held.release() };
}

async function prepare(path: string): Promise<Identity> {
  const at = (name: string) => join(path, name);
  if (!existsSync(at(files.serviceAccountKey))) {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    await writeSecret(at(files.serviceAccountPublicKey), publicKey.export({ type: "spki", format: "pem" }));
    await writeSecret(at(files.serviceAccountKey), privateKey.export({ type: "pkcs8", format: "pem" }));
  }
  // A killed etcd leaves its socket behind, which would look like a running one.
  await rm(at(files.etcdSocket), { force: true });
  // kube-apiserver creates a serving certificate only if there is none, and would keep an expired one.
  if (existsSync(at(files.servingCertificate)) && expiresSoon(at(files.servingCertificate))) {
    await rm(at(files.certificates), { recursive: true });
  }
  const identity = existsSync(at(files.identity))
    ? identitySchema.parse(JSON.parse(readFileSync(at(files.identity), "utf8")))
    : { adminToken: token(), controllerManagerToken: token() };
  await writeSecret(
    at(files.tokens),
    `${identity.adminToken},admin,admin,"system:masters"\n` +
      `${identity.controllerManagerToken},system:kube-controller-manager,kube-controller-manager\n`,
  );
  return identity;
}

/** Writes the kubeconfig, and the identity for the next start. */
export async function writeAccess({ path, identity }: ClusterFolder, server: string, port: number): Promise<void> {
  const ca = readFileSync(join(path, files.servingCertificate));
  await writeSecret(join(path, files.identity), JSON.stringify({ ...identity, port }));
  await writeSecret(join(path, files.kubeconfig), kubeconfig(server, ca, "admin", identity.adminToken));
  await writeSecret(
    join(path, files.controllerManagerKubeconfig),
    kubeconfig(server, ca, "controller-manager", identity.controllerManagerToken),
  );
}

function kubeconfig(server: string, ca: Buffer, user: string, token: string): string {
  return yamlText({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "mooring", cluster: { server, "certificate-authority-data": ca.toString("base64") } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: "mooring", context: { cluster: "mooring", user } }],
    "current-context": "mooring",
  });
}

const token = () => randomBytes(24).toString("base64url");

function expiresSoon(certificate: string): boolean {
  const monthMs = 30 * 24 * 3600 * 1000;
  return new X509Certificate(readFileSync(certificate)).validToDate.getTime() < Date.now() + monthMs;
}

function writeSecret(path: string, content: string | Buffer): Promise<void> {
  return writeFile(path, content, { mode: 0o600 });
}
