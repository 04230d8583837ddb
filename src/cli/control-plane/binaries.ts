import { createHash } from "node:crypto";
import { accessSync, constants, readFileSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fetchRelease } from "./envtest.ts";
import { goBuild, moduleFolder, requireGo } from "./go.ts";
import { lock } from "./lock.ts";
import { during, type Progress, silent } from "./progress.ts";

/** `usual`: build time on two cores, if the binaries above it are already built. */
const packages = {
  etcd: { path: "go.etcd.io/etcd/server/v3", usual: "a minute" },
  "kube-apiserver": { path: "k8s.io/kubernetes/cmd/kube-apiserver", usual: "4 to 5 minutes" },
  kubectl: { path: "k8s.io/kubernetes/cmd/kubectl", usual: "a minute" },
  "kube-controller-manager": { path: "k8s.io/kubernetes/cmd/kube-controller-manager", usual: "3 minutes" },
} as const;

export type BinaryName = keyof typeof packages;

export const binaryNames = Object.keys(packages).filter(isBinaryName);

export function isBinaryName(name: string): name is BinaryName {
  return Object.hasOwn(packages, name);
}

export interface ProvideOptions {
  env?: NodeJS.ProcessEnv;
  onProgress?: Progress | undefined;
  signal?: AbortSignal | undefined;
  /** Time limit for an answer of the release host. After it, the binaries are built locally. */
  patienceMs?: number;
}

/**
 * Returns a folder with all of `names`: KUBEBUILDER_ASSETS, else the cache, filled from a release or by a build. A lock
 * ensures that two callers never build the same binary twice.
 */
export async function provideBinaries(names: readonly BinaryName[], options: ProvideOptions = {}): Promise<string> {
  const { env = process.env, onProgress = silent, signal, patienceMs = 6000 } = options;
  const given = env.KUBEBUILDER_ASSETS;
  if (given) return requireGiven(resolve(given), names);

  const cache = cacheFolder(env);
  const bin = join(cache, "bin");
  const missing = () => names.filter((name) => !isExecutable(join(bin, name)));
  if (missing().length === 0) return bin;

  await mkdir(bin, { recursive: true });
  const waiting = (holder: string) => onProgress(`waiting for ${holder}, which is building the control plane`, 0);
  const held = await lock(join(cache, "lock"), waiting, signal);
  try {
    if (missing().length > 0) await requireGo(names, { env, signal });
    // Only kube-apiserver takes minutes to build. For the others a download is not worth the wait.
    if (missing().includes("kube-apiserver")) await fetchRelease(bin, cache, { env, onProgress, signal, patienceMs });
    const toBuild = missing();
    for (const [index, name] of toBuild.entries()) {
      const { path, usual } = packages[name];
      const step = `building ${name} (${index + 1} of ${toBuild.length}, once; usually ${usual} on two cores)`;
      const part = join(bin, `${name}.part`);
      await during(onProgress, step, () => goBuild(path, part, { env, signal }));
      await rename(part, join(bin, name));
    }
  } finally {
    held.release();
  }
  return bin;
}

/** Whether a binary exists already. Throws if KUBEBUILDER_ASSETS is set and lacks it. */
export function isThere(name: BinaryName, env: NodeJS.ProcessEnv = process.env): boolean {
  const given = env.KUBEBUILDER_ASSETS;
  if (given) return isExecutable(join(requireGiven(resolve(given), [name]), name));
  return isExecutable(join(cacheFolder(env), "bin", name));
}

function requireGiven(folder: string, names: readonly BinaryName[]): string {
  const missing = names.filter((name) => !isExecutable(join(folder, name)));
  if (missing.length === 0) return folder;
  const lacks = `KUBEBUILDER_ASSETS is ${folder}, which lacks ${missing.join(", ")}`;
  throw new Error(`${lacks}: put it there, or unset KUBEBUILDER_ASSETS to have it built`);
}

/** The key is a hash of go.sum, so that binaries of different versions never mix. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const base = env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache");
  const key = createHash("sha256")
    .update(readFileSync(join(moduleFolder, "go.sum")))
    .digest("hex")
    .slice(0, 16);
  return join(base, "mooring", key);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
