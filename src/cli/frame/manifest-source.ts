import { closeSync, constants, openSync, readdirSync, readFileSync, readSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

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

/** How the files of -f are read. */
export interface Reading {
  /** Also the folders in a folder. */
  recursive?: boolean | undefined;
  /** The longest time to read a pipe. */
  pipeMs?: number | undefined;
  /** Aborted by Ctrl-C. */
  signal?: AbortSignal | undefined;
}

/**
 * The text of a file or a pipe, as in `-f <(helm template …)`, or of the YAML and JSON files of a folder. A device is refused,
 * and a pipe in a folder as well: nobody meant it.
 */
export async function filesAt(path: string, budget: ManifestBudget, reading: Reading = {}): Promise<Source[]> {
  const found = statOf(path);
  if (!found.isDirectory()) return [found.isFIFO() ? await pipeAt(path, budget, reading) : fileAt(path, found, budget)];
  const entries = readdirSync(path, { withFileTypes: true }).sort((a, b) => a.name.localeCompare(b.name));
  const all: Source[] = [];
  for (const entry of entries) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) all.push(...(reading.recursive ? await filesAt(inner, budget, reading) : []));
    else if (MANIFEST.test(entry.name)) all.push(fileAt(inner, statOf(inner), budget));
  }
  return all;
}

function fileAt(path: string, found: Stats, budget: ManifestBudget): Source {
  if (!found.isFile()) throw new Error(`-f ${path}: it is no file and no folder; -f - reads stdin`);
  budget.take(`-f ${path}`, found.size);
  const text = readFileSync(path, "utf8");
  // Files in /proc have no size.
  if (found.size === 0) budget.take(`-f ${path}`, Buffer.byteLength(text));
  return { from: path, text };
}

const POLL_MS = 20;

/**
 * Opened without waiting, because a pipe that nobody writes to would block the process, also for Ctrl-C. An end before the
 * first byte counts only when the time is over: the writer may not have opened it yet.
 */
async function pipeAt(path: string, budget: ManifestBudget, { pipeMs = 60_000, signal }: Reading): Promise<Source> {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const chunks: Buffer[] = [];
    const end = performance.now() + pipeMs;
    for (;;) {
      const chunk = nextOf(file);
      if (chunk?.length === 0 && chunks.length > 0) break;
      if (chunk?.length) {
        budget.take(`-f ${path}`, chunk.length);
        chunks.push(chunk);
      } else await delay(POLL_MS, undefined, { signal });
      if (performance.now() > end) {
        throw new Error(`-f ${path}: it did not end in ${pipeMs / 1000} s; -f - has no such limit`);
      }
    }
    return { from: path, text: Buffer.concat(chunks).toString("utf8") };
  } finally {
    closeSync(file);
  }
}

/** The next bytes of a pipe: none at its end, undefined while there is nothing to read. */
function nextOf(file: number): Buffer | undefined {
  const chunk = Buffer.alloc(64 * 1024);
  try {
    return chunk.subarray(0, readSync(file, chunk));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EAGAIN") return undefined;
    throw error;
  }
}

function statOf(path: string): Stats {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new Error(`-f ${path}: there is no such file or folder`);
  return found;
}
