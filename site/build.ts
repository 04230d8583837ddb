import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { parseArgs } from "node:util";

/**
 * Builds the documentation site of this checkout into `dist/site/<version>`. Versions that are there already stay, and
 * every build lists all of them.
 */
const here = import.meta.dirname;
const root = dirname(here);
const { values } = parseArgs({ options: { base: { type: "string", default: "/" } } });
const { version, repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const files = `${repository.url.replace(/^git\+|\.git$/g, "")}/blob/v${version}`;
const source = join(root, "dist/site-source");
const output = join(root, "dist/site");

/** The pages keep their places, so that links between them do not change. */
function collect(): void {
  rmSync(source, { recursive: true, force: true });
  const pages = globSync(["*.md", "docs/**/*.md", "deploy/chart/README.md"], { cwd: root });
  const served = globSync(["deploy/samples/*.yaml", "docs/**/*.svg"], { cwd: root });
  const known = new Set([...pages, ...served]);
  for (const page of pages) {
    const text = readFileSync(join(root, page), "utf8")
      // Comments are for readers of the source.
      .replaceAll(/^<!--[\s\S]*?-->\n/gm, "")
      .replaceAll(/\]\(([^)#:\s]+)(#[^)\s]*)?\)/g, (link, path) => {
        const target = normalize(join(dirname(page), path));
        return known.has(target) ? link : `](${files}/${target})`;
      });
    write(join(source, page), text);
  }
  for (const file of served) write(join(source, "public", file), readFileSync(join(root, file)));
}

function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** A release is newer than its pre-releases, such as 0.2.0-rc.1. */
function newestFirst(a: string, b: string): number {
  const [left = "", leftPre] = a.split("-");
  const [right = "", rightPre] = b.split("-");
  const isRelease = (pre: string | undefined) => Number(pre === undefined);
  return (
    inOrder.compare(right, left) ||
    isRelease(rightPre) - isRelease(leftPre) ||
    inOrder.compare(rightPre ?? "", leftPre ?? "")
  );
}
const inOrder = new Intl.Collator("en", { numeric: true });

function versions(): string[] {
  mkdirSync(output, { recursive: true });
  const built = readdirSync(output, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [...new Set([version, ...built.map(({ name }) => name)])].sort(newestFirst);
}

const base = `${values.base.replace(/\/*$/, "")}/`;
collect();
const known = versions();
const vitepress = join(here, "node_modules/vitepress/bin/vitepress.js");
const built = spawnSync(process.execPath, [vitepress, "build", here], {
  stdio: "inherit",
  env: { ...process.env, SITE_BASE: base, SITE_VERSION: version, SITE_VERSIONS: known.join(" ") },
});
if (built.status !== 0) process.exit(built.status ?? 1);
rmSync(source, { recursive: true, force: true });
writeFileSync(join(output, "versions.json"), `${JSON.stringify(known)}\n`);
writeFileSync(
  join(output, "index.html"),
  `<!doctype html><meta charset="utf-8"><title>Mooring</title><meta http-equiv="refresh" content="0; url=${base}${known[0]}/">\n`,
);
console.log(`wrote dist/site/${version}`);
