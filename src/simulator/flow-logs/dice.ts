import { createHash } from "node:crypto";

/** A row of draws that is the same for the same seed and purpose. */
export interface Dice {
  /** In [0, 1). */
  fraction(): number;
  /** A whole number from `low` to `high`, both possible. */
  between(low: number, high: number): number;
  pick<T>(items: readonly [T, ...T[]]): T;
}

/** Thousands of draws per object: a digest for each, as elsewhere, would be felt. */
export function createDice(seed: number, purpose: string): Dice {
  let state = createHash("sha256").update(`${seed}/${purpose}`).digest().readUInt32BE(0);
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number) => low + Math.floor(fraction() * (high - low + 1));
  return { fraction, between, pick: (items) => items[between(0, items.length - 1)] ?? items[0] };
}
