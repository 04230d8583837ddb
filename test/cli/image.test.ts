import { copyFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { bundle } from "../../image/bundle.ts";
import { usage } from "../../src/operator/config.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { root, run, startProcess } from "../processes.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");

describe("an image without node_modules", () => {
  const folder = temporaryFolder("bundle");
  const main = join(folder.path, "dist/main.js");
  const bundled = (...args: string[]) => run(process.execPath, [main, ...args], { cwd: folder.path });
  beforeAll(async () => {
    await bundle(join(folder.path, "dist"));
    copyFileSync(join(root, "package.json"), join(folder.path, "package.json"));
  });
  afterAll(() => folder.remove());

  it("knows the commands that need no checkout", async () => {
    expect(await bundled("operator", "--help")).toEqual({ code: 0, stdout: `${usage()}\n`, stderr: "" });
    for (const args of [["version"], ["rights"], ["flowlogs", "--help"], ["tools", "--help"]]) {
      expect(await bundled(...args), args.join(" ")).toMatchObject({
        code: 0,
        stderr: "",
        stdout: expect.stringMatching(/./),
      });
    }
  });

  it("starts the simulator", async () => {
    const simulator = await startProcess(process.execPath, [main, "simulator", "--json", "--kafka", "off"]);
    const { endpoints, token } = z
      .object({ endpoints: z.object({ api: z.string() }), token: z.string() })
      .parse(simulator.ready);
    const answer = await fetch(`${endpoints.api}/cloudapi/v6/datacenters`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(200);
    expect(await simulator.stop()).toBe(0);
  });

  it("takes one byte for a character, but for the simulator's pages, and no YAML where no kubeconfig is read", () => {
    const dist = join(folder.path, "dist");
    const files = new Map(
      readdirSync(dist)
        .filter((name) => name.endsWith(".js"))
        .map((name) => [name, readFileSync(join(dist, name), "utf8")]),
    );
    const wide = [...files.values()].filter((text) => /[^\0-\xff]/.test(text));
    expect(
      wide.every((text) => text.includes("simulatorCommand")),
      `${wide.length} files`,
    ).toBe(true);
    const loaded = new Set<string>();
    const load = (name: string) => {
      if (loaded.has(name)) return;
      loaded.add(name);
      for (const [, each = ""] of (files.get(name) ?? "").matchAll(/^import [^"]*"\.\/([^"]+)"/gm)) load(each);
    };
    const command = /import\("\.\/([^"]+)"\)\)\.operatorCommand/.exec(files.get("main.js") ?? "")?.[1] ?? "";
    load(command);
    const regions = [...loaded].flatMap((name) => files.get(name)?.match(/node_modules\/\S+/g) ?? []);
    expect(loaded.size).toBeGreaterThan(10);
    expect(regions.filter((path) => /yaml|client-node|kafka|x509|modelcontextprotocol/.test(path))).toEqual([]);
  });

  it("brings the licenses of its libraries", () => {
    const { dependencies } = z
      .object({ dependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(read("package.json")));
    const licenses = readFileSync(join(folder.path, "dist/licenses.txt"), "utf8");
    for (const [name, version] of Object.entries(dependencies)) expect(licenses).toContain(`\n${name} ${version}: `);
    expect(licenses).toContain("Permission is hereby granted");
    expect(licenses).not.toMatch(/: unknown$/m);
  });
});

describe("the Dockerfile", () => {
  const lines = read("Dockerfile")
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => /^[A-Z]/.test(line));
  const stages = lines.filter((line) => line.startsWith("FROM "));

  it("copies what exists and is sent to the build, and from stages that it has", () => {
    const sent = read(".dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1));
    const copies = lines.filter((line) => line.startsWith("COPY ")).map((line) => line.split(/\s+/).slice(1));
    const sources = copies.filter(([first]) => !first?.startsWith("--from=")).flatMap((words) => words.slice(0, -1));
    expect(sources.length).toBeGreaterThan(3);
    for (const source of sources) {
      expect(existsSync(join(root, source)), source).toBe(true);
      expect(sent, source).toContain(source.replace(/\/$/, ""));
    }
    const from = copies.flatMap(([first = ""]) => (first.startsWith("--from=") ? [first.slice("--from=".length)] : []));
    for (const stage of from) expect(stages.join("\n")).toContain(`AS ${stage}`);
  });

  it("takes its base by an argument and ends with nothing but what was built, as a user that is not root", () => {
    expect(stages).toEqual([`FROM \${BASE} AS build`, "FROM scratch"]);
    expect(lines.filter((line) => /^(USER|ENTRYPOINT|CMD) /.test(line))).toEqual([
      "USER 65532:65532",
      'ENTRYPOINT ["/usr/local/bin/node", "--max-old-space-size-percentage=50", "--max-semi-space-size=4", "--heap-growing-percent=50", "/app/dist/main.js"]',
      'CMD ["operator"]',
    ]);
  });
});
