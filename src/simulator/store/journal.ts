import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Change, Documents } from "./documents.ts";
import { lockDirectory } from "./lock.ts";

const changeSchema = z.object({ table: z.string(), key: z.string(), value: z.unknown() });
const entrySchema = z.object({ at: z.number(), changes: z.array(changeSchema) });
const snapshotSchema = z.object({
  version: z.literal(1),
  seed: z.number(),
  /** Number of the journal that continues this snapshot. */
  journal: z.int(),
  at: z.number(),
  documents: z.array(changeSchema),
});

/**
 * Keeps the state in a directory: `snapshot.json`, replaced by rename, and the journal of all changes since, one line
 * per transaction. A line counts once it is complete on disk. A call is answered after that, so a crash loses nothing
 * that was answered.
 */
export interface Journal {
  /** The seed of the run that made the directory; undefined when it is new. */
  readonly seed: number | undefined;
  /** The last simulated instant of an earlier run. */
  readonly lastInstant: number;
  /** Restores the rows of earlier runs and starts a new journal. Called once, before the first `append`. */
  load(documents: Documents, seed: number): void;
  append(at: number, changes: Change[]): void;
  /** Resolves when everything appended so far is on disk; rejects when it never will be. */
  flushed(): Promise<void>;
  close(): Promise<void>;
}

export const memoryOnly: Journal = {
  seed: undefined,
  lastInstant: 0,
  load() {},
  append() {},
  flushed: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

/** A journal is compacted when it has grown past this many bytes and past twice its snapshot. */
const compactAfter = 4 * 1024 * 1024;

/** Opens a directory for this process alone; rejects when another process holds it. */
export async function openJournal(directory: string): Promise<Journal> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const unlock = lockDirectory(directory);
  try {
    return createJournal(directory, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

function createJournal(directory: string, unlock: () => void): Journal {
  const earlier = readDirectory(directory);
  let last = earlier.at;
  let number = earlier.journal;
  let seed = earlier.seed ?? 0;
  let source: Documents | undefined;
  let file: Promise<FileHandle> | undefined;
  let size = 0;
  let snapshotSize = 0;
  /** Lines that wait for the running write; the next write has all of them. */
  let waiting: string[] | undefined;
  /** Settles with the last write; once it has failed, everything after fails too. */
  let written: Promise<void> = Promise.resolve();

  /** Synchronous on purpose: no transaction can happen between the snapshot and the start of its journal. */
  function compact(documents: Documents): Promise<void> {
    number += 1;
    const text = JSON.stringify({ version: 1, seed, journal: number, at: last, documents: documents.everything() });
    replaceFile(directory, "snapshot.json", text);
    const previous = file;
    file = open(join(directory, journalName(number)), "a", 0o600);
    size = 0;
    snapshotSize = text.length;
    for (const name of readdirSync(directory)) {
      if (/^journal-\d+\.ndjson$/.test(name) && name !== journalName(number)) rmSync(join(directory, name));
    }
    return Promise.resolve(previous).then((handle) => handle?.close());
  }

  async function write(lines: string[]): Promise<void> {
    const text = lines.join("");
    const handle = await file;
    await handle?.appendFile(text);
    await handle?.datasync();
    size += text.length;
    if (source !== undefined && size > Math.max(compactAfter, 2 * snapshotSize)) await compact(source);
  }

  return {
    seed: earlier.seed,
    lastInstant: earlier.at,
    load(documents, chosenSeed) {
      documents.restore(earlier.changes);
      earlier.changes = [];
      seed = chosenSeed;
      source = documents;
      written = compact(documents);
    },
    append(at, changes) {
      last = Math.max(last, at);
      const line = `${JSON.stringify({ at, changes })}\n`;
      if (waiting !== undefined) {
        waiting.push(line);
        return;
      }
      const lines = [line];
      waiting = lines;
      written = written.then(() => {
        waiting = undefined;
        return write(lines);
      });
      // Callers of `flushed` see the failure; the promise itself must not be unhandled.
      written.catch(() => {});
    },
    flushed: () => written,
    async close() {
      try {
        await written;
        if (source !== undefined) await compact(source);
        await (await file)?.close();
      } finally {
        unlock();
      }
    },
  };
}

const journalName = (number: number) => `journal-${number}.ndjson`;

function readDirectory(directory: string) {
  const snapshotFile = join(directory, "snapshot.json");
  if (!existsSync(snapshotFile)) return { seed: undefined, journal: 0, at: 0, changes: [] };
  const snapshot = snapshotSchema.parse(JSON.parse(readFileSync(snapshotFile, "utf8")));
  const changes: Change[] = snapshot.documents;
  let { at } = snapshot;
  const journalFile = join(directory, journalName(snapshot.journal));
  const lines = existsSync(journalFile) ? readFileSync(journalFile, "utf8").split("\n") : [];
  // The text after the last line end was cut off by a crash, before its call was answered.
  for (const line of lines.slice(0, -1)) {
    const entry = entrySchema.parse(JSON.parse(line));
    at = Math.max(at, entry.at);
    changes.push(...entry.changes);
  }
  return { seed: snapshot.seed, journal: snapshot.journal, at, changes };
}

/** All of the new text or all of the old, also after a crash. */
function replaceFile(directory: string, name: string, text: string): void {
  const temporary = join(directory, `${name}.tmp`);
  const descriptor = openSync(temporary, "w", 0o600);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, join(directory, name));
  const parent = openSync(directory, "r");
  try {
    fsyncSync(parent);
  } finally {
    closeSync(parent);
  }
}
