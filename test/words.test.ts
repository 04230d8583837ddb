import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { usage } from "../src/operator/config.ts";
import { root } from "./processes.ts";

const STYLE = "docs/style.md";
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** The phrases that the page rules out, one per row of its last table. */
const page = read(STYLE);
const phrases = page
  .slice(page.indexOf("| Not | But |"))
  .split("\n")
  .slice(2)
  .map((row) => row.split("|")[1]?.trim().toLowerCase() ?? "")
  .filter((phrase) => phrase !== "");

/** Comments count as well. A comment of several lines is read without the stars at their beginnings. */
const readable = (source: string) => source.replaceAll(/^\s*\*\s/gm, " ");

const sources = globSync("src/{*,!(simulator)/**/*}.ts", { cwd: root });
const pages = ["README.md", ...globSync("docs/**/*.md", { cwd: root }).filter((path) => path !== STYLE)];
const texts = [
  ...sources.map((path) => ({ path, text: readable(read(path)) })),
  ...[...globSync("{crds,deploy/chart/**}/*.yaml", { cwd: root }), "CHANGELOG.md", "Makefile", ...pages].map(
    (path) => ({ path, text: read(path) }),
  ),
  { path: "mooring operator --help", text: usage() },
];

const found = (text: string, phrase: string) => text.replaceAll(/\s+/g, " ").toLowerCase().includes(phrase);

describe("the style page", () => {
  it("has phrases, each with a better one", () => {
    expect(phrases.length).toBeGreaterThan(20);
    expect(page.slice(page.indexOf("| Not | But |")).match(/→/g)).toHaveLength(phrases.length);
  });

  it("is linked from the page for contributors", () => {
    expect(read("docs/contributing.md")).toContain("(style.md)");
  });
});

it.each(phrases)("nobody reads “%s” in messages, descriptions, flags, log lines and docs", (phrase) => {
  expect(texts.filter(({ text }) => found(text, phrase)).map(({ path }) => path)).toEqual([]);
});
