import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../processes.ts";
import { paths } from "./pages.ts";

/** The words of each sentence of a page. Code, tables, headings and comments are left out; a name in code is one word. */
function sentencesOf(markdown: string): string[][] {
  const prose = markdown
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, "\n\n")
    .replaceAll(/<!--[\s\S]*?-->/g, "")
    .replaceAll(/^(\||#).*$/gm, "\n\n")
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, "")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/`[^`]*`/g, "code")
    .replaceAll(/^ *([-*]|\d+\.) /gm, "\n\n");
  return prose
    .split(/\n\s*\n|(?<=[.!?:])\s+/)
    .map((sentence) => sentence.match(/[\p{L}\p{N}_][\p{L}\p{N}_'’-]*/gu) ?? [])
    .filter((words) => words.length > 1);
}

const MOST = 18;

it("the words of a sentence are counted without code, tables and lists", () => {
  const page = "# A title\n\nOne two `three four` five. Six seven:\n\n- eight nine\n- [ten eleven](x.md)\n\n| a b |\n";
  expect(sentencesOf(page).map(({ length }) => length)).toEqual([4, 2, 2, 2]);
});

it.each(paths)(`%s has sentences of at most ${MOST} words on average`, (path) => {
  const sentences = sentencesOf(readFileSync(join(root, path), "utf8"));
  const words = sentences.reduce((sum, { length }) => sum + length, 0);
  expect(words / Math.max(1, sentences.length)).toBeLessThanOrEqual(MOST);
});
