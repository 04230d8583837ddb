import { z } from "zod";
import { hashFields } from "./hash.ts";
import { memo } from "./memo.ts";

/** The fields of a kind that are recorded, and the paths in them whose values are the same in upper and lower case. */
interface Fields {
  immutable: Readonly<Record<string, string>>;
  ignoresCase?: readonly string[];
}

/** Hashes of the immutable fields of spec, in lower case where the kind ignores case. Each spec is hashed once. */
export const recordOf = (kind: Fields, spec: unknown): Record<string, string> => readers(kind)(Object(spec));
const readers = memo((kind: Fields) => {
  const fields = Object.keys(kind.immutable);
  return memo((spec: object) => hashFields(inLowerCase(spec, kind.ignoresCase), fields));
});

/** The defaults of immutable fields. In spec they do not show whether somebody asked for them. */
export const defaultsOf = memo(({ spec, immutable }: Fields & { spec: z.ZodObject }): Record<string, unknown> => {
  const schemas = Object.keys(immutable).map((field) => [field, spec.shape[field]] as const);
  return Object.fromEntries(
    schemas.flatMap(([field, schema]) => (schema instanceof z.ZodDefault ? [[field, schema.def.defaultValue]] : [])),
  );
});

/** Whether an immutable field of spec is the recorded one. Records of version 0.1 have the hash of the text as it was. */
export const isAsRecorded = (kind: Fields, spec: unknown, field: string, recorded: string | undefined): boolean =>
  recordOf(kind, spec)[field] === recorded || (kind.ignoresCase !== undefined && asWritten(spec, field) === recorded);
const asWritten = (spec: unknown, field: string) => hashFields(spec, [field])[field];

/** Whether a recorded value is neither absent nor the default. */
export const isStated = (kind: Fields & { spec: z.ZodObject }, field: string, recorded: string | undefined): boolean =>
  recorded !== recordOf(kind, defaultsOf(kind))[field];

function inLowerCase(spec: object, paths: readonly string[] = []): object {
  return paths.reduce((node, path) => lowered(node, path.split(".")), spec);
}

function lowered<T extends object>(node: T, [name = "", ...rest]: string[]): T {
  const value: unknown = Reflect.get(node, name);
  if (rest.length > 0) return typeof value === "object" && value ? { ...node, [name]: lowered(value, rest) } : node;
  return typeof value === "string" ? { ...node, [name]: value.toLowerCase() } : node;
}
