/**
 * An exact integer from 0: a number up to 2^53 - 1, a bigint beyond. The platform counts packets and bytes in 64 bits,
 * and sums have no limit.
 */
export type Count = number | bigint;

const LARGEST = 2n ** 64n - 1n;

/** The count in a text of decimal digits; -1 if it exceeds 64 bits. */
export function countOf(digits: string): Count {
  const value = BigInt(digits);
  if (value > LARGEST) return -1;
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

export function add(left: Count, right: Count): Count {
  if (typeof left === "number" && typeof right === "number") {
    const sum = left + right;
    if (sum <= Number.MAX_SAFE_INTEGER) return sum;
  }
  return BigInt(left) + BigInt(right);
}
