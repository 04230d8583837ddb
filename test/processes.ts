import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { spawnGuarded } from "../src/cli/control-plane/guarded.ts";

export const root = fileURLToPath(new URL("../", import.meta.url));

/** The command as users call it. */
export const mooring = `${root}bin/mooring`;
