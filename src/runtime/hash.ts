import { hash } from "node:crypto";
import { unlessThrown } from "./unless-thrown.ts";

/**
 * Equal for equal bodies, in any order of their keys. `imagePassword` is left out: many can read the hash, and a short password
 * could be found by trying.
 */
export function hashBody(body: unknown): string {
  return hash("sha256", canonical(body, "imagePassword"), "hex").slice(0, 32);
}

/**
 * The hash of a request body that is given as JSON text, as in the platform's log; undefined when it is not JSON. With
 * `select`, only the part that it returns is hashed.
 */
export const hashText = (text: string, select: (body: unknown) => unknown = (body) => body): string | undefined =>
  unlessThrown(() => hashBody(select(JSON.parse(text))));

/** A short hash of each of these fields that the spec sets; nested fields are written with dots. */
export function hashFields(spec: unknown, fields: readonly string[]): Record<string, string> {
  const value = (field: string) =>
    field
      .split(".")
      .reduce<unknown>((node, name) => (typeof node === "object" && node ? Reflect.get(node, name) : undefined), spec);
  const given = fields.filter((field) => value(field) != null);
  return Object.fromEntries(given.map((field) => [field, hashBody(value(field)).slice(0, 12)]));
}

/** The same text for equal values: keys are sorted, undefined values and the key `without` are left out. */
export function canonical(value: unknown, without?: string): string {
  return textOf(value, (key, child) => child !== undefined && key !== without);
}

/** As `canonical`, but fields that are null, an empty object or an empty array are left out too: a JSON store may drop them. */
export function canonicalWithoutEmpty(value: unknown): string {
  return textOf(value, (_, child) => !isEmpty(child));
}

/** Whether a value is null, undefined, an empty array, or an object with only such values. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== "object") return false;
  return Array.isArray(value) ? value.length === 0 : Object.values(value).every(isEmpty);
}

/** Hand-written for speed: every object that arrives is hashed this way, several times. */
function textOf(value: unknown, isIncluded: (key: string, child: unknown) => boolean): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  let text = "";
  if (Array.isArray(value)) {
    for (const each of value) text += text === "" ? textOf(each, isIncluded) : `,${textOf(each, isIncluded)}`;
    return `[${text}]`;
  }
  for (const key of Object.keys(value).sort()) {
    const child: unknown = Reflect.get(value, key);
    if (isIncluded(key, child)) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${textOf(child, isIncluded)}`;
  }
  return `{${text}}`;
}
