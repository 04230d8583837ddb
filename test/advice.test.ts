import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./processes.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");

/** Every text in a source file, with `…` for each inserted value. Texts inside an inserted value are separate texts. */
function literals(source: string): string[] {
  const texts: string[] = [];
  const tokens = /\/\*[\s\S]*?\*\/|\/\/.*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`|\{|\}/g;
  /** Reads up to the closing brace. The caller handles the content. */
  function code(from: number): number {
    let depth = 0;
    tokens.lastIndex = from;
    for (let found = tokens.exec(source); found; found = tokens.exec(source)) {
      const [token] = found;
      if (token === "`") tokens.lastIndex = template(tokens.lastIndex);
      else if (token === "{") depth += 1;
      else if (token === "}" && depth-- === 0) return tokens.lastIndex;
      else if (/^["']/.test(token)) texts.push(token.slice(1, -1));
    }
    return source.length;
  }
  function template(from: number): number {
    let text = "";
    for (let at = from; at < source.length; at += 1) {
      if (source[at] === "`") {
        texts.push(text);
        return at + 1;
      }
      if (source.startsWith("${", at)) {
        text += "…";
        at = code(at + 2) - 1;
      } else text += source[at];
    }
    return source.length;
  }
  code(0);
  return texts;
}

/** Whether a text tells the reader to delete something. */
const advises = (text: string): boolean =>
  /(^|[:;,.(…] |\b(or|and|then|else|first) )[Dd]elete (?=\w)(?!markers?\b|lease\b)/.test(text.replaceAll(/\s+/g, " "));

/** Whether a text says how to keep it: by deletionPolicy, or in other words together with what is lost. */
const saysHowToKeep = (text: string): boolean =>
  /\bRetain\b/.test(text) ||
  /\bwhich keeps the\b/.test(text) ||
  (/\b(lost|loses?)\b/.test(text) && /\bkeep/.test(text));

/** Things without an object and without deletionPolicy, with the reason why they may be deleted. */
const exceptions: [text: string, why: string][] = [
  ["delete those that nobody uses", "a token, which says that it stops working"],
  ["delete tokens that nobody uses", "a token"],
  ["delete it by hand", "a log line about what no object owns; the way to keep it comes first"],
];
const isExcepted = (text: string) => exceptions.some(([part]) => text.includes(part));

const sources = globSync("src/**/*.ts", { cwd: root }).filter((path) => !path.startsWith(join("src", "simulator")));

it("a message that asks people to delete something says how to keep it", () => {
  const wrong = sources.flatMap((path) =>
    literals(read(path))
      .filter((text) => advises(text) && !saysHowToKeep(text) && !isExcepted(text))
      .map((text) => `${path}: ${text}`),
  );
  expect(wrong).toEqual([]);
});

describe("the same holds for what the API server says", () => {
  it.each(globSync("crds/*.yaml", { cwd: root }))("%s", (path) => {
    const messages = read(path)
      .split("\n")
      .filter((line) => /^\s*message(Expression)?: /.test(line))
      .flatMap((line) => line.split(/; (?=\\")/));
    expect(messages.filter((text) => advises(text) && !saysHowToKeep(text))).toEqual([]);
  });
});

it("and for the page of reasons", () => {
  const rows = read("docs/reference/reasons.md").split("\n");
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((text) => advises(text) && !saysHowToKeep(text))).toEqual([]);
});

it("a text is found whatever stands around it", () => {
  const hole = (code: string) => ["$", "{", code, "}"].join("");
  const nested = `\`four ${hole("d")}\``;
  const template = `\`three ${hole(`c ? ${nested} : "five"`)} six\``;
  const source = `const a = "one"; // "two"\nconst b = ${template}; const e = { f: 'seven' };`;
  expect(literals(source).sort()).toEqual(["five", "four …", "one", "seven", "three … six"]);
});

it("advice that destroys is found, and other advice is not", () => {
  expect(advises("it failed: delete the object and create it again")).toBe(true);
  expect(advises("cannot be changed. Delete the … and create it again")).toBe(true);
  expect(advises("objects with more than one delete marker")).toBe(false);
  expect(saysHowToKeep("delete the object (deletionPolicy: Retain keeps the resource)")).toBe(true);
  expect(saysHowToKeep("delete the object and create it again")).toBe(false);
});
