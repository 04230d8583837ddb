import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { filesAt, MOST_MANIFEST_BYTES, manifestBudget, type Source, stdinText } from "../frame/manifest-source.ts";

/** The manifests of -f: files, pipes, folders (with `recursive` all subfolders), `-` for stdin; and of -k, a folder for kustomize. */
export async function readManifests(
  { names, recursive, folder }: { names: readonly string[]; recursive: boolean; folder: string | undefined },
  signal: AbortSignal,
): Promise<Source[]> {
  const budget = manifestBudget();
  const all: Source[] = [];
  for (const name of names) {
    if (name === "-") all.push({ from: "stdin", text: await stdinText(budget, process.stdin) });
    else all.push(...(await filesAt(name, budget, { recursive, signal })));
  }
  if (folder === undefined) return all;
  const built = await kustomized(folder, signal);
  budget.take(built.from, Buffer.byteLength(built.text));
  return [...all, built];
}

/** The output of `kubectl kustomize` for a folder. */
async function kustomized(folder: string, signal: AbortSignal): Promise<Source> {
  try {
    // One byte more than may be read, so that the budget says what is wrong.
    const maxBuffer = MOST_MANIFEST_BYTES + 1;
    const { stdout } = await promisify(execFile)("kubectl", ["kustomize", folder], { signal, maxBuffer });
    return { from: `kustomization ${folder}`, text: stdout };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT")
      throw new Error("-k needs kubectl: install it, or give its output: kubectl kustomize DIR | mooring plan -f -");
    const { stderr } = Object(error);
    throw new Error(
      `kubectl kustomize ${folder}: ${String(stderr || error)
        .trim()
        .split("\n")
        .at(-1)}`,
    );
  }
}
