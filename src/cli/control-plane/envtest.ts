import { copyFile, link, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { goBuild, kubernetesVersion, type RunOptions, runInModule } from "./go.ts";

const releaseBinaries = ["etcd", "kube-apiserver", "kubectl"];

export interface EnvtestOptions extends RunOptions {
  /** How long the release host may take to say what it has. */
  patienceMs: number;
}

/**
 * Puts the release binaries into `bin` with setup-envtest, and answers whether it did. No answer from the release host
 * within the patience, or no release of exactly our version, is no error: the binaries can still be built.
 */
export async function fetchRelease(bin: string, cache: string, options: EnvtestOptions): Promise<boolean> {
  const tool = join(cache, "setup-envtest");
  const store = ["--bin-dir", join(cache, "envtest")];
  const version = kubernetesVersion().slice(1);
  try {
    await goBuild("sigs.k8s.io/controller-runtime/tools/setup-envtest", tool, options);
    const patience = AbortSignal.timeout(options.patienceMs);
    const signal = options.signal ? AbortSignal.any([options.signal, patience]) : patience;
    const listed = await runInModule(tool, ["list", version, ...store], { ...options, signal });
    if (listed.code !== 0 || !listed.stdout.includes(version)) return false;
  } catch {
    options.signal?.throwIfAborted();
    return false;
  }

  const used = await runInModule(tool, ["use", version, "--print", "path", ...store], options);
  if (used.code !== 0) return false;
  for (const name of releaseBinaries) await place(join(used.stdout, name), join(bin, name));
  return true;
}

async function place(from: string, to: string): Promise<void> {
  const part = `${to}.part`;
  await rm(part, { force: true });
  await link(from, part).catch(() => copyFile(from, part));
  await rename(part, to);
}
