import type { Count } from "../../diagnostics/flow-logs/records/count.ts";

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/** Bytes in readable form: 1.3 KiB. */
export function humanBytes(bytes: Count): string {
  let value = Number(bytes);
  let unit = 0;
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  // 1023.96 would be rounded to 1024.0 of the smaller unit.
  if (unit > 0 && unit < UNITS.length - 1 && value >= 1023.95) return `1.0 ${UNITS[unit + 1]}`;
  return unit === 0 ? `${value} B` : `${value.toFixed(1)} ${UNITS[unit]}`;
}

const grouped = new Intl.NumberFormat("en");

/** A count in readable form: 1,234,567. */
export const humanCount = (count: Count): string => grouped.format(count);

/** "1 object", "2 objects"; "1 entry", "2 entries". */
export const plural = (count: Count, noun: string, nouns = `${noun}s`): string =>
  `${humanCount(count)} ${count === 1 ? noun : nouns}`;
