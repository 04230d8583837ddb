/**
 * A whole number from 0 on that is always exact: a number up to 2^53 - 1, which is nearly always, and a bigint beyond.
 * The platform counts packets and bytes in 64 bits, and sums of them have no limit.
 */
export type Count = number | bigint;

const LARGEST = 2n ** 64n - 1n;

/** The count that a text of decimal digits tells; -1 when it does not fit into 64 bits. */
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
