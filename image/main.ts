import { copyFileSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { during, progressTo } from "../src/cli/control-plane/progress.ts";
import { temporaryFolder } from "../src/simulator/programs/swept.ts";
import { buildImage, makeBase, openStorage, root, sourceDate } from "./build.ts";
import { checkImage } from "./check.ts";
import { type Contents, startTime, unpack } from "./contents.ts";
import { sbomOf } from "./sbom.ts";
import { provide } from "./tools.ts";

const usage = `usage: make image ARGS="[OPTION…]"

Builds the Dockerfile without a container engine. Writes .cache/image/mooring.tar (OCI archive), sbom.json (CycloneDX) and
licenses.txt, and prints digest, size, start time and contents. Installs buildah and mmdebstrap of Debian when they are missing.

  --base NAME@sha256:…  pull this base, a Debian with Node 24 and npm (default: make one from Debian and the pinned Node)
  --check               also build it twice and compare, and run it against a test cluster as a restricted pod would
  -h, --help            show this help`;

const { values } = parseArgs({
  options: {
    base: { type: "string" },
    check: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});

async function main(): Promise<number> {
  if (values.help) {
    console.log(usage);
    return 0;
  }
  if (values.base !== undefined && !/@sha256:[0-9a-f]{64}$/.test(values.base)) {
    console.error(`make image: --base: "${values.base}" has no digest; write NAME@sha256:…`);
    return 2;
  }
  provide(["buildah", ...(values.base ? [] : ["mmdebstrap"]), ...(values.check ? ["podman", "runc"] : [])]);
  await using work = temporaryFolder("image");
  const storage = openStorage(work.path);
  const progress = progressTo(process.stderr);
  const step = <T>(title: string, doing: () => Promise<T>) => during(progress.update, title, doing);
  const base = values.base ?? (await step("making a base from Debian", () => makeBase(storage)));
  const out = join(root, ".cache/image");
  mkdirSync(out, { recursive: true });
  const archive = join(out, "mooring.tar");
  const build = (file: string) => step("building the image", () => buildImage(storage, base, file));
  const digest = await build(archive);
  const contents = await unpack(storage, archive);
  writeFileSync(join(out, "sbom.json"), await sbomOf(storage, contents, new Date(sourceDate() * 1000)));
  copyFileSync(join(contents.folder, "app/dist/licenses.txt"), join(out, "licenses.txt"));
  progress.end();
  console.log(`${relative(root, archive)}  ${digest}`);
  console.log(`size        ${mb(statSync(archive).size)} to pull, ${mb(sizeOf(contents, ""))} unpacked`);
  console.log(partsOf(contents).join("\n"));
  for (const args of [["version"], ["operator", "--help"]]) {
    console.log(`start time  ${await startTime(storage, contents, ...args)} ms (mooring ${args.join(" ")})`);
  }
  if (!values.check) return 0;
  const again = await build(join(work.path, "again.tar"));
  progress.end();
  console.log(`built again ${again === digest ? "the same digest" : `ANOTHER DIGEST: ${again}`}`);
  return (await checkImage(storage, console.log)) && again === digest ? 0 : 1;
}

const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

const sizeOf = ({ files }: Contents, prefix: string): number =>
  [...files].filter(([path]) => path.startsWith(prefix)).reduce((sum, [, size]) => sum + size, 0);

function partsOf(contents: Contents): string[] {
  const packages = [...contents.packages].map((each) => each.join(" ")).join(", ");
  const parts = { Node: "/usr/local/bin/", [packages]: "/lib", "Mooring with its libraries": "/app/" };
  return Object.entries(parts).map(
    ([name, prefix]) => `contents    ${mb(sizeOf(contents, prefix)).padStart(8)}  ${name}`,
  );
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(`make image: ${error instanceof Error ? error.message : String(error)}`);
  return 1;
});
