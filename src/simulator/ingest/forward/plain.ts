import { ExtData } from "@msgpack/msgpack";
import { BrokenInput } from "./broken-input.ts";
import { dataOf, textOf } from "./messagepack.ts";

/** Nobody's log line is nested deeper. */
const deepest = 100;

/** A decoded value as JSON can hold it. Bytes become text, numbers beyond the exact ones become text too. */
export function plain(value: unknown, depth = 0): unknown {
  if (depth > deepest) throw new BrokenInput(`a record is nested more than ${deepest} times`);
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Uint8Array) return textOf(value);
  if (value instanceof ExtData) return Buffer.from(dataOf(value)).toString("base64");
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (Array.isArray(value)) return value.map((each) => plain(each, depth + 1));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each, depth + 1)]));
}
