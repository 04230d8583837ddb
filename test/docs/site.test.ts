import { globSync } from "node:fs";
import { expect, it } from "vitest";
import { type Item, sidebar } from "../../site/sidebar.ts";
import { root } from "../processes.ts";

const linksOf = (items: Item[]): string[] =>
  items.flatMap(({ link = [], items = [] }) => [link, linksOf(items)].flat());

it("the site has every page of the documentation in its sidebar, once", () => {
  const pages = globSync("docs/**/*.md", { cwd: root }).filter((page) => page !== "docs/design/README.md");
  const linked = linksOf(sidebar).filter((link) => link.startsWith("/docs/"));
  expect(linked.sort()).toEqual(pages.map((page) => `/${page.replace(/\.md$/, "")}`).sort());
});
