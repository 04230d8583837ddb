import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { root, run } from "../processes.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const targets = [...read("Makefile").matchAll(/^([a-z-]+):/gm)].map(([, name = ""]) => name);

const workflowSchema = z.looseObject({
  permissions: z.record(z.string(), z.string()),
  jobs: z.record(
    z.string(),
    z.looseObject({
      "timeout-minutes": z.int(),
      strategy: z.looseObject({ matrix: z.looseObject({}) }).optional(),
      steps: z.array(z.looseObject({ uses: z.string().optional(), run: z.string().optional() })),
    }),
  ),
});

const pages = ["CONTRIBUTING", "SECURITY", "CODE_OF_CONDUCT", "MAINTAINERS", "ROADMAP", "VERSIONING"].map(
  (name) => `${name}.md`,
);

describe("workflows", () => {
  const files = globSync(".github/workflows/*.yml", { cwd: root }).sort();

  it("are there for tests, nights, releases, audits and code scanning", () => {
    expect(files.map((path) => path.split("/").at(-1))).toEqual([
      "audit.yml",
      "code-scanning.yml",
      "nightly.yml",
      "release.yml",
      "test.yml",
    ]);
  });

  it.each(files)("%s may do what it needs only, ends, and calls targets that exist", (path) => {
    const { permissions, jobs } = workflowSchema.parse(parse(read(path)));
    expect(permissions.contents).toBe(path.includes("release") ? "write" : "read");
    expect(Object.keys(jobs)).not.toEqual([]);
    const called = [...JSON.stringify(jobs).matchAll(/\bmake ([a-z-]+)/g)].map(([, name = ""]) => name);
    expect(called.filter((name) => !targets.includes(name))).toEqual([]);
  });

  it("run what .ci/run runs, for every change", () => {
    expect(read(".github/workflows/test.yml")).toContain("- run: .ci/run");
  });

  it("take nothing that somebody else wrote into a shell", () => {
    for (const path of files) {
      const { jobs } = workflowSchema.parse(parse(read(path)));
      const scripts = Object.values(jobs).flatMap(({ steps }) => steps.flatMap((step) => step.run ?? []));
      expect(
        scripts.filter((script) => /\$\{\{ *(github|inputs|secrets|vars)\b/.test(script)),
        path,
      ).toEqual([]);
    }
  });
});

it.each(["bug", "feature"])("the template of issues for a %s can be read", (name) => {
  const { body } = z
    .looseObject({ body: z.array(z.unknown()) })
    .parse(parse(read(`.github/ISSUE_TEMPLATE/${name}.yml`)));
  expect(body.length).toBeGreaterThan(1);
});

it("Renovate's settings can be read", () => {
  expect(JSON.parse(read("renovate.json"))).toMatchObject({ extends: expect.arrayContaining(["config:recommended"]) });
});

it("the pages about the project are there", () => {
  expect(pages.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

it("package.json says where the project is and what npm ships", () => {
  const manifest = z.looseObject({ files: z.array(z.string()) }).parse(JSON.parse(read("package.json")));
  for (const field of ["description", "keywords", "homepage", "bugs", "repository", "license", "bin", "engines"]) {
    expect(manifest, field).toHaveProperty(field);
  }
  const there = manifest.files.filter((pattern) => !pattern.startsWith("dist/"));
  expect(there.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

it("package, image and chart name the cloud that they are for, in the same words", () => {
  const { description } = z.looseObject({ description: z.string() }).parse(JSON.parse(read("package.json")));
  expect(description).toContain("IONOS Cloud");
  expect(parse(read("deploy/chart/Chart.yaml"))).toMatchObject({ description });
  expect(read("Dockerfile")).toContain(`org.opencontainers.image.description="${description}"`);
});

it("docs/release.md names every page that says that nothing is published", () => {
  const pages = globSync(["README.md", "docs/**/*.md", "src/cli/chart/*.ts"], { cwd: root });
  const saying = pages.filter((path) => /(no|none)\b[^.]{0,30} published( yet)?[.:;,]/i.test(read(path)));
  expect(saying.length).toBeGreaterThan(2);
  const guide = read("docs/release.md");
  expect(saying.filter((path) => !guide.includes(path.replace(/\/[^/]+\.ts$/, "")))).toEqual([]);
});

it("docs/release.md names every placeholder that is left", () => {
  const placeholders = ["OWNER", "registry.example.com"].filter((word) => read("package.json").includes(word));
  for (const word of placeholders) expect(read("docs/release.md")).toContain(`\`${word}\``);
});

it("make help lists every target, aligned", async () => {
  const lines = (await run("make", ["--no-print-directory", "help"])).stdout.trimEnd().split("\n");
  expect(lines.map((line) => line.trim().split(/\s+/)[1]).sort()).toEqual([...targets].sort());
  const columns = lines.map((line) => /^ {2}make \S+ +/.exec(line)?.[0].length);
  expect(new Set(columns).size).toBe(1);
});
