import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../processes.ts";

const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => /\w/.test(word));

/** The sentences of a page without headings, tables, code blocks, comments and addresses of links. */
function sentencesOf(page: string): string[] {
  return page
    .replaceAll(/```[\s\S]*?```|<!--[\s\S]*?-->/g, "")
    .replaceAll(/\]\([^)]*\)/g, "]")
    .replaceAll(/^(#|\s*\|).*$/gm, "")
    .replaceAll(/^\s*([-*]|\d+\.)\s/gm, "\n")
    .split(/\n\s*\n/)
    .flatMap((paragraph) => paragraph.split(/(?<=[.!?:])\s+(?=[A-Z`[*])/))
    .filter((sentence) => wordsOf(sentence).length > 1);
}

const meanOf = (sentences: readonly string[]): number =>
  sentences.reduce((sum, sentence) => sum + wordsOf(sentence).length, 0) / sentences.length;

const read = (path: string) => readFileSync(join(root, path), "utf8");
const pages = ["README.md", "CHANGELOG.md", ...globSync("docs/**/*.md", { cwd: root })]
  .map((path) => ({ path, sentences: sentencesOf(read(path)) }))
  .filter(({ sentences }) => sentences.length > 0);

it("docs/architecture.md has at most 1,000 words", () => {
  expect(wordsOf(read("docs/architecture.md")).length).toBeLessThanOrEqual(1000);
});

describe("sentences", () => {
  it.each(pages)("of $path have fewer than 18 words on average", ({ sentences }) => {
    expect(meanOf(sentences)).toBeLessThan(18);
  });

  it("are found in paragraphs and lists, not in headings, tables and code", () => {
    const page =
      "# A title\n\nOne is\nhere. Two [is](far/away.md) there.\n\n- Three too\n- Four: `it` is.\n\n| a b | c d |\n";
    const found = sentencesOf(`${page}\n\`\`\`\nmake it so\n\`\`\`\n`).map((each) =>
      each.trim().replaceAll(/\s+/g, " "),
    );
    expect(found).toEqual(["One is here.", "Two [is] there.", "Three too", "`it` is."]);
  });
});
