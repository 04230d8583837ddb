import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { generatedFiles, wholeFolders } from "../generate/files.ts";
import { root } from "./processes.ts";

const files = generatedFiles(root);

describe("the generated files", () => {
  it.each([...files])("%s is what the source says; if not: make generate", (path, text) => {
    expect(readFileSync(join(root, path), "utf8")).toBe(text);
  });

  it.each(wholeFolders)("%s has no file of a kind that is gone; if not: make generate", (folder) => {
    const there = globSync(`${folder}/*`, { cwd: root }).sort();
    expect(there).toEqual([...files.keys()].filter((path) => path.startsWith(`${folder}/`)).sort());
  });
});
