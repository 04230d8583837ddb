import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

// Searches everything that a test run has printed, logged or written into objects for one-time keys, published tokens
// and private keys. All keys of a sort have the same prefix, so no value must be known.

const START = "ingestkey_";
const KEY = `${START}[A-Za-z0-9_-]{43}`;
/** Prefix of object storage secrets. */
const STORAGE = "s3secret_";

/**
 * The Base64 of a text that begins `shift` bytes after a multiple of three, without the characters that depend on its
 * neighbours.
 */
function encoded(text: string, shift: number): string {
  const characters = Buffer.from(" ".repeat(shift) + text).toString("base64");
  return characters.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + text.length) * 8) / 6));
}

/** All tokens of the simulator begin with this, in Base64. The part after the first dot is secret. */
const TOKEN = Buffer.from('{"typ":"JWT","alg":"RS256","kid":"').toString("base64url").slice(0, -2);

const PRIVATE_KEY = "-----BEGIN PRIVATE KEY-----";

const forms = [
  KEY,
  ...[0, 1, 2].map((shift) => `${encoded(START, shift)}[A-Za-z0-9+/_-]{56}`),
  `${STORAGE}[A-Za-z0-9_-]{31}`,
  ...[0, 1, 2].map((shift) => `${encoded(STORAGE, shift)}[A-Za-z0-9+/_-]{36}`),
  `${TOKEN}[\\w-]+\\.eyJ[\\w-]{100}`,
  ...[0, 1, 2].map((shift) => `${encoded(TOKEN, shift)}[A-Za-z0-9+/_-]{200}`),
  PRIVATE_KEY,
  encoded(PRIVATE_KEY, 0),
];
const anyForm = new RegExp(forms.join("|"));

/** Removes the output in which simulator and demo print the owners' credentials: one line of JSON, or text. */
function searched(text: string): string {
  if (/^\{.*"endpoints":\{/.test(text)) return text.replaceAll(/"(token|secretKey)":"[\w.-]+"/g, "");
  return text.replace(/^ +(token {7}|secret key {2})[\w.-]+$/, "");
}

/** The place of a leaked key, without the key. */
export interface Leak {
  file: string;
  line: number;
}

export interface Search {
  files: number;
  bytes: number;
  /** Number of new keys that the output mentions. Without any, the search would prove nothing. */
  issues: number;
  leaks: Leak[];
}

/** Searches every file of a folder. */
export async function searchForKeys(folder: string): Promise<Search> {
  const search: Search = { files: 0, bytes: 0, issues: 0, leaks: [] };
  for (const file of (await readdir(folder)).sort()) {
    const path = join(folder, file);
    search.files += 1;
    search.bytes += (await stat(path)).size;
    let line = 0;
    for await (const text of createInterface({ input: createReadStream(path) })) {
      line += 1;
      if (text.includes("KeyIssued")) search.issues += 1;
      if (anyForm.test(searched(text))) search.leaks.push({ file, line });
    }
  }
  return search;
}
