import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { root } from "./processes.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const packages = z.record(z.string(), z.string());
const { dependencies, devDependencies, overrides } = z
  .object({ dependencies: packages, devDependencies: packages, overrides: packages })
  .parse(JSON.parse(read("package.json")));

const found = (pattern: string) => globSync(pattern, { cwd: root, exclude: ["node_modules", ".cache"] });

/** Tools and direct requirements. Others are marked as indirect. */
function modulesIn(text: string): string[] {
  const lines = text.split("\n").filter((line) => !line.includes("// indirect"));
  return lines.flatMap((line) => {
    const [, module] = /^(?:tool |require )?\s*([a-z0-9-]+(?:\.[a-z0-9-]+)+\/\S+)(?: v\S+)?$/.exec(line) ?? [];
    return module === undefined || line.startsWith("module ") || line.includes("=>") ? [] : [module];
  });
}

const artifactsIn = (text: string): string[] =>
  [...text.matchAll(/<dependency>\s*<groupId>(.*?)<\/groupId>\s*<artifactId>(.*?)<\/artifactId>/g)].map(
    ([, group, artifact]) => `${group}:${artifact}`,
  );

const site = z.object({ devDependencies: packages }).parse(JSON.parse(read("site/package.json")));

const needed = [
  ...Object.keys(site.devDependencies),
  ...Object.keys({ ...dependencies, ...devDependencies, ...overrides }),
  ...found("{deploy,test,bench}/**/go.mod").flatMap((path) => modulesIn(read(path))),
  ...found("{deploy,test}/**/pom.xml").flatMap((path) => artifactsIn(read(path))),
];

/** The names in the first column of the page's tables. */
const page = read("docs/dependencies.md");
const named = [...page.slice(0, page.indexOf("## Written here")).matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)];

it("the packages that everything is built on are there", () => {
  const built = ["@kubernetes/client-node", "undici", "zod", "pino", "prom-client"];
  expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(built));
  expect(Object.keys(devDependencies)).toContain("vitest");
});

it("every dependency is named with its reason", () => {
  expect(needed).toEqual(expect.arrayContaining(["zod", "go.etcd.io/etcd/server/v3", "org.apache.kafka:kafka_2.13"]));
  expect(needed.filter((name) => !named.some(([, known]) => known === name))).toEqual([]);
});

it("nothing is named that is no longer needed", () => {
  expect(named.map(([, name = ""]) => name).filter((name) => !needed.includes(name))).toEqual([]);
});
