import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { installValues, packChart, releasedChart, renderInstall } from "../../release/artifacts/chart.ts";
import { executableEntries, makeBlob, makeExecutable } from "../../release/artifacts/executable.ts";
import { settingsOf, writeImage } from "../../release/artifacts/image.ts";
import { krewManifest } from "../../release/artifacts/krew.ts";
import { completions, packForNpm, programFiles } from "../../release/artifacts/program.ts";
import { linkageOf } from "../../release/formats/elf.ts";
import { mediaTypes, readBlob, readLayout, sha256 } from "../../release/formats/oci.ts";
import { isVersion, readProject } from "../../release/sources.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { root, run } from "../processes.ts";
import { base, contents, identity } from "./parts.ts";

const folder = temporaryFolder("artifacts");
const at = (...path: string[]) => join(folder.path, ...path);
afterAll(() => folder.remove());

/** A command that only prints its name. */
const bundle = [
  {
    path: "main.js",
    content: `#!/usr/bin/env node
import { readFileSync } from "node:fs";
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
await Promise.resolve();
console.log(version, JSON.stringify(process.argv.slice(2)));
process.exitCode = 7;
`,
  },
];
const program = programFiles(root, bundle, "1.2.3");

describe("the image", () => {
  const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8");
  const write = (path: string) => {
    const bases = [base("amd64", at("node")), base("arm64", at("node"))];
    const app = [{ path: "dist/main.js", content: "code" }];
    return writeImage(at(path), { bases, app, dockerfile }, identity);
  };
  beforeAll(() => writeFileSync(at("node"), "Node"));

  it("is for both processors, says what it is, and runs as the Dockerfile says", () => {
    const index = write("image");
    const [amd64, arm64, tagged] = readLayout(at("image"));
    expect(tagged).toMatchObject({ manifest: { digest: index.digest, mediaType: mediaTypes.index }, tag: "1.2.3" });
    const configs = [amd64, arm64].map((push) => {
      const [config] = push?.blobs ?? [];
      if (!config) throw new Error("a manifest has no config");
      return JSON.parse(readBlob(at("image"), config).toString("utf8"));
    });
    expect(configs.map(({ os, architecture }) => `${os}/${architecture}`)).toEqual(["linux/amd64", "linux/arm64"]);
    expect(configs[0].config).toMatchObject({
      User: "65532:65532",
      WorkingDir: "/app",
      Cmd: ["operator"],
      Env: expect.arrayContaining(["MALLOC_ARENA_MAX=2"]),
      Labels: {
        "org.opencontainers.image.title": "mooring",
        "org.opencontainers.image.version": "1.2.3",
        "org.opencontainers.image.revision": identity.revision,
        "org.opencontainers.image.source": identity.source,
        "org.opencontainers.image.created": "2023-11-14T22:13:20.000Z",
      },
    });
    expect(configs[0].config.Entrypoint.at(-1)).toBe("/app/dist/main.js");
    // Both share the layer that does not depend on the processor.
    expect(amd64?.blobs[2]).toEqual(arm64?.blobs[2]);
    const layers = amd64?.blobs.slice(1).map((blob) => sha256(gunzipSync(readBlob(at("image"), blob))));
    expect(configs[0].rootfs.diff_ids).toEqual(layers?.map((digest) => `sha256:${digest}`));
  });

  it("has the same digest when it is built again", () => {
    expect(write("again").digest).toBe(write("image").digest);
  });

  it("leaves nothing of the Dockerfile's last stage out", () => {
    const stage =
      dockerfile
        .replaceAll("\\\n", " ")
        .split(/^FROM /m)
        .at(-1) ?? "";
    const known = ["COPY", "LABEL", "USER", "WORKDIR", "ENV", "ENTRYPOINT", "CMD"];
    const used = [...stage.matchAll(/^([A-Z]+) /gm)].map(([, word]) => word);
    expect(used.filter((word) => !known.includes(word ?? ""))).toEqual([]);
    const { config } = settingsOf(dockerfile);
    expect(config.Env.every((each) => /^\w+=\S+$/.test(each))).toBe(true);
  });
});

it("libraries that a program needs are read out of it", () => {
  const { interpreter, needed } = linkageOf(readFileSync(process.execPath));
  expect(interpreter).toMatch(/^\/lib.*\/ld-linux/);
  expect(needed).toEqual(expect.arrayContaining(["libc.so.6", "libstdc++.so.6"]));
  expect(() => linkageOf(Buffer.from("#!/bin/sh\n".repeat(20)))).toThrow("not an ELF file");
});

describe("the chart", () => {
  const image = { repository: "registry.example.com/mooring/mooring", digest: `sha256:${"ab".repeat(32)}` };
  const docsUrl = "https://docs.example.com/1.2.3/docs";
  const home = "https://example.com/mooring";
  const repository = "registry.example.com/mooring/charts/mooring";
  const chart = releasedChart(join(root, "deploy/chart"), identity, { image, docsUrl, home, repository });
  const file = (path: string) => chart.find((entry) => entry.path === path)?.content.toString("utf8") ?? "";

  it("has the version, the image by its digest, the pages of this version, the CRDs as files, and its comments", () => {
    expect(parse(file("Chart.yaml"))).toMatchObject({ version: "1.2.3", appVersion: "1.2.3" });
    expect(parse(file("values.yaml"))).toMatchObject({ image, docsUrl });
    expect(file("values.yaml").match(/# /g)?.length).toBeGreaterThan(50);
    expect(file("files/crds/mooring.dev_servers.yaml")).toContain("kind: CustomResourceDefinition");
  });

  it("says where it comes from, and how it is installed from there", () => {
    expect(parse(file("Chart.yaml"))).toMatchObject({ home, sources: [identity.source] });
    const readme = file("README.md");
    expect(readme).toContain(`helm install mooring oci://${repository} --version 1.2.3 --namespace`);
    expect(readme).toContain(`| \`image.digest\` | \`"${image.digest}"\` |`);
    expect(readme).toContain(`(${identity.source}/blob/v1.2.3/docs/uninstall.md)`);
    expect(readme).not.toMatch(/\]\(\.|deploy\/chart /);
    const texts = chart.map(({ path, content }) => `${path}: ${content.toString("utf8")}`);
    expect(texts.filter((text) => /published yet|is a placeholder/.test(text))).toEqual([]);
  });

  it("renders install.yaml, in which every container has that image", async () => {
    writeFileSync(at("mooring-1.2.3.tgz"), packChart(chart, identity.seconds));
    const helm = (await run(join(root, "test/clients/setup-helm"), ["helm"])).stdout.trim();
    const text = renderInstall(helm, at("mooring-1.2.3.tgz"), installValues(root));
    const images = [...text.matchAll(/^\s+image: "(.*)"$/gm)].map(([, name]) => name);
    expect(new Set(images)).toEqual(new Set([`${image.repository}@${image.digest}`]));
    const names = (yaml: string) =>
      parseAllDocuments(yaml).map((each) => `${each.get("kind")} ${each.getIn(["metadata", "name"])}`);
    expect(names(text)).toEqual(names(readFileSync(join(root, "deploy/kustomize/install.yaml"), "utf8")));
  });
});

describe("the npm package", () => {
  it("starts by npx, far from a checkout and with nothing installed besides", async () => {
    writeFileSync(at("mooring-npm.tgz"), packForNpm(program, identity.seconds));
    const args = ["--yes", "--offline", `--package=${at("mooring-npm.tgz")}`, "--", "mooring", "why", "server/web"];
    const env = {
      ...process.env,
      npm_config_cache: at("npm-cache"),
      PATH: `${process.execPath.replace(/\/node$/, "")}:${process.env.PATH}`,
    };
    const { code, stdout, stderr } = await run("npx", args, { cwd: folder.path, env });
    expect({ code, stdout }, stderr).toEqual({ code: 7, stdout: '1.2.3 ["why","server/web"]\n' });
  });

  it("has what package.json lists, and no word about the checkout's own tools", () => {
    const paths = program.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining(["LICENSE", "README.md", "deploy/kustomize/install.yaml", "deploy/local/go.mod"]),
    );
    const manifest = z.looseObject({}).parse(JSON.parse(program[0]?.content.toString() ?? ""));
    expect(manifest).toMatchObject({ name: "mooring", version: "1.2.3", bin: { mooring: "dist/main.js" } });
    for (const field of ["dependencies", "devDependencies", "scripts", "overrides"])
      expect(manifest).not.toHaveProperty(field);
  });
});

describe.runIf(process.platform === "linux")("the single file", () => {
  const env = { ...process.env, XDG_CACHE_HOME: at("cache") };
  beforeAll(async () => {
    const { node } = base("amd64", process.execPath);
    makeExecutable(node, await makeBlob(program, folder.path), at("mooring"));
  });

  it("starts without a warning, and ends with the command's code", async () => {
    expect(await run(at("mooring"), ["tree", "--json"], { cwd: "/", env })).toEqual({
      code: 7,
      stdout: '1.2.3 ["tree","--json"]\n',
      stderr: "",
    });
  });

  it("starts where it may write nowhere but into the temporary folder, and cleans up there", async () => {
    const nowhere = { ...env, XDG_CACHE_HOME: "/dev/null/cache", TMPDIR: at() };
    expect((await run(at("mooring"), ["tree"], { env: nowhere })).stdout).toBe('1.2.3 ["tree"]\n');
    expect((await run("ls", [at()])).stdout).not.toMatch(/^mooring-\w{6}$/m);
  });

  it("starts others of its kind as Node would", async () => {
    const [unpacked = ""] = (await run("find", [at("cache"), "-name", "main.js"])).stdout.split("\n");
    expect((await run(at("mooring"), [unpacked, "operator"], { env })).stdout).toBe('1.2.3 ["operator"]\n');
  });

  it("is made of the same bytes wherever it is built", async () => {
    const [here, there] = [at("here"), at("far/away")];
    for (const path of [here, there]) mkdirSync(path, { recursive: true });
    const blobs = [await makeBlob(program, here), await makeBlob(program, there)].map((path) => readFileSync(path));
    expect(blobs[0]?.equals(blobs[1] ?? Buffer.alloc(0))).toBe(true);
  });

  it("is in its archive with the licenses", () => {
    writeFileSync(at("program"), "program");
    const entries = executableEntries(at("program"), root, "licenses");
    expect(entries.map(({ path, executable }) => `${path} ${executable ?? false}`)).toEqual([
      "mooring true",
      "LICENSE false",
      "licenses.txt false",
    ]);
  });
});

it("krew finds an archive for each platform, with its checksum", () => {
  const [{ platform } = base("amd64", "").node] = contents.nodes;
  const archives = [{ platform, file: "mooring-1.2.3-linux-amd64.tar.gz", sha256: "cd".repeat(32) }];
  const downloads = "https://downloads.example.com/v1.2.3";
  const plugin = parse(krewManifest({ ...readProject(root), version: "1.2.3", downloads, archives }));
  expect(plugin).toMatchObject({
    apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
    kind: "Plugin",
    metadata: { name: "mooring" },
    spec: {
      version: "v1.2.3",
      platforms: [
        {
          selector: { matchLabels: { os: "linux", arch: "amd64" } },
          uri: `${downloads}/mooring-1.2.3-linux-amd64.tar.gz`,
          sha256: "cd".repeat(32),
          bin: "mooring",
        },
      ],
    },
  });
  expect(plugin.spec.shortDescription.length).toBeLessThan(50);
});

it("shell completions are what the command prints, if it prints any", () => {
  writeFileSync(at("with.mjs"), "console.log(process.argv.slice(2).join(' '))");
  writeFileSync(at("without.mjs"), "process.exitCode = 2");
  expect(completions(at("with.mjs")).map(({ path, content }) => `${path}: ${content}`)).toEqual([
    "completions/mooring.bash: completion bash\n",
    "completions/_mooring: completion zsh\n",
    "completions/mooring.fish: completion fish\n",
  ]);
  expect(completions(at("without.mjs"))).toEqual([]);
});

it.each([
  ["0.1.0", true],
  ["1.2.3-rc.1", true],
  ["v1.2.3", false],
  ["1.2", false],
  ["1.2.3+build", false],
])("%s is a version: %s", (text, is) => {
  expect(isVersion(text)).toBe(is);
});
