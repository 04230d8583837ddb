import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

export interface Entry {
  /** Relative, with "/" as separator. */
  path: string;
  content: Buffer | string;
  executable?: boolean;
}

const BLOCK = 512;
const FILE_MODE = 0o644;
const PROGRAM_MODE = 0o755;

/** A reproducible archive: entries sorted and owned by root, with every parent folder. */
export function tar(entries: readonly Entry[], seconds: number): Buffer {
  const sorted = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1));
  const folders = new Set(sorted.flatMap(({ path }) => parents(path)));
  const parts = [...folders].sort().map((path) => header({ path: `${path}/`, mode: PROGRAM_MODE, size: 0, seconds }));
  for (const { path, content, executable } of sorted) {
    const bytes = Buffer.from(content);
    parts.push(header({ path, mode: executable ? PROGRAM_MODE : FILE_MODE, size: bytes.length, seconds }), bytes);
    parts.push(Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK));
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

/** The same, compressed. The gzip header contains no time. */
export const tarGz = (entries: readonly Entry[], seconds: number): Buffer => gzipSync(tar(entries, seconds));

/** All files below a folder; links are followed. */
export function entriesBelow(folder: string, prefix = ""): Entry[] {
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const path = join(folder, name);
      const stats = statSync(path);
      if (stats.isDirectory()) return entriesBelow(path, `${prefix}${name}/`);
      return [{ path: `${prefix}${name}`, content: readFileSync(path), executable: (stats.mode & 0o100) !== 0 }];
    });
}

function parents(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

function header(file: { path: string; mode: number; size: number; seconds: number }): Buffer {
  const { name, prefix } = split(file.path);
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, offset: number, length: number) =>
    block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, offset);
  block.write(name, 0);
  octal(file.mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(file.size, 124, 12);
  octal(file.seconds, 136, 12);
  block.write(file.path.endsWith("/") ? "5" : "0", 156);
  block.write("ustar\x0000", 257);
  block.write("root", 265);
  block.write("root", 297);
  block.write(prefix, 345);
  // The checksum counts its own field as spaces.
  block.write(" ".repeat(8), 148);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

/** A name has at most 100 bytes; the folders before it have another 155. */
function split(path: string): { name: string; prefix: string } {
  if (Buffer.byteLength(path) <= 100) return { name: path, prefix: "" };
  for (let cut = path.indexOf("/"); cut !== -1; cut = path.indexOf("/", cut + 1)) {
    const [prefix, name] = [path.slice(0, cut), path.slice(cut + 1)];
    if (name !== "" && Buffer.byteLength(name) <= 100 && Buffer.byteLength(prefix) <= 155) return { name, prefix };
  }
  throw new Error(`${path} is too long for an archive`);
}
