import { hash } from "node:crypto";

/**
 * Equal for bodies that say the same, in whatever order their keys stand. A password in them does not count: the hash
 * stands where many can read it, and a short password could be found by trying.
 */
export function hashBody(body: unknown): string {
  return hash("sha256", canonical(body, "imagePassword"), "hex").slice(0, 32);
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
  return textOf(value, (key, child) => child !== undefined && key !== without);
}

/** The same for what a JSON store may have left out: nothing and emptiness make no difference. */
export function canonicalWords(value: unknown): string {
  return textOf(value, (_, child) => !saysNothing(child));
}

/** Whether nothing is left of a value without what is null, undefined or empty. */
function saysNothing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== "object") return false;
  return Array.isArray(value) ? value.length === 0 : Object.values(value).every(saysNothing);
}

/** Written out by hand: every object that arrives is read this way, several times. */
function textOf(value: unknown, counts: (key: string, child: unknown) => boolean): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  let text = "";
  if (Array.isArray(value)) {
    for (const each of value) text += text === "" ? textOf(each, counts) : `,${textOf(each, counts)}`;
    return `[${text}]`;
  }
  for (const key of Object.keys(value).sort()) {
    const child: unknown = Reflect.get(value, key);
    if (counts(key, child)) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${textOf(child, counts)}`;
  }
  return `{${text}}`;
}
