import { createHash } from "node:crypto";

/** How often each purpose has been drawn. Kept with the other state, so that a restart does not repeat ids. */
export interface Counters {
  next(purpose: string): number;
}

/**
 * Repeatable chance: the n-th draw for a purpose depends on the seed, the purpose and n only. Draws for different
 * purposes are independent: one more NIC does not change the id of the next server.
 */
export interface Chance {
  /** A UUID of version 4 form. */
  uuid(purpose: string): string;
  /** A number in [low, high). */
  between(purpose: string, low: number, high: number): number;
}

/** `scope` separates the draws of one contract from those of the others. */
export function createChance(seed: number, counters: Counters, scope = ""): Chance {
  const draw = (purpose: string) => digest(seed, scope + purpose, counters.next(scope + purpose));
  return {
    uuid: (purpose) => uuidOf(draw(purpose)),
    between: (purpose, low, high) => low + fraction(draw(purpose)) * (high - low),
  };
}

/** One draw without a counter: for facts that follow from the seed alone. In [0, 1). */
export function fixedChance(seed: number, purpose: string, n = 0): number {
  return fraction(digest(seed, purpose, n));
}

/** A UUID that follows from a name alone, whatever the seed. */
export function uuidOfName(name: string): string {
  const hex = createHash("sha256").update(name).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function digest(seed: number, purpose: string, n: number): Buffer {
  return createHash("sha256").update(`${seed}/${purpose}/${n}`).digest();
}

function fraction(bytes: Buffer): number {
  return bytes.readUIntBE(0, 6) / 2 ** 48;
}

function uuidOf(bytes: Buffer): string {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}
