import { z } from "zod";

export type Json = Record<string, unknown>;

/**
 * A structural schema for a CRD. Throws where zod allows more than the API server: unions (except int-or-string), tuples,
 * `unknown`, recursion, and regular expressions with lookaround or back references.
 */
export function structural(schema: z.ZodType, path: string): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    target: "openapi-3.0",
    io: "input",
    unrepresentable: "throw",
  });
  return clean(json, path);
}

const unsupported = ["anyOf", "oneOf", "allOf", "not", "$ref", "definitions", "prefixItems", "patternProperties"];
const SAFE = Number.MAX_SAFE_INTEGER;
/** The only union that the API server supports. */
const INT_OR_STRING = "x-kubernetes-int-or-string";

function clean(node: Json, path: string): Json {
  if (node[INT_OR_STRING]) {
    const { anyOf: _, ...rest } = node;
    return rest;
  }
  for (const key of unsupported) if (key in node) throw new Error(`${path}: ${key} has no structural form`);
  if (node.type === undefined) throw new Error(`${path}: a schema without a type has no structural form`);
  const out: Json = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === "properties" && isJson(value)) {
      out.properties = Object.fromEntries(
        Object.entries(value).map(([name, child]) => [name, clean(asJson(child, path), `${path}.${name}`)]),
      );
    } else if (key === "items") {
      out.items = clean(asJson(value, path), `${path}[]`);
    } else if (key === "additionalProperties") {
      if (isJson(value) && Object.keys(value).length > 0) out.additionalProperties = clean(value, `${path}{}`);
    } else if (key === "pattern" && typeof value === "string") {
      // The API server validates date-time by its format, and zod's pattern for it uses features that RE2 does not have.
      if (node.format === "date-time") continue;
      if (/\(\?[=!<]|\\[1-9]/.test(value))
        throw new Error(`${path}: RE2 has no lookaround and no back reference: ${value}`);
      out.pattern = value;
    } else if ((key === "minimum" || key === "maximum") && Math.abs(Number(value)) === SAFE) {
      // Not a limit of the field: zod adds it to every integer.
    } else if (key !== "propertyNames") {
      out[key] = value;
    }
  }
  if (node.type === "integer") out.format = Number(node.maximum) <= 2 ** 31 - 1 ? "int32" : "int64";
  return out;
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asJson(value: unknown, path: string): Json {
  if (!isJson(value)) throw new Error(`${path}: not a schema`);
  return value;
}
