import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawnGuarded } from "../src/cli/control-plane/guarded.ts";

export const root = fileURLToPath(new URL("../", import.meta.url));
export const IMAGE = "mooring";

/** The Debian release of Node's own images, and the npm version of the build stage. */
const SUITE = "bookworm";
const NPM = "11.19.1";

/** Image storage that only this build uses. It is removed afterwards. */
export interface Storage {
  folder: string;
  /** Flags and environment that make buildah and podman use it. */
  flags: string[];
  env: NodeJS.ProcessEnv;
  /** Runs a program and returns its output; rejects with the output if it fails. */
  run(command: string, ...args: string[]): Promise<string>;
  buildah(...args: string[]): Promise<string>;
}

/** In its own namespaces, a program takes its mounts and children along when it or this process ends. */
export const apart = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"];

export function openStorage(folder: string): Storage {
  const env = { ...process.env, STORAGE_DRIVER: "overlay", BUILDAH_ISOLATION: "chroot", TMPDIR: folder };
  const flags = ["--root", join(folder, "storage"), "--runroot", join(folder, "run")];
  async function run(command: string, ...args: string[]): Promise<string> {
    const log = join(folder, "log");
    const [program = "", ...options] = [...apart, command, ...args];
    const code = await spawnGuarded(program, options, { cwd: root, env, output: openSync(log, "w") }).ended;
    const output = readFileSync(log, "utf8");
    if (code !== 0) throw new Error(`${command} ended with ${code}:\n${output}`);
    return output;
  }
  return { folder, flags, env, run, buildah: (...args) => run("buildah", ...flags, ...args) };
}

/** Makes the base image for the Dockerfile from Debian packages, the Node of this checkout and npm. */
export async function makeBase({ folder, run, buildah }: Storage): Promise<string> {
  const context = join(folder, "base");
  mkdirSync(context);
  await run("npm", "pack", `npm@${NPM}`, "--pack-destination", context);
  const node = join(root, "node_modules/node");
  copyFileSync(join(node, "bin/node"), join(context, "node"));
  copyFileSync(join(node, `node_modules/node-${process.platform}-${process.arch}/LICENSE`), join(context, "LICENSE"));
  await run("mmdebstrap", "--variant=essential", "--include=libstdc++6", SUITE, join(context, "debian.tar"));
  const file = `FROM scratch
ADD debian.tar /
COPY LICENSE /usr/local/LICENSE
COPY node /usr/local/bin/node
ADD npm-${NPM}.tgz /usr/local/lib/npm
RUN ln -s ../lib/npm/package/bin/npm-cli.js /usr/local/bin/npm && chmod +x /usr/local/lib/npm/package/bin/npm-cli.js
`;
  writeFileSync(join(context, "Dockerfile"), file);
  await buildah("bud", "--quiet", "--tag", "mooring-base", context);
  return "localhost/mooring-base";
}

/** Builds the Dockerfile from the base alone, writes an OCI archive, and returns its digest. */
export async function buildImage({ folder, run, buildah }: Storage, base: string, archive: string): Promise<string> {
  const authorities = process.env.NODE_EXTRA_CA_CERTS;
  const registry = (await run("npm", "config", "get", "registry", "--loglevel=error")).trim();
  const trust = authorities
    ? ["--volume", `${authorities}:/etc/authorities.crt:ro`, "--build-arg", "NODE_EXTRA_CA_CERTS=/etc/authorities.crt"]
    : [];
  const given = ["--build-arg", `BASE=${base}`, "--build-arg", `NPM_CONFIG_REGISTRY=${registry}`, ...trust];
  const reproducible = ["--timestamp", String(sourceDate()), "--no-cache"];
  await buildah("bud", ...given, ...reproducible, "--network", "host", "--tag", IMAGE, root);
  const digest = join(folder, "digest");
  await buildah("push", "--quiet", "--digestfile", digest, IMAGE, `oci-archive:${archive}:${IMAGE}`);
  return readFileSync(digest, "utf8").trim();
}

/** Time of the last source change in seconds. Every file in the image has this time, so that two builds are equal. */
export function sourceDate(): number {
  const { SOURCE_DATE_EPOCH } = process.env;
  if (SOURCE_DATE_EPOCH) return Number(SOURCE_DATE_EPOCH);
  if (!existsSync(join(root, ".git"))) return 0;
  return Number(execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" }));
}
