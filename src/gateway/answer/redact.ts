import { type Meter, wrapping } from "./meter.ts";

/** Shorter words may be ordinary ones. */
const SHORTEST_SECRET = 16;
const REDACTED = "[redacted]";
const none = Buffer.alloc(0);

/** The parts of credentials that must not leave: the header, its token, and the token's signature, without which the rest is useless. */
export const secretsIn = (headers: readonly string[]): string[] =>
  headers.flatMap((header) => {
    const token = header.replace(/^\w+ /, "");
    return [header, token, token.split(".")[2] ?? ""].filter(({ length }) => length >= SHORTEST_SECRET);
  });

/** Removes secrets from a text. The longest ones come first. */
export const redact = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((left, secret) => left.replaceAll(secret, REDACTED), text);

/**
 * A meter that passes on no secret, even if it comes in several chunks: an end that may be the beginning of a secret waits for
 * the next chunk. Events end with a newline, which no secret contains, so they do not wait.
 */
export function redacting(meter: Meter, secrets: readonly string[]): Meter {
  const needles = secrets.map((secret) => Buffer.from(secret));
  const alphabet = new Set(needles.flatMap((needle) => [...needle]));
  let held: Buffer = none;

  function passed(chunk: Buffer): Buffer {
    if (chunk.length === 0) return none;
    let all = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    // Each byte is one character in latin1: nothing else of the answer changes.
    if (needles.some((needle) => all.includes(needle)))
      all = Buffer.from(redact(all.toString("latin1"), secrets), "latin1");
    const last = all.at(-1);
    const kept = last === undefined || !alphabet.has(last) ? 0 : Math.max(...needles.map((each) => begunIn(all, each)));
    held = all.subarray(all.length - kept);
    return all.subarray(0, all.length - kept);
  }

  return wrapping(meter, {
    push: (chunk) => passed(meter.push(chunk)),
    end() {
      const before = passed(meter.end());
      // An answer may be cut within a secret.
      const rest = held.length < SHORTEST_SECRET ? held : Buffer.from(REDACTED);
      held = none;
      return Buffer.concat([before, rest]);
    },
  });
}

/** How many bytes at the end are the beginning of a secret. */
function begunIn(bytes: Buffer, secret: Buffer): number {
  const [first = 0, second] = secret;
  let at = bytes.indexOf(first, Math.max(0, bytes.length - secret.length + 1));
  for (; at >= 0; at = bytes.indexOf(first, at + 1)) {
    const size = bytes.length - at;
    if (size === 1 || (bytes[at + 1] === second && bytes.compare(secret, 0, size, at) === 0)) return size;
  }
  return 0;
}
