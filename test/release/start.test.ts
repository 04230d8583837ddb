import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeBlob, makeExecutable } from "../../release/artifacts/executable.ts";
import { imageFiles } from "../../release/artifacts/image.ts";
import { completions, packForNpm, programFiles } from "../../release/artifacts/program.ts";
import { entriesBelow } from "../../release/formats/tar.ts";
import { provideBinaries } from "../../src/cli/control-plane/binaries.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { root, run, start } from "../processes.ts";
import { mainFile } from "../run/program.ts";
import { missingIn, sendNowhere } from "./adjacent.ts";
import { base } from "./parts.ts";

// The whole command as users download it, far from the repository, with an empty home.
const folder = temporaryFolder("start");
const at = (...path: string[]) => join(folder.path, ...path);
afterAll(() => folder.remove());

const env: NodeJS.ProcessEnv = {
  HOME: at("home"),
  PATH: `${dirname(process.execPath)}:${at("bin")}:${process.env.PATH}`,
  npm_config_cache: at("npm"),
};
const elsewhere = { cwd: "/", env };

beforeAll(async () => {
  for (const name of ["home", "bin"]) mkdirSync(at(name));
  const program = programFiles(root, entriesBelow(dirname(mainFile())), "1.2.3");
  writeFileSync(at("mooring.tgz"), packForNpm(program, 1_700_000_000));
  makeExecutable(base("amd64", process.execPath).node, await makeBlob(program, folder.path), at("mooring"));
  for (const { path, content } of imageFiles(program)) {
    mkdirSync(dirname(at("app", path)), { recursive: true });
    writeFileSync(at("app", path), content);
  }
  symlinkSync(at("mooring"), at("bin/kubectl-mooring"));
  const kubectl = await provideBinaries(["kubectl"]);
  symlinkSync(join(kubectl, "kubectl"), at("bin/kubectl"));
});

describe.runIf(process.platform === "linux")("the single file", () => {
  const call = (...args: string[]) => run(at("mooring"), args, elsewhere);

  it("has what it needs for manifests, and for answers without a cluster", async () => {
    expect(await call("rights")).toMatchObject({ code: 0, stdout: expect.stringContaining("kind: ClusterRole") });
    const { code, stdout } = await call("doctor");
    expect(code).toBe(3);
    expect(stdout).toContain("kubeconfig: no cluster to connect to");
  });

  it("starts the operator, which wants a platform", async () => {
    expect(await call("operator")).toMatchObject({ code: 2, stderr: expect.stringContaining("--platform ionos") });
  });

  it("starts the simulator", async () => {
    const simulator = start(at("mooring"), ["simulator", "--json", "--kafka", "off"], elsewhere);
    const { endpoints } = JSON.parse(await simulator.line());
    expect((await fetch(`${endpoints.api}/cloudapi/v6/datacenters`)).status).toBe(401);
    await simulator.stop();
  });

  it("is a plugin of kubectl where krew links it", async () => {
    const { code, stdout } = await run("kubectl", ["mooring", "doctor"], elsewhere);
    expect(code).toBe(3);
    expect(stdout).toMatch(/0 ok, 0 warn, 1 fail; mooring 1\.2\.3\n$/);
  });
});

it("the npm package starts with npx", async () => {
  const args = ["--yes", "--offline", `--package=${at("mooring.tgz")}`, "--", "mooring", "doctor"];
  const { code, stdout, stderr } = await run("npx", args, elsewhere);
  expect(code, stderr).toBe(3);
  expect(stdout).toMatch(/; mooring 1\.2\.3\n$/);
});

it("the npm package says which Node it needs where Node is too old to read it", async () => {
  writeFileSync(at("old.cjs"), 'Object.defineProperty(process, "versions", { value: { node: "20.1.0" } });\n');
  await run("tar", ["--extract", "--file", at("mooring.tgz"), "--directory", folder.path]);
  const { bin } = JSON.parse(readFileSync(at("package/package.json"), "utf8"));
  const args = ["--require", at("old.cjs"), at("package", bin.mooring), "doctor"];
  const { code, stderr } = await run(process.execPath, args, elsewhere);
  expect([code, stderr]).toEqual([1, "mooring: Node 24 or newer is needed, and this one is 20.1.0\n"]);
});

it("completions of all shells come with a release", () => {
  const texts = completions(mainFile());
  expect(texts.map(({ path }) => path)).toHaveLength(3);
  for (const { content } of texts) expect(content.toString()).toContain("mooring");
});

/** Every form that is published, as the folder from which Node loads it. */
const forms: [form: string, folder: () => Promise<string>][] = [
  ["the image", async () => at("app")],
  [
    "the npm package",
    async () => {
      await run("tar", ["--extract", "--file", at("mooring.tgz"), "--directory", folder.path]);
      return at("package");
    },
  ],
  [
    "the single file",
    async () => {
      await run(at("mooring"), ["version"], elsewhere);
      return globSync(at("home/.cache/mooring/program-*"))[0] ?? "";
    },
  ],
];

describe.runIf(process.platform === "linux").each(forms)("%s", (form, unpack) => {
  /** Code of libraries goes on without these modules, and uses these places only for log transports and for a warning. */
  const optional = [
    "@node-rs/crc32",
    "__dirname in node_modules/pino/lib/transport.js",
    "__dirname in node_modules/thread-stream/index.js",
    "__filename in node_modules/undici/index.js",
    "supports-color",
  ];
  /** A demo, real brokers and versitygw need a control plane or tools that the image does not have. */
  const ofDemo = [
    "deploy/kustomize/install.yaml",
    "deploy/local/",
    "deploy/local/kafka/pom.xml",
    "deploy/local/versitygw/",
    "deploy/samples/",
  ];

  it("has every file that its code looks for", async () => {
    const known = [...optional, ...(form === "the image" ? ofDemo : [])];
    expect(missingIn(await unpack())).toEqual(known.sort());
  });

  it("loads the Kafka client, whose error is about the broker", async () => {
    const { stdout, stderr } = await sendNowhere(await unpack());
    expect(stdout, stderr).toContain("ECONNREFUSED");
  });
});
