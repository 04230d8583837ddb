/** Writes the part of ASN.1 DER (X.690) that a PKCS#12 file needs. It reads none. */
export type Der = Uint8Array;

const concat = (parts: readonly Uint8Array[]): Der => Uint8Array.from(Buffer.concat(parts));

/** Tag, length and content. */
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

/** DER sorts the members of a set, so their order here does not matter. */
export const setOf = (...members: readonly Der[]): Der => tagged(0x31, ...members.toSorted(Buffer.compare));

export const octets = (content: Uint8Array): Der => tagged(0x04, content);

/** A non-negative integer. A leading zero byte keeps the first bit, the sign, unset. */
export function integer(value: number): Der {
  const bytes = bigEndian(value);
  return tagged(0x02, Uint8Array.from((bytes[0] ?? 0) < 0x80 ? bytes : [0, ...bytes]));
}

export const asn1Null = tagged(0x05);

/** Text in UTF-16, as PKCS#12 encodes names. */
export const bmpString = (text: string): Der => tagged(0x1e, utf16(text));

export const utf16 = (text: string): Uint8Array => Buffer.from(text, "utf16le").swap16();

/** An object identifier, from its dotted form. */
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

/** Context tag 0: explicit wraps a value, implicit replaces the tag of an octet string. */
export const explicit = (value: Der): Der => tagged(0xa0, value);
export const implicitOctets = (content: Uint8Array): Der => tagged(0x80, content);
