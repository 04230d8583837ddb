import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../image/build.ts";
import { provide } from "../image/tools.ts";
import { during, progressTo } from "../src/cli/control-plane/progress.ts";
import { sweptFolder, temporaryFolder } from "../src/simulator/programs/swept.ts";
import { buildRelease, type Release } from "./build.ts";
import { identityOf, isVersion, readProject } from "./sources.ts";
import { differences } from "./statements/checksums.ts";
import { openSigner } from "./statements/signatures.ts";

const usage = `usage: make release VERSION=0.1.0 [REGISTRY=HOST/PATH] [KEY=FILE]

Writes everything that a release has into dist/release, without a container engine. Two builds of one commit are equal.

  --version VERSION   version, for example 0.1.0
  --registry HOST/PATH  where the image and the chart will be published (default: "config.registry" of package.json)
  --downloads URL     where the files will be published (default: "config.downloads" of package.json)
  --docs URL          where docs/ of this version will be published (default: "config.docs" of package.json)
  --key FILE          private key in PEM, ECDSA on P-256, that signs; its password is in MOORING_KEY_PASSWORD
  --check             build everything twice and compare all files but the signatures
  -h, --help          show this help`;

const { values } = parseArgs({
  options: {
    version: { type: "string", default: "" },
    registry: { type: "string", default: "" },
    downloads: { type: "string", default: "" },
    docs: { type: "string", default: "" },
    key: { type: "string", default: "" },
    check: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});

async function main(): Promise<number> {
  if (values.help) {
    console.log(usage);
    return 0;
  }
  if (!isVersion(values.version)) {
    console.error(`make release: "${values.version}" is not a version; write VERSION=0.1.0`);
    return 2;
  }
  const known = readProject(root);
  const registry = values.registry || known.registry;
  if (!/^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._-]+)*$/.test(registry)) {
    console.error(`make release: REGISTRY: "${registry}" is not a registry; write HOST/PATH, without https://`);
    return 2;
  }
  const { downloads, docs } = values;
  const project = { ...known, registry, downloads: downloads || known.downloads, docs: docs || known.docs };
  if (values.key && !existsSync(values.key)) {
    console.error(`make release: KEY: ${values.key} does not exist`);
    return 2;
  }
  const signer = values.key ? openSigner(values.key) : undefined;
  provide(["mmdebstrap"]);
  mkdirSync(join(root, "dist"), { recursive: true });
  await using unfinished = sweptFolder(join(root, `dist/.release-${process.pid}`));
  const progress = progressTo(process.stderr);
  const warnings: string[] = [];
  if (Object.values(project).some((value) => /OWNER|example\.com/.test(value))) {
    warnings.push("package.json has placeholders for the repository or the registry: see docs/release.md");
  }
  const identity = identityOf(root, values.version, project);
  const buildInto = async (folder: string, warn: (line: string) => void) => {
    await using work = temporaryFolder("release");
    const step: Release["step"] = (title, doing) => during(progress.update, title, doing);
    return buildRelease({ root, out: folder, work: work.path, project, identity, signer, warn, step });
  };
  const published = await buildInto(unfinished.path, (line) => warnings.push(line));
  if (values.check) {
    await using again = temporaryFolder("release-again");
    await buildInto(again.path, () => {});
    const changed = differences(unfinished.path, again.path);
    if (changed.length > 0) throw new Error(`two builds differ in ${changed.join(", ")}`);
  }
  const out = join(root, "dist/release");
  rmSync(out, { recursive: true, force: true });
  renameSync(unfinished.path, out);
  progress.end();
  for (const line of warnings) console.log(`note   ${line}`);
  console.log(`image  ${published.image.repository}@${published.image.digest}`);
  console.log(`chart  oci://${published.chart.repository}  ${identity.version}`);
  if (values.check) console.log("check  a second build has the same files, byte by byte");
  console.log(`files  ${relative(root, out)}, ${signer ? "signed" : "not signed: no KEY was given"}`);
  return 0;
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(`make release: ${error instanceof Error ? error.message : String(error)}`);
  return 1;
});
