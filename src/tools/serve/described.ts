import { z } from "zod";
import type { Row } from "../table/row.ts";

/** The description of a tool for clients. */
export interface Described {
  name: string;
  description: string;
  inputSchema: { type: "object"; [key: string]: unknown };
  outputSchema?: { type: "object"; [key: string]: unknown };
  annotations: { readOnlyHint: true };
}

type Json = { type: "object"; [key: string]: unknown };

/** A cache: many rows share the same schemas, and making a JSON schema takes most of the start time. */
const made = { input: new WeakMap<z.ZodType, object>(), output: new WeakMap<z.ZodType, object>() };

/** The JSON schema without redundant parts, because every word costs the model tokens. */
function jsonOf(schema: z.ZodType, io: "input" | "output"): object {
  const already = made[io].get(schema);
  if (already) return already;
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io });
  const short = shortened(json);
  made[io].set(schema, short);
  return short;
}

function argumentsSchema({ args }: Row): Json {
  const fields = Object.entries(args.shape).filter(
    (entry): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType,
  );
  const required = fields.filter(([, schema]) => !schema.safeParse(undefined).success).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(([name, schema]) => [name, jsonOf(schema, "input")])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Omits `additionalProperties: {}`, patterns, and the limits of safe integers. */
function shortened(value: object): object {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
      if (name === "additionalProperties" && isEmpty(inner)) return [];
      if (name === "pattern" || ((name === "minimum" || name === "maximum") && isSafeLimit(inner))) return [];
      if (Array.isArray(inner)) return [[name, inner.map((each) => (isObject(each) ? shortened(each) : each))]];
      return [[name, isObject(inner) ? shortened(inner) : inner]];
    }),
  );
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const isEmpty = (value: unknown) => isObject(value) && Object.keys(value).length === 0;
const isSafeLimit = (value: unknown) => Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;

const known = new WeakMap<Row, Described>();

/** The description of a row, made once on demand. */
export function described(row: Row): Described {
  const already = known.get(row);
  if (already) return already;
  const tool: Described = {
    name: row.name,
    description: row.description,
    inputSchema: argumentsSchema(row),
    outputSchema: { ...jsonOf(row.result, "output"), type: "object" },
    annotations: { readOnlyHint: true },
  };
  known.set(row, tool);
  return tool;
}
