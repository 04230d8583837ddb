/** Writes ASN.1 in its distinguished encoding (X.690), as far as a PKCS#12 file needs it. Reads none. */
export type Der = Uint8Array;

const concat = (parts: readonly Uint8Array[]): Der => Uint8Array.from(Buffer.concat(parts));

/** A tag, the length of what follows, and what follows. */
function tagged(tag: number, ...parts: readonly Uint8Array[]): Der {
  const content = concat(parts);
  return concat([Uint8Array.from([tag, ...lengthOf(content.length)]), content]);
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes = bigEndian(length);
  return [0x80 | bytes.length, ...bytes];
}

function bigEndian(value: number): number[] {
  const bytes = [value % 0x100];
  for (let rest = Math.floor(value / 0x100); rest > 0; rest = Math.floor(rest / 0x100)) bytes.unshift(rest % 0x100);
  return bytes;
}

export const sequence = (...parts: readonly Der[]): Der => tagged(0x30, ...parts);

/** The encoding of a set does not depend on the order in which its members were named. */
export const setOf = (...members: readonly Der[]): Der => tagged(0x31, ...members.toSorted(Buffer.compare));

export const octets = (content: Uint8Array): Der => tagged(0x04, content);

/** A whole number that is not negative: a first bit that is set would make it so. */
export function integer(value: number): Der {
  const bytes = bigEndian(value);
  return tagged(0x02, Uint8Array.from((bytes[0] ?? 0) < 0x80 ? bytes : [0, ...bytes]));
}

export const nothing = tagged(0x05);

/** Text in UTF-16, which is what PKCS#12 names things in. */
export const bmpString = (text: string): Der => tagged(0x1e, utf16(text));

export const utf16 = (text: string): Uint8Array => Buffer.from(text, "utf16le").swap16();

/** An object identifier, written with dots. */
export function oid(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return tagged(0x06, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)));
}

function base128(value: number): number[] {
  const bytes = [value % 0x80];
  for (let rest = Math.floor(value / 0x80); rest > 0; rest = Math.floor(rest / 0x80))
    bytes.unshift(0x80 | (rest % 0x80));
  return bytes;
}

/** The field with number 0 of a structure: around a value, or in place of the tag of an octet string. */
export const explicit = (value: Der): Der => tagged(0xa0, value);
export const implicitOctets = (content: Uint8Array): Der => tagged(0x80, content);
