import { readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";

export interface Lock {
  release(): void;
}

/**
 * Takes an exclusive lock on `file`, or answers with undefined when another process has it.
 *
 * An exclusive SQLite transaction is a file lock of the operating system, the only kind that Node can reach: the kernel
 * drops it when its process dies, so a lock is never stale and never has to be taken over.
 * Nothing else may open `file`: closing any descriptor of it would drop the lock.
 */
export function tryLock(file: string): Lock | undefined {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  writeFileSync(holderFile(file), String(process.pid));
  return { release: () => database.isOpen && database.close() };
}

/** Waits for the lock; `onWait` hears once who has it. */
export async function lock(file: string, onWait: (holder: string) => void, signal?: AbortSignal): Promise<Lock> {
  for (let told = false; ; told = true) {
    const taken = tryLock(file);
    if (taken) return taken;
    if (!told) onWait(lockHolder(file));
    await delay(200, undefined, signal && { signal });
  }
}

/** Who has the lock, for a message to a person; nothing relies on it. */
export function lockHolder(file: string): string {
  try {
    return `process ${readFileSync(holderFile(file), "utf8")}`;
  } catch {
    return "another process";
  }
}

const holderFile = (file: string) => `${file}.holder`;

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
}
