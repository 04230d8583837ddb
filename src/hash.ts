import { createHash } from "node:crypto";

/**
 * Equal for bodies that say the same, in whatever order their keys stand. A password in them does not count: the hash
 * stands where many can read it, and a short password could be found by trying.
 */
export function hashBody(body: unknown): string {
  return createHash("sha256").update(canonical(body, "imagePassword")).digest("hex").slice(0, 32);
}

/** Equal for a request body as the platform's log keeps it, or for what `of` sees in it; undefined when it is not JSON. */
export function hashText(text: string, of: (body: unknown) => unknown = (body) => body): string | undefined {
  try {
    return hashBody(of(JSON.parse(text)));
  } catch {
    return undefined;
  }
}

/** A short hash of each of these fields that the spec has; nested ones are written with dots. */
export function hashFields(spec: unknown, fields: readonly string[]): Record<string, string> {
  const value = (field: string) =>
    field
      .split(".")
      .reduce<unknown>((node, name) => (typeof node === "object" && node ? Reflect.get(node, name) : undefined), spec);
  const given = fields.filter((field) => value(field) != null);
  return Object.fromEntries(given.map((field) => [field, hashBody(value(field)).slice(0, 12)]));
}

/** One text for values that say the same: keys in order, without what is undefined and a key that does not count. */
export function canonical(value: unknown, without?: string): string {
  if (Array.isArray(value)) return `[${value.map((each) => canonical(each, without)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([key, child]) => child !== undefined && key !== without);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, child]) => `${JSON.stringify(key)}:${canonical(child, without)}`).join(",")}}`;
}
