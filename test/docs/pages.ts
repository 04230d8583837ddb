import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../processes.ts";
import { readPage } from "./blocks.ts";

/** Every page that people read. */
export const paths = ["*.md", ".github/*.md", "deploy/chart/README.md", "docs/**/*.md"].flatMap((pattern) =>
  globSync(pattern, { cwd: root }).sort(),
);

/** Their commands and files. */
export const pages = paths.map((path) => ({ path, page: readPage(readFileSync(join(root, path), "utf8")) }));
