import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { linkageOf } from "../formats/elf.ts";
import { sha256 } from "../formats/oci.ts";
import type { Entry } from "../formats/tar.ts";
import type { NodeBinary, Platform } from "./node.ts";

/** The Debian release of Node's own images. */
const SUITE = "bookworm";
const PACKAGES = ["libc6", "libgcc-s1", "libstdc++6"];
const triplets = { amd64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" };

export interface DebianPackage {
  name: string;
  version: string;
  arch: string;
  sha256: string;
}

/** The parts of a Linux system that Node needs: libraries, their licenses, and package data for scanners. */
export interface System {
  entries: Entry[];
  packages: DebianPackage[];
}

/**
 * Extracts the libraries from Debian packages. It runs no program of the target platform, so it works for every
 * processor.
 */
export function systemFor(node: NodeBinary, work: string, sourceDate: number): System {
  const { arch } = node.platform;
  const folder = join(work, `debian-${arch}`);
  mkdirSync(folder);
  const archive = join(work, `debian-${arch}.tar`);
  const how = ["--quiet", "--variant=extract", "--skip=cleanup/apt/cache", `--architectures=${arch}`];
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(sourceDate) };
  execFileSync("mmdebstrap", [...how, `--include=${PACKAGES.join(",")}`, SUITE, archive], { env, stdio: "pipe" });
  execFileSync("tar", ["-xf", archive, "-C", folder, "--exclude=./dev/*"]);
  const packages = packagesIn(join(folder, "var/cache/apt/archives"));
  return {
    entries: [...libraries(node, folder), ...packages.flatMap(({ entries }) => entries), ...licenses(folder)],
    packages: packages.map(({ name, version, sha256 }) => ({ name, version, arch, sha256 })),
  };
}

/** The libraries of a program, directly and indirectly linked, under the paths of the loader. */
function libraries({ path, platform }: NodeBinary, folder: string): Entry[] {
  const found = new Map<string, Buffer>();
  const add = (file: Buffer) => {
    for (const name of linkageOf(file).needed.filter((each) => !found.has(each))) {
      const content = readLibrary(folder, platform, name);
      found.set(name, content);
      add(content);
    }
  };
  const program = readFileSync(path);
  add(program);
  const { interpreter } = linkageOf(program);
  if (interpreter === undefined) throw new Error(`${path} names no dynamic loader`);
  const entries = [...found].map(([name, content]) => ({ path: `lib/${triplets[platform.arch]}/${name}`, content }));
  const loader = { path: interpreter.slice(1), content: readFileSync(join(folder, interpreter)) };
  return [...entries, loader].map((entry) => ({ ...entry, executable: true }));
}

function readLibrary(folder: string, { arch }: Platform, name: string): Buffer {
  for (const place of [`lib/${triplets[arch]}`, `usr/lib/${triplets[arch]}`]) {
    if (readdirSync(join(folder, place)).includes(name)) return readFileSync(join(folder, place, name));
  }
  throw new Error(`Node needs ${name}, which ${PACKAGES.join(", ")} of Debian ${SUITE} do not have`);
}

function packagesIn(archives: string): (Omit<DebianPackage, "arch"> & { entries: Entry[] })[] {
  const files = readdirSync(archives).filter((file) => file.endsWith(".deb"));
  return files.sort().map((file) => {
    const path = join(archives, file);
    const control = execFileSync("dpkg-deb", ["--field", path], { encoding: "utf8" });
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(control)?.[1] ?? "";
    const name = field("Package");
    const entries = [{ path: `var/lib/dpkg/status.d/${name}`, content: control }];
    return { name, version: field("Version"), sha256: sha256(readFileSync(path)), entries };
  });
}

/** Named by the folder with the license text, which some packages share. */
const licenses = (folder: string): Entry[] =>
  ["libc6", "gcc-12-base"].map((name) => {
    const path = `usr/share/doc/${name}/copyright`;
    return { path, content: readFileSync(join(folder, path)) };
  });
