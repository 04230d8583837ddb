import { readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";

export interface Lock {
  release(): void;
}

/**
 * Takes an exclusive lock on `file`; undefined if another process has it.
 *
 * An exclusive SQLite transaction is the only lock of the operating system that Node offers. The kernel releases it
 * when its process dies, so a lock is never stale. Nothing else may open `file`: closing any descriptor of it would
 * release the lock.
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

/** Waits for the lock. Calls `onWait` once with the current holder. */
export async function lock(file: string, onWait: (holder: string) => void, signal?: AbortSignal): Promise<Lock> {
  for (let hasWaited = false; ; hasWaited = true) {
    const taken = tryLock(file);
    if (taken) return taken;
    if (!hasWaited) onWait(lockHolder(file));
    await delay(200, undefined, signal && { signal });
  }
}

/** The holder of the lock, for messages only. */
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
