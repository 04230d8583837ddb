import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./processes.ts";

const page = readFileSync(join(root, "docs/contributing.md"), "utf8");
const rows = page
  .slice(page.indexOf("## Adding a kind"), page.indexOf("### What"))
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => {
    const [, place = "", , check = ""] = line.split("|").map((cell) => cell.trim());
    return { place: place.replaceAll("`", ""), check };
  });

describe("the page that tells how to add a kind", () => {
  it("has five places that are written by hand", () => {
    expect(rows).toHaveLength(5);
  });

  it.each(rows)("$place is a place where kinds are", ({ place }) => {
    expect(globSync(place.replaceAll(/<\w+>/g, "*"), { cwd: root })).not.toEqual([]);
  });

  it.each(rows)("$check is a test", ({ check }) => {
    const [, file = "", title = ""] = /^`([^`]+\.test\.ts)` "(.+)"$/.exec(check) ?? [];
    expect(readFileSync(join(root, file), "utf8")).toContain(title);
    expect(title).not.toBe("");
  });

  it("names no other file that is gone", () => {
    const named = [...page.matchAll(/`((?:src|test|deploy|docs|crds)\/[^`<*]+)`/g)].map(([, path = ""]) => path);
    expect(named.filter((path) => globSync(path, { cwd: root }).length === 0)).toEqual([]);
  });
});

it("the repository has what its parts are named after", () => {
  const parts = ["package.json", "tsconfig.json", "src", "crds", "deploy", "test", "Dockerfile"];
  expect(parts.filter((part) => !existsSync(join(root, part)))).toEqual([]);
});
