import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../processes.ts";

/** A repetition that must reach the end, without a beginning: it is tried from each place of a long text. */
const quadratic = /\/(?!\^)[^/\n]*[+*]\$\/[a-z]*[,.)]/;

it.each(globSync("src/{platform,gateway}/**/*.ts", { cwd: root }))("%s has no pattern of quadratic time", (file) => {
  const lines = readFileSync(join(root, file), "utf8").split("\n");
  expect(lines.filter((line) => quadratic.test(line))).toEqual([]);
});
