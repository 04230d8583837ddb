import { readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";

/** Files of one command, stdin among them, may have so many bytes: the YAML parser needs minutes for more. */
export const MOST_MANIFEST_BYTES = 4 * 1024 * 1024;

export interface Source {
  from: string;
  text: string;
}

const MANIFEST = /\.(ya?ml|json)$/;

/** Counts the bytes of all manifests of a command. */
export function manifestBudget(most = MOST_MANIFEST_BYTES) {
  let bytes = 0;
  return {
    /** Throws when there are more than may be read. */
    take(from: string, more: number): void {
      bytes += more;
      if (bytes <= most) return;
      throw new Error(`${from}: the manifests have more than ${most / 1024 / 1024} MiB: name fewer files at a time`);
    },
  };
}
export type ManifestBudget = ReturnType<typeof manifestBudget>;

/** The text of stdin, which is not read further than the budget allows. */
export async function stdinText(budget: ManifestBudget, stdin: AsyncIterable<Buffer | string>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    budget.take("stdin", bytes.length);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * The text of a file, or of the YAML and JSON files of a folder. A pipe or a device is refused: nobody knows whether it ever
 * ends.
 */
export function filesAt(path: string, budget: ManifestBudget, recursive = false): Source[] {
  const found = statOf(path);
  if (!found.isDirectory()) return [fileAt(path, found, budget)];
  const entries = readdirSync(path, { withFileTypes: true }).sort((a, b) => a.name.localeCompare(b.name));
  return entries.flatMap((entry) => {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) return recursive ? filesAt(inner, budget, true) : [];
    return MANIFEST.test(entry.name) ? [fileAt(inner, statOf(inner), budget)] : [];
  });
}

function fileAt(path: string, found: Stats, budget: ManifestBudget): Source {
  if (!found.isFile()) throw new Error(`-f ${path}: it is no file and no folder; -f - reads stdin`);
  budget.take(`-f ${path}`, found.size);
  return { from: path, text: readFileSync(path, "utf8") };
}

function statOf(path: string): Stats {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new Error(`-f ${path}: there is no such file or folder`);
  return found;
}
