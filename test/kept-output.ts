import { appendFileSync, copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";

/** The folder in which a test run keeps what its processes print; set by test/run.ts, which searches it in the end. */
export const outputVariable = "MOORING_TEST_OUTPUT";

let kept = 0;

/** Where something of this name is kept; undefined when nobody is going to search. */
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

/** From now on, until they end. */
export function keepStreams(name: string, ...streams: Readable[]): void {
  const path = keptPath(name);
  if (path === undefined) return;
  for (const stream of streams) stream.on("data", (chunk) => appendFileSync(path, chunk));
}

/** As it is now, if it is there. */
export function keepFile(name: string, file: string): void {
  const path = keptPath(name);
  if (path !== undefined && existsSync(file)) copyFileSync(file, path);
}
