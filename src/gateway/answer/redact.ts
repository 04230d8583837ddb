import { type Meter, wrapping } from "./meter.ts";

/** Shorter words may be ordinary ones. */
const SHORTEST_SECRET = 16;
const REDACTED = "[redacted]";
const none = Buffer.alloc(0);

/** The backslashes before an escape: JSON within JSON doubles them. */
const BACKSLASHES = "\\\\{1,4}";
const LONGEST_ESCAPE = 4 + "u0000".length;
const ESCAPES = "\\%u0123456789abcdefABCDEF";
const ESCAPE_STARTS: readonly number[] = [..."\\%"].map((each) => each.charCodeAt(0));
/** An escape that the next chunk completes. */
const BEGUN_ESCAPE = new RegExp(`(?:${BACKSLASHES}(?:u[0-9a-fA-F]{0,3})?|%[0-9a-fA-F]?)$`);
/** So many characters of a secret are found by one pattern. A pattern for all of them could be too large. */
const HEAD = 8;

/** A pattern for a character of a secret: itself, or its escapes in JSON and in addresses. */
function spellingsOf(character: string): string {
  const hex = character.charCodeAt(0).toString(16).padStart(4, "0");
  const digits = hex.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  return `(?:${character === "/" ? "\\\\{0,4}" : ""}\\u${hex}|${BACKSLASHES}u${digits}|%${digits.slice(2)})`;
}

/** A secret as hex, and as base64 within a longer text: it may begin at any of the three bytes of a group. */
function codingsOf(secret: string): string[] {
  const hex = Buffer.from(secret).toString("hex");
  const base64 = [0, 1, 2].map((before) => {
    const bytes = Buffer.from("\0".repeat(before) + secret);
    // Without the characters that depend on the text around it.
    return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
  const inAddresses = base64.map((each) => each.replaceAll("+", "-").replaceAll("/", "_"));
  return [...new Set([hex, hex.toUpperCase(), ...base64, ...inAddresses])];
}

/** The parts of credentials that must not leave, as patterns that are made once for each token. */
export interface Secrets {
  /** A text without any of these has no secret. Most answers need no other check. */
  needles: readonly Buffer[];
  /** Finds the first characters of any secret. */
  heads: RegExp;
  /** For each secret, its first character, and the patterns of all of them. */
  words: readonly { first: number; patterns: readonly RegExp[] }[];
  /** 1 for each byte that may be in a spelling of a secret. */
  alphabet: Uint8Array;
  /** The length of the longest secret. */
  longest: number;
}

/** The header, its token, and the token's signature, without which the rest is useless, also in other codings. */
export function secretsIn(headers: readonly string[]): Secrets {
  const all = headers.map((header) => {
    const token = header.replace(/^\w+ /, "");
    const plain = [header, token, token.split(".")[2] ?? ""].filter(({ length }) => length >= SHORTEST_SECRET);
    // Each is part of the one before, so the last one finds all of them.
    const least = plain.slice(-1).flatMap((last) => [last, ...codingsOf(last)]);
    return { words: [...plain.slice(0, -1), ...least], least };
  });
  const words = all.flatMap((each) => each.words);
  const used = [...new Set(words.join(""))];
  const patterns = new Map(used.map((each) => [each, new RegExp(spellingsOf(each), "y")]));
  const heads = words.map((word) => [...word.slice(0, HEAD)].map(spellingsOf).join(""));
  const alphabet = new Uint8Array(256);
  for (const each of [...used, ...ESCAPES]) alphabet[each.charCodeAt(0)] = 1;
  return {
    needles: ["\\u00", "\\/", "%", ...all.flatMap(({ least }) => least)].map((each) => Buffer.from(each)),
    heads: new RegExp(heads.join("|") || "(?!)", "g"),
    words: words.map((word) => ({
      first: word.charCodeAt(0),
      patterns: [...word].flatMap((each) => patterns.get(each) ?? []),
    })),
    alphabet,
    longest: Math.max(0, ...words.map(({ length }) => length)),
  };
}

/** Removes secrets from a text. */
export function redact(text: string, { heads, words }: Secrets): string {
  let left = "";
  let from = 0;
  heads.lastIndex = 0;
  for (let found = heads.exec(text); found; found = heads.exec(text)) {
    const { index } = found;
    const ends = words.flatMap(({ patterns }) => {
      const { count, end } = spelledFrom(text, index, patterns);
      return count === patterns.length ? [end] : [];
    });
    heads.lastIndex = Math.max(index + 1, ...ends);
    if (ends.length === 0) continue;
    left += text.slice(from, index) + REDACTED;
    from = heads.lastIndex;
  }
  return left + text.slice(from);
}

/** How many characters of a secret a text has from here on, and where they end. */
function spelledFrom(text: string, begin: number, patterns: readonly RegExp[]): { count: number; end: number } {
  let [count, end] = [0, begin];
  for (const pattern of patterns) {
    pattern.lastIndex = end;
    if (!pattern.test(text)) break;
    end = pattern.lastIndex;
    count += 1;
  }
  return { count, end };
}

/**
 * A meter that passes on no secret, even if it comes in several chunks: an end that may be the beginning of a secret waits for
 * the next chunk. Events end with a newline, which no secret contains, so they do not wait.
 */
export function redacting(meter: Meter, secrets: Secrets): Meter {
  let held: Buffer = none;
  /** How many characters of a secret are held. */
  let count = 0;

  function passed(chunk: Buffer): Buffer {
    if (chunk.length === 0) return none;
    let all = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    // Each byte is one character in latin1: nothing else of the answer changes.
    if (secrets.needles.some((needle) => all.includes(needle)))
      all = Buffer.from(redact(all.toString("latin1"), secrets), "latin1");
    const begun = begunIn(all, secrets);
    count = begun.count;
    held = all.subarray(all.length - begun.size);
    return all.subarray(0, all.length - begun.size);
  }

  return wrapping(meter, {
    push: (chunk) => passed(meter.push(chunk)),
    end() {
      const before = passed(meter.end());
      // An answer may be cut within a secret.
      const rest = count < SHORTEST_SECRET ? held : Buffer.from(REDACTED);
      held = none;
      count = 0;
      return Buffer.concat([before, rest]);
    },
  });
}

/** How many bytes at the end may be the beginning of a secret, and how many of its characters they spell. */
function begunIn(bytes: Buffer, { words, alphabet, longest }: Secrets): { size: number; count: number } {
  let begin = bytes.length;
  // Without escapes, a beginning is no longer than the secret.
  const earliest = Math.max(0, begin - longest * LONGEST_ESCAPE);
  const hasEscapes = ESCAPE_STARTS.some((each) => bytes.includes(each, earliest));
  const least = Math.max(0, begin - longest * (hasEscapes ? LONGEST_ESCAPE : 1));
  while (begin > least && alphabet[bytes[begin - 1] ?? 0] === 1) begin -= 1;
  const tail = bytes.toString("latin1", begin);
  const cut = BEGUN_ESCAPE.exec(tail)?.[0].length ?? 0;
  const text = tail.slice(0, tail.length - cut);
  let most = { size: cut, count: 0 };
  for (const { first, patterns } of words) {
    for (let at = 0; at < tail.length - most.size; at += 1) {
      const code = text.charCodeAt(at);
      if (code !== first && !ESCAPE_STARTS.includes(code)) continue;
      const { count, end } = spelledFrom(text, at, patterns);
      if (end === text.length) most = { size: tail.length - at, count };
    }
  }
  return most;
}
