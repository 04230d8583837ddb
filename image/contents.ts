import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { z } from "zod";
import type { Storage } from "./build.ts";

/** An image as it is unpacked on a node. */
export interface Contents {
  folder: string;
  /** Sizes of the unpacked files by path. */
  files: Map<string, number>;
  /** Debian packages of the libraries, with their versions. */
  packages: Map<string, string>;
}

const indexSchema = z.object({ manifests: z.tuple([z.object({ digest: z.string() })]) });
const manifestSchema = z.object({ layers: z.array(z.object({ digest: z.string() })) });

/** Unpacks an OCI archive. */
export async function unpack({ folder, run }: Storage, archive: string): Promise<Contents> {
  const [oci, unpacked] = [join(folder, "oci"), join(folder, "unpacked")];
  for (const path of [oci, unpacked]) mkdirSync(path);
  await run("tar", "-xf", archive, "-C", oci);
  const read = (path: string) => JSON.parse(readFileSync(join(oci, path), "utf8"));
  const blob = (digest: string) => join("blobs", digest.replace(":", "/"));
  const [{ digest }] = indexSchema.parse(read("index.json")).manifests;
  for (const layer of manifestSchema.parse(read(blob(digest))).layers) {
    await run("tar", "-xzf", join(oci, blob(layer.digest)), "-C", unpacked);
  }
  const entries = readdirSync(unpacked, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name));
  const status = join(unpacked, "var/lib/dpkg/status.d");
  return {
    folder: unpacked,
    files: new Map(paths.map((path) => [path.slice(unpacked.length), statSync(path).size])),
    packages: new Map(
      readdirSync(status).map((name) => [
        name,
        /^Version: (.*)$/m.exec(readFileSync(join(status, name), "utf8"))?.[1] ?? "",
      ]),
    ),
  };
}

const RUNS = 5;

/** Milliseconds of the fastest of a few runs, with only the files of the image. */
export async function startTime({ run }: Storage, { folder }: Contents, ...args: string[]): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < RUNS; count++) {
    const started = performance.now();
    await run("chroot", "--userspec=65532:65532", folder, "/usr/local/bin/node", "/app/dist/main.js", ...args);
    times.push(performance.now() - started);
  }
  return Math.round(Math.min(...times));
}
