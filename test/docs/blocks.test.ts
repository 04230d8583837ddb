import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../processes.ts";
import { races, readPage } from "./blocks.ts";
import { pages } from "./pages.ts";

describe("every command of the pages", () => {
  it("waits for what the one before it has changed", () => {
    const racing = pages.flatMap(({ path, page }) => races(page).map(({ line, text }) => `${path}:${line} ${text}`));
    expect(racing).toEqual([]);
  });

  it("is run, or says why not", () => {
    const silent = pages.flatMap(({ path, page }) =>
      page.left.filter(({ why }) => why.length < 10).map(({ line }) => `${path}:${line}`),
    );
    expect(silent).toEqual([]);
  });

  it("is in a block for commands, where it is seen", () => {
    const unseen = pages.flatMap(({ path, page }) => page.unseen.map(({ line, text }) => `${path}:${line} ${text}`));
    expect(unseen).toEqual([]);
  });
});

/** Options and patterns that only GNU's programs have, and what a page says where it cannot do without. */
const ofGnu = [
  { uses: /\bsed '[^'\n]*\\[|+?]|\bfresh='[^'\n]*\\\||\bbase64 -w|\bgrep -\w*P/, says: undefined },
  { uses: /\bsed -i |\bdate (-u )?-d /, says: /macOS/ },
];

it.each(pages)("the commands of $path work on macOS too, or it says how", ({ path }) => {
  const text = readFileSync(join(root, path), "utf8");
  const lines = text.split("\n").filter((line) => ofGnu.some(({ uses, says }) => uses.test(line) && !says?.test(text)));
  expect(lines).toEqual([]);
});

// The chart refuses to render without a platform, and a release does not land where the next command looks for it.
it.each(pages)("an installation with Helm in $path has a namespace and a platform", ({ path }) => {
  const text = readFileSync(join(root, path), "utf8").replaceAll("\\\n", " ");
  const installations = text.match(/^ *\$ helm install mooring .*$/gm) ?? [];
  const complete = /(?=.*(--namespace|-n) )(?=.*(platform=|--values ))/;
  expect(installations.filter((line) => !complete.test(line))).toEqual([]);
});

it("a command in any other block is found", () => {
  const text = ["```", "kubectl get pods", "```", "```yaml", "command: [make]", "```", "```sh", "$ ls", "```"];
  expect(readPage(text.join("\n")).unseen).toEqual([
    { line: 2, text: "kubectl get pods" },
    { line: 8, text: "$ ls" },
  ]);
});
