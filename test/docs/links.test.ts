import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, it } from "vitest";
import { root } from "../processes.ts";
import { paths } from "./pages.ts";

/** Links and headings in code blocks do not count. */
const textOf = (page: string) => readFileSync(join(root, page), "utf8").replaceAll(/^ *```[\s\S]*?^ *```$/gm, "");

/** The anchor of a heading, as GitHub and site generators build it. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
    .trim()
    .replaceAll(" ", "-");
const anchorsOf = (page: string) =>
  new Set([...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading)));

/** Links of a page to a missing file or heading. */
function broken(page: string): string[] {
  const text = textOf(page).replaceAll(/`[^`\n]*`/g, "");
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && target.endsWith(".md") && !anchorsOf(target).has(anchor);
  });
}

it.each(paths)("every link of %s leads somewhere", (page) => {
  expect(broken(page)).toEqual([]);
});
