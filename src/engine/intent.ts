import { createHash } from "node:crypto";
import { z } from "zod";

const intent = z.object({
  nonce: z.string().min(1),
  /** When the creation was begun. */
  at: z.iso.datetime(),
  /** Of the creation body. */
  hash: z.string().min(1),
  parents: z.record(z.string(), z.string()),
  account: z.string(),
});

/**
 * A creation that was begun and whose outcome may be unknown. It is written before the POST and answered by
 * `status.nonce`; it carries all that recovery needs, since spec may change meanwhile.
 */
export type Intent = z.output<typeof intent>;

const claim = z.object({ id: z.string().min(1), parents: z.record(z.string(), z.string()), account: z.string() });

/** Which resource an object owns. */
export type Claim = z.output<typeof claim>;

/** Reads an annotation; one that somebody has spoilt counts as absent. */
export const readIntent = (text: string | undefined): Intent | undefined => read(intent, text);
export const readClaim = (text: string | undefined): Claim | undefined => read(claim, text);

function read<S extends z.ZodType>(schema: S, text: string | undefined): z.output<S> | undefined {
  if (text === undefined) return undefined;
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Equal for bodies that say the same, in whatever order their keys stand. */
export function hashBody(body: unknown): string {
  return createHash("sha256").update(canonical(body)).digest("hex").slice(0, 32);
}

/** Equal for a request body as the platform's log keeps it; undefined when it is not JSON. */
export function hashText(text: string): string | undefined {
  try {
    return hashBody(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Of the fields of a spec that the platform cannot change; nested ones are written with dots. */
export function hashFields(spec: unknown, fields: readonly string[]): string {
  const value = (field: string) =>
    field
      .split(".")
      .reduce<unknown>((node, name) => (typeof node === "object" && node ? Reflect.get(node, name) : undefined), spec);
  return hashBody(Object.fromEntries(fields.map((field) => [field, value(field)])));
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, child]) => child !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, child]) => `${JSON.stringify(key)}:${canonical(child)}`).join(",")}}`;
}
