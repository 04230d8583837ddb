import { z } from "zod";
import type { Row } from "../table/row.ts";

/** A tool as clients are told of it. */
export interface Described {
  name: string;
  description: string;
  inputSchema: { type: "object"; [key: string]: unknown };
  outputSchema?: { type: "object"; [key: string]: unknown };
  annotations: { readOnlyHint: true };
}

/** Every word costs the model tokens: what says nothing is left out. */
function schemaOf(schema: z.ZodType, io: "input" | "output"): { type: "object"; [key: string]: unknown } {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io });
  return { ...withoutOpen(json), type: "object" };
}

function withoutOpen(value: object): object {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
      if (name === "additionalProperties" && isEmpty(inner)) return [];
      if (name === "pattern" || ((name === "minimum" || name === "maximum") && isSafeLimit(inner))) return [];
      if (Array.isArray(inner)) return [[name, inner.map((each) => (isObject(each) ? withoutOpen(each) : each))]];
      return [[name, isObject(inner) ? withoutOpen(inner) : inner]];
    }),
  );
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const isEmpty = (value: unknown) => isObject(value) && Object.keys(value).length === 0;
const isSafeLimit = (value: unknown) => Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;

const known = new WeakMap<Row, Described>();

/** Made once for each row, when it is first asked for. */
export function described(row: Row): Described {
  const already = known.get(row);
  if (already) return already;
  const made: Described = {
    name: row.name,
    description: row.description,
    inputSchema: schemaOf(row.args, "input"),
    outputSchema: schemaOf(row.result, "output"),
    annotations: { readOnlyHint: true },
  };
  known.set(row, made);
  return made;
}
