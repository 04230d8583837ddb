/** Round numbers that lie between `low` and `high`, about `wanted` of them. */
export function ticks(low: number, high: number, wanted: number): number[] {
  const raw = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5].find((each) => each * power >= raw) ?? 10) * power;
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, index) => (first + index) * step);
}

const minute = 60_000;
const minuteSteps = [1, 2, 5, 10, 15];

/** Whole minutes between two instants, at most seven of them. */
export function timeTicks(from: number, to: number): number[] {
  const step = (minuteSteps.find((each) => (to - from) / (each * minute) <= 7) ?? 15) * minute;
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(to / step) - first + 1 }, (_, index) => (first + index) * step);
}

/** A range that holds all values and is never empty, as wide as they are or, for equal ones, around them. */
export function rangeOf(values: Iterable<number>): { low: number; high: number } {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return { low: 0, high: 1 };
  const margin = high > low ? (high - low) * 0.05 : Math.max(Math.abs(high) * 0.1, 1);
  // A metric that is never below zero has no scale below zero.
  return { low: low >= 0 ? Math.max(0, low - margin) : low - margin, high: high + margin };
}

/** A number as an axis or a legend shows it; `step` is the smallest difference that must be seen. */
export function amount(value: number, step = Math.abs(value) / 100): string {
  if (!Number.isFinite(value)) return String(value);
  const digits = value === 0 || step === 0 ? 3 : Math.ceil(Math.log10(Math.abs(value) / step)) + 1;
  const maximumSignificantDigits = Math.min(15, Math.max(3, digits));
  return new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits }).format(value);
}

/** `13:05`, in UTC. */
export const clockTime = (at: number) => new Date(at).toISOString().slice(11, 16);
