import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

// Looks for one-time keys, tokens that were published and private keys in everything that a test run has printed, logged and written into objects.
// All of a sort begin alike, so that none has to be known.

const START = "ingestkey_";
const KEY = `${START}[A-Za-z0-9_-]{43}`;
/** Of the object storage. */
const STORAGE = "s3secret_";

/** How a text begins in Base64 that holds it `shift` bytes after a multiple of three; only what it alone decides. */
function encoded(text: string, shift: number): string {
  const characters = Buffer.from(" ".repeat(shift) + text).toString("base64");
  return characters.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + text.length) * 8) / 6));
}

/** All tokens of the simulator begin with this, in their own Base64; what follows the first dot is worth hiding. */
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

/** Where simulator and demo tell, to whoever starts them, the credentials of the owners: in one line of JSON, or in words. */
function searched(text: string): string {
  if (/^\{.*"endpoints":\{/.test(text)) return text.replaceAll(/"(token|secretKey)":"[\w.-]+"/g, "");
  return text.replace(/^ +(token {7}|secret key {2})[\w.-]+$/, "");
}

/** Where a key is, with nothing of it. */
export interface Leak {
  file: string;
  line: number;
}

export interface Search {
  files: number;
  bytes: number;
  /** How often it was told that there is a new key: that one was there to be found. */
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
