import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";

export interface Source {
  from: string;
  text: string;
}

const MANIFEST = /\.(ya?ml|json)$/;
/** Maximum output of kubectl: enough for a large landscape. */
const MOST_BYTES = 256 * 1024 * 1024;

/** The manifests of -f: files, folders (with `recursive` all subfolders), `-` for stdin. */
export async function readFiles(names: readonly string[], recursive: boolean): Promise<Source[]> {
  const all: Source[] = [];
  for (const name of names) {
    if (name === "-") all.push({ from: "stdin", text: await text(process.stdin) });
    else for (const file of filesAt(name, recursive)) all.push({ from: file, text: readFileSync(file, "utf8") });
  }
  return all;
}

function filesAt(path: string, recursive: boolean): string[] {
  let isFolder: boolean;
  try {
    isFolder = statSync(path).isDirectory();
  } catch {
    throw new Error(`-f ${path}: there is no such file or folder`);
  }
  if (!isFolder) return [path];
  const entries = readdirSync(path, { withFileTypes: true }).sort((a, b) => a.name.localeCompare(b.name));
  const files = entries.flatMap((entry) => {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) return recursive ? filesAt(inner, true) : [];
    return MANIFEST.test(entry.name) ? [inner] : [];
  });
  return files;
}

/** The output of `kubectl kustomize` for a folder. */
export async function kustomized(folder: string, signal: AbortSignal): Promise<Source> {
  try {
    const { stdout } = await promisify(execFile)("kubectl", ["kustomize", folder], { signal, maxBuffer: MOST_BYTES });
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
