import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../processes.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const files = globSync("{src,test,bench,generate,image,release,recording,site}/**/*.ts", { cwd: root });
const pages = ["README.md", "CONTRIBUTING.md", ...globSync("docs/**/*.md", { cwd: root })];

/** The source files that a page names. A page may leave out the first folders. */
const namedIn = (page: string): string[] =>
  [...read(page).matchAll(/`((?:[\w-]+\/)+[\w.-]+\.ts)`/g)].map(([, path = ""]) => path);
const exists = (path: string) => files.some((file) => file === path || file.endsWith(`/${path}`));

it.each(pages)("%s names source files that exist", (page) => {
  expect(namedIn(page).filter((path) => !exists(path))).toEqual([]);
});

describe("one creation, from the watch event to Ready", () => {
  const rows = read("docs/design/creation.md").matchAll(/^\| `([\w/-]+\.ts)` \| `(\w+)` \|/gm);
  const steps = [...rows].map(([, file = "", name = ""]) => ({ file, name }));

  it("takes at most six files, the same in the overview", () => {
    expect(steps.length).toBeGreaterThan(0);
    expect(steps.length).toBeLessThanOrEqual(6);
    const overview = [...read("docs/architecture.md").matchAll(/^\d\. `([\w/-]+\.ts)`/gm)].map(([, file]) => file);
    expect(overview).toEqual(steps.map(({ file }) => file));
  });

  it.each(steps)("$file has $name", ({ file, name }) => {
    expect(read(`src/${file}`)).toMatch(new RegExp(`\\b(function|const) ${name}\\b`));
  });
});
