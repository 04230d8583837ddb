import { appendFileSync, copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";

/**
 * The folder in which a test run keeps the output of its processes. test/run/run.ts sets it, and searches it at the end.
 */
export const outputVariable = "MOORING_TEST_OUTPUT";

let kept = 0;

/** The path to keep output under this name; undefined if nobody searches it. */
export function keptPath(name: string): string | undefined {
  const folder = process.env[outputVariable];
  kept += 1;
  const file = name.replace(/[^\w.-]+/g, "-").slice(-100);
  return folder && join(folder, `${file}-${process.pid}-${kept}`);
}

export function keepText(name: string, text: string): void {
  const path = keptPath(name);
  if (path !== undefined) writeFileSync(path, text);
}

/** Keeps the output of streams until they end. */
export function keepStreams(name: string, ...streams: Readable[]): void {
  const path = keptPath(name);
  if (path === undefined) return;
  for (const stream of streams) stream.on("data", (chunk) => appendFileSync(path, chunk));
}

/** Keeps a copy of the file, if it exists. */
export function keepFile(name: string, file: string): void {
  const path = keptPath(name);
  if (path !== undefined && existsSync(file)) copyFileSync(file, path);
}
