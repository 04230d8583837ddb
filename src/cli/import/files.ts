import { randomUUID } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/**
 * Writes files into a folder, and nothing outside of it: no link in the folder is followed. The folder itself may be a link.
 * Nothing is written when one of the files exists, unless `force` replaces it.
 */
export function writeFiles(folder: string, documents: readonly { file: string; text: string }[], force: boolean): void {
  const odd = documents.find(({ file }) => basename(file) !== file || /^\.*$|\0/.test(file));
  if (odd) throw new Error(`${JSON.stringify(odd.file)} is not a file name`);
  mkdirSync(folder, { recursive: true });
  const targets = documents.map(({ file, text }) => ({ path: join(folder, file), text }));
  for (const { path } of targets) if (!force && entryAt(path)) throw exists(path);
  for (const { path, text } of targets) force ? replace(folder, path, text) : create(path, text);
}

/** The entry of the folder itself: a link is not followed. */
const entryAt = (path: string) => lstatSync(path, { throwIfNoEntry: false });

const exists = (path: string) => new Error(`${path} exists: name another folder, or overwrite with --force`);

function create(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: "wx" });
  } catch (error) {
    throw Object(error).code === "EEXIST" ? exists(path) : error;
  }
}

/** A file with the same rights takes the place of the old one, or of a link. */
function replace(folder: string, path: string, text: string): void {
  const before = entryAt(path);
  const unfinished = join(folder, `.${randomUUID()}.tmp`);
  try {
    writeFileSync(unfinished, text, { flag: "wx" });
    if (before?.isFile()) chmodSync(unfinished, before.mode & 0o777);
    renameSync(unfinished, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
}
