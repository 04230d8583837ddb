import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../formats/oci.ts";
import { entriesBelow } from "../formats/tar.ts";

export const CHECKSUMS = "SHA256SUMS";

/** Files without a checksum: the list itself, and signatures, which differ each time. */
const withoutChecksum = /^(SHA256SUMS|signatures\/|mooring\.pub$|provenance\.(dsse|sigstore)\.json$)/;

/** Digests of all files of a release by path. */
export const digestsIn = (folder: string): Map<string, string> =>
  new Map(
    entriesBelow(folder)
      .filter(({ path }) => !withoutChecksum.test(path))
      .map(({ path, content }) => [path, sha256(content)]),
  );

/** The list in the format of `sha256sum --check`. */
export const checksums = (folder: string): string =>
  [...digestsIn(folder)].map(([path, digest]) => `${digest}  ${path}\n`).join("");

/** Files that differ from the list or are missing. */
export function mismatches(folder: string): string[] {
  const found = digestsIn(folder);
  const lines = readFileSync(join(folder, CHECKSUMS), "utf8").trim().split("\n");
  const listed = lines.map((line) => line.split("  "));
  return listed.flatMap(([digest, path = ""]) => (found.get(path) === digest ? [] : [path]));
}

/** Files of two releases that differ, or that only one of them has. */
export function differences(one: string, other: string): string[] {
  const [a, b] = [digestsIn(one), digestsIn(other)];
  return [...new Set([...a.keys(), ...b.keys()])].filter((path) => a.get(path) !== b.get(path)).sort();
}
