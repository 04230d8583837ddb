import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundle } from "../image/bundle.ts";
import { librariesOf, licensesOf } from "../image/licenses.ts";
import { installValues, packChart, releasedChart, renderInstall, writeChartArtifact } from "./artifacts/chart.ts";
import { type System, systemFor } from "./artifacts/debian.ts";
import { executableEntries, makeBlob, makeExecutable } from "./artifacts/executable.ts";
import { type Identity, imageFiles, writeImage } from "./artifacts/image.ts";
import { type KrewArchive, krewManifest } from "./artifacts/krew.ts";
import { fetchNode, type NodeBinary, nodeHere, platforms } from "./artifacts/node.ts";
import { completions, packForNpm, programFiles } from "./artifacts/program.ts";
import { type Descriptor, sha256 } from "./formats/oci.ts";
import { type Entry, entriesBelow, tar, tarGz } from "./formats/tar.ts";
import type { Project } from "./sources.ts";
import { CHECKSUMS, checksums, digestsIn } from "./statements/checksums.ts";
import { withAddresses } from "./statements/links.ts";
import { releaseNotes } from "./statements/notes.ts";
import { provenance } from "./statements/provenance.ts";
import { envelope, envelopeBundle, type Signer, signatureBundle, writeSignature } from "./statements/signatures.ts";
import { type Contents, spdx } from "./statements/spdx.ts";

export interface Release {
  root: string;
  /** Folder of the artifacts. */
  out: string;
  /** Folder of intermediate files. */
  work: string;
  project: Project;
  identity: Identity;
  signer: Signer | undefined;
  /** Reports what is left out, with the reason. */
  warn(line: string): void;
  step<T>(title: string, doing: () => Promise<T>): Promise<T>;
}

/** The parts of a release to push, and their destinations; `release/push.ts` reads it. */
export interface Published {
  version: string;
  registry: string;
  image: { repository: string; digest: string };
  chart: { repository: string; digest: string };
}

interface Base {
  node: NodeBinary;
  system: System;
}

export async function buildRelease(release: Release): Promise<Published> {
  const { root, work, out, identity, step } = release;
  const cache = join(root, ".cache/release");
  const dist = join(work, "dist");
  await step("bundling", () => bundle(dist));
  const program = programFiles(root, entriesBelow(dist), identity.version);
  const nodes = await step("fetching Node", async () => fetchNodes(release, cache));
  const bases = await step("fetching Debian's libraries", async () => basesFor(release, nodes));
  const published = await step("writing image and chart", async () => writeForCluster(release, program, bases));
  const licenses = allLicenses(root, bases);
  write(out, "licenses.txt", licenses);
  write(out, `mooring-npm-${identity.version}.tgz`, packForNpm(program, identity.seconds));
  await step("writing programs", () => writePrograms(release, program, nodes, { licenses, cache }));
  const contents = {
    libraries: librariesOf(root),
    nodes,
    debian: bases.flatMap(({ system }) => system.packages),
  };
  await step("writing checksums", async () => writeStatements(release, published, contents));
  return published;
}

function write(out: string, path: string, content: Buffer | string): void {
  mkdirSync(dirname(join(out, path)), { recursive: true });
  writeFileSync(join(out, path), content);
}

/** Node for all platforms. A release without macOS is a release; without Linux there is none. */
function fetchNodes({ warn }: Release, cache: string): NodeBinary[] {
  return platforms.flatMap((platform) => {
    try {
      return [fetchNode(platform, cache)];
    } catch (error) {
      if (platform.os === "linux") throw error;
      warn(`no program for ${platform.os}/${platform.arch}: ${error instanceof Error ? error.message : error}`);
      return [];
    }
  });
}

const basesFor = ({ work, identity }: Release, nodes: readonly NodeBinary[]): Base[] =>
  nodes
    .filter(({ platform }) => platform.os === "linux")
    .map((node) => ({ node, system: systemFor(node, work, identity.seconds) }));

/** Image, chart, install.yaml and CRDs. */
function writeForCluster(
  { root, out, project, identity }: Release,
  program: readonly Entry[],
  bases: Base[],
): Published {
  const { version, seconds } = identity;
  const { registry } = project;
  const app = imageFiles(program);
  const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8");
  const index: Descriptor = writeImage(join(out, "image"), { bases, app, dockerfile }, identity);
  write(out, `mooring-image-${version}.tar`, tar(entriesBelow(join(out, "image")), seconds));
  const image = { repository: `${registry}/mooring`, digest: index.digest };
  const docsUrl = project.docs.replace("{version}", version);
  const repository = `${registry}/charts/mooring`;
  const released = { image, docsUrl, home: project.homepage, repository };
  const files = releasedChart(join(root, "deploy/chart"), identity, released);
  const archive = packChart(files, seconds);
  const archivePath = `mooring-${version}.tgz`;
  write(out, archivePath, archive);
  const { digest } = writeChartArtifact(join(out, "chart"), files, archive, identity);
  const helm = execFileSync(join(root, "test/clients/setup-helm"), ["helm"], { encoding: "utf8" }).trim();
  write(out, "install.yaml", renderInstall(helm, join(out, archivePath), installValues(root)));
  const crds = entriesBelow(join(root, "crds")).map(({ content }) => `---\n${content.toString("utf8")}`);
  write(out, "crds.yaml", crds.join(""));
  return { version, registry, image, chart: { repository, digest } };
}

/** Single files in archives, the manifest for krew, completions. */
async function writePrograms(
  { root, out, work, project, identity, warn }: Release,
  program: readonly Entry[],
  nodes: readonly NodeBinary[],
  { licenses, cache }: { licenses: string; cache: string },
): Promise<void> {
  const { version, seconds } = identity;
  const forShells = completions(join(work, "dist/main.js"));
  for (const { path, content } of forShells) write(out, path, content);
  if (forShells.length === 0) warn("no shell completions: this version has no command `completion`");
  const archives: KrewArchive[] = [];
  for (const node of nodes) {
    const { platform } = node;
    const blob = await makeBlob(program, work, nodeHere(node.version, cache));
    const path = join(work, `mooring-${platform.os}-${platform.arch}`);
    makeExecutable(node, blob, path);
    const archive = tarGz([...executableEntries(path, root, licenses), ...forShells], seconds);
    const file = `mooring-${version}-${platform.os}-${platform.arch}.tar.gz`;
    write(out, file, archive);
    archives.push({ platform, file, sha256: sha256(archive) });
  }
  const downloads = project.downloads.replace("{version}", version);
  write(out, "mooring.krew.yaml", krewManifest({ ...project, version, downloads, archives }));
}

function allLicenses(root: string, [base]: Base[]): string {
  const texts = base?.system.entries.filter(({ path }) => path.startsWith("usr/share/doc/")) ?? [];
  const sections = [
    { title: `Node ${base?.node.version}`, text: base?.node.license ?? "" },
    ...texts.map(({ path, content }) => ({ title: `Debian: ${path.split("/")[3]}`, text: content.toString("utf8") })),
  ];
  const rest = sections.map(({ title, text }) => `${"=".repeat(80)}\n${title}\n\n${text.trim()}\n`);
  return `${licensesOf(root)}\n${rest.join("\n")}`;
}

/** The statements about the artifacts: notes, SBOM, provenance, checksums, and signatures if there is a key. */
function writeStatements(
  { root, out, identity, project, signer, warn }: Release,
  published: Published,
  contents: Contents,
): void {
  const { heading, text, leftOut } = releaseNotes(readFileSync(join(root, "CHANGELOG.md"), "utf8"), identity.version);
  if (heading === "Unreleased")
    warn(`the notes are those of "Unreleased": CHANGELOG.md has no section for ${identity.version}`);
  if (leftOut) warn(`the notes leave out what CHANGELOG.md has under "Unreleased": move it below "${heading}"`);
  write(out, "release-notes.md", `${withAddresses(text, "", identity)}\n`);
  write(out, "sbom.spdx.json", spdx(identity, contents));
  write(out, "release.json", `${JSON.stringify(published, undefined, 2)}\n`);
  const subject = [...digestsIn(out)].map(([name, digest]) => ({ name, digest: { sha256: digest } }));
  const lockfile = sha256(readFileSync(join(root, "package-lock.json")));
  const { registry, downloads, docs } = project;
  const statement = provenance(identity, { registry, downloads, docs }, { ...contents, lockfile }, subject);
  write(out, "provenance.json", statement);
  const sums = checksums(out);
  write(out, CHECKSUMS, sums);
  if (!signer) return;
  write(out, `${CHECKSUMS}.sig`, `${signer.signature(sums)}\n`);
  write(out, `${CHECKSUMS}.sigstore.json`, signatureBundle(signer, sums));
  write(out, "mooring.pub", signer.publicKey);
  write(out, "provenance.dsse.json", envelope(signer, statement));
  write(out, "provenance.sigstore.json", envelopeBundle(signer, statement));
  for (const name of ["image", "chart"] as const) {
    writeSignature(join(out, "signatures", name), signer, published[name].repository, published[name].digest);
  }
}
