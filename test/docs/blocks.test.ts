import { describe, expect, it } from "vitest";
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

it("a command in any other block is found", () => {
  const text = ["```", "kubectl get pods", "```", "```yaml", "command: [make]", "```", "```sh", "$ ls", "```"];
  expect(readPage(text.join("\n")).unseen).toEqual([
    { line: 2, text: "kubectl get pods" },
    { line: 8, text: "$ ls" },
  ]);
});
