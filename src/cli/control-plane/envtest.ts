import { copyFile, link, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { goBuild, kubernetesVersion, type RunOptions, runInModule } from "./go.ts";
import { during, type Progress } from "./progress.ts";

const releaseBinaries = ["etcd", "kube-apiserver", "kubectl"];

/** If a download takes longer, a build is faster. */
const downloadPatienceMs = 4 * 60 * 1000;

export interface ReleaseOptions extends RunOptions {
  onProgress: Progress;
  /** Time limit for the release host's list of versions. */
  patienceMs: number;
}

/**
 * Downloads the release binaries into `bin` with setup-envtest, if possible. A release host that does not answer in
 * time, or has no release of exactly this version, is not an error: the binaries can still be built.
 */
export async function fetchRelease(bin: string, cache: string, options: ReleaseOptions): Promise<void> {
  const { onProgress, patienceMs, ...runOptions } = options;
  const tool = join(cache, "setup-envtest");
  const version = kubernetesVersion().slice(1);
  const use = (command: string, signal = options.signal) =>
    runInModule(tool, [command, version, "--print=path", `--bin-dir=${join(cache, "envtest")}`], {
      ...runOptions,
      signal,
    });
  try {
    await during(onProgress, "building setup-envtest, which knows the releases", () =>
      goBuild("sigs.k8s.io/controller-runtime/tools/setup-envtest", tool, runOptions),
    );
    const listed = await during(onProgress, `asking for a release of ${version}`, () =>
      use("list", anyOf(options.signal, AbortSignal.timeout(patienceMs))),
    );
    if (listed.code !== 0 || !listed.stdout.includes(version)) return;
    const used = await during(onProgress, `downloading the release of ${version}`, () =>
      use("use", anyOf(options.signal, AbortSignal.timeout(downloadPatienceMs))),
    );
    if (used.code !== 0) return;
    for (const name of releaseBinaries) await place(join(used.stdout, name), join(bin, name));
  } catch {
    options.signal?.throwIfAborted();
  }
}

const anyOf = (given: AbortSignal | undefined, own: AbortSignal) => (given ? AbortSignal.any([given, own]) : own);

async function place(from: string, to: string): Promise<void> {
  const part = `${to}.part`;
  await rm(part, { force: true });
  await link(from, part).catch(() => copyFile(from, part));
  await rename(part, to);
}
