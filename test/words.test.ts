import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { usage } from "../src/operator/config.ts";
import { root } from "./processes.ts";

const STYLE = "docs/style.md";
/** This file quotes the phrases. */
const OWN = "test/words.test.ts";
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** The phrases to avoid, one per row of the page's last table. */
const page = read(STYLE);
const phrases = page
  .slice(page.indexOf("| Not | But |"))
  .split("\n")
  .slice(2)
  .map((row) => row.split("|")[1]?.trim().toLowerCase() ?? "")
  .filter((phrase) => phrase !== "");

/** A source with its comments. Stars at the beginning of comment lines are removed. */
const readable = (source: string) => source.replaceAll(/^\s*\*\s/gm, " ");

const sources = globSync("{src,bench,generate,image,release,recording,site}/**/*.ts", { cwd: root });

/** The comments of a test file: lines that begin with a comment, joined with the lines that continue it. */
const commentsOf = (source: string): string[] =>
  [...source.matchAll(/(?:^[ \t]*\/\/.*\n)+|^[ \t]*\/\*[\s\S]*?\*\//gm)].map(([comment]) =>
    comment.replaceAll(/^\s*(?:\/\/|\/\*\*?|\*\/?)|\*\/\s*$/gm, " ").trim(),
  );
const tests = globSync("test/**/*.ts", { cwd: root })
  .filter((path) => path !== OWN)
  .map((path) => ({ path, source: read(path) }))
  .map(({ path, source }) => ({ path, source, comments: commentsOf(source), titles: titlesOf(source) }));

/** The titles of tests that are written out. */
function titlesOf(source: string): string[] {
  const written = source.matchAll(
    /\b(?:describe|it|test)(?:\.\w+)?\(\s*"((?:\\.|[^"\\])*)"|^ *\]\)\("((?:\\.|[^"\\])*)"/gm,
  );
  return [...written].map(([, alone, each]) => alone ?? each ?? "");
}

const pages = ["README.md", ...globSync("docs/**/*.md", { cwd: root }).filter((path) => path !== STYLE)];
const texts = [
  ...sources.map((path) => ({ path, text: readable(read(path)) })),
  ...tests.map(({ path, source }) => ({ path, text: readable(source) })),
  ...[...globSync("{crds,deploy/**}/*.{yaml,md,txt,tpl}", { cwd: root }), "CHANGELOG.md", "Makefile", ...pages].map(
    (path) => ({ path, text: read(path) }),
  ),
  { path: "mooring operator --help", text: usage() },
];

const lowered = texts.map(({ path, text }) => ({ path, text: text.replaceAll(/\s+/g, " ").toLowerCase() }));

describe("the style page", () => {
  it("has phrases, each with a better one", () => {
    expect(phrases.length).toBeGreaterThan(20);
    expect(page.slice(page.indexOf("| Not | But |")).match(/→/g)).toHaveLength(phrases.length);
  });

  it("is linked from the page for contributors", () => {
    expect(read("docs/contributing.md")).toContain("(style.md)");
  });
});

it.each(phrases)(
  "nobody reads “%s” in messages, descriptions, flags, log lines, docs, comments and tests",
  (phrase) => {
    expect(lowered.filter(({ text }) => text.includes(phrase)).map(({ path }) => path)).toEqual([]);
  },
);

/** The names to avoid, and their simple inflections. */
const avoided = new Set(
  [...page.slice(page.indexOf("| Name | Instead |"), page.indexOf("## Words")).matchAll(/^\| ([a-z, ]+) \|/gm)]
    .flatMap(([, names = ""]) => names.split(", "))
    .flatMap((name) => [name, `${name}s`, `${name}d`, `${name}ed`]),
);

/** The names of a source that have a word to avoid. Comments and texts do not count. */
function avoidedNames(source: string): string[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|`[^`]*`|\/\/.*/g, " ");
  const names = new Set(code.match(/[A-Za-z_]\w*/g));
  return [...names].filter((name) => name.split(/(?=[A-Z])|_/).some((word) => avoided.has(word.toLowerCase())));
}

describe("a name in code", () => {
  it("is found in declarations and uses, not in comments and texts", () => {
    const source = `const isFarewell = owes ?? "a wish"; // a pulse\nlet wished = "beside";`;
    expect(avoidedNames(source)).toEqual(["isFarewell", "owes", "wished"]);
  });

  it("is a word that readers of other operators know", () => {
    const files = globSync("{src,test,bench}/**/*.ts", { cwd: root });
    const found = files.flatMap((path) => avoidedNames(read(path)).map((name) => `${path}: ${name}`));
    expect(avoided.size).toBeGreaterThan(20);
    expect(found).toEqual([]);
  });
});

describe("a comment", () => {
  it("is found in one line, in several and in a block", () => {
    const source = "// One\n  // and two.\nconst a = 1;\n/** Three. */\n/**\n * Four\n * and five.\n */\n";
    const found = commentsOf(source).map((comment) => comment.replaceAll(/\s+/g, " "));
    expect(found).toEqual(["One and two.", "Three.", "Four and five."]);
  });

  it("names its subject: it does not begin with what, who or whoever", () => {
    const ours = sources.filter((path) => path.startsWith("src/"));
    const inSource = ours.map((path) => ({ path, comments: commentsOf(read(path)) }));
    const riddles = [...tests, ...inSource].flatMap(({ path, comments }) =>
      comments
        .filter((comment) => /^(What|Whatever|Who|Whoever|Whom)\b/.test(comment))
        .map((comment) => `${path}: ${comment}`),
    );
    for (const files of [tests, inSource])
      expect(files.flatMap(({ comments }) => comments).length).toBeGreaterThan(500);
    expect(riddles).toEqual([]);
  });
});

describe("a title of a test", () => {
  it("is found in tests, groups and tables", () => {
    const source =
      'describe("a", () => {\n  it.each([\n    [1, 2],\n  ])("b %s", () => {});\n  test("c \\"d\\"", () => {});\n';
    expect(titlesOf(source)).toEqual(["a", "b %s", 'c \\"d\\"']);
  });

  it("names its subject: it does not begin with what, who or whoever", () => {
    const all = tests.flatMap(({ path, titles }) => titles.map((title) => ({ path, title })));
    expect(all.length).toBeGreaterThan(3000);
    expect(all.filter(({ title }) => /^(what|whatever|who|whoever|whom)\b/i.test(title))).toEqual([]);
  });
});
