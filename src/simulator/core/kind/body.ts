import { z } from "zod";
import { errorCode, invalid, Refusal } from "../../http/refusal.ts";
import type { Properties } from "../../store/resource.ts";
import { withoutEmptyText } from "./empty-text.ts";
import type { InlineChildren, Kind } from "./kind.ts";

const anyObject = z.record(z.string(), z.unknown());

/** The body as an object; malformed JSON is 422. An empty id counts as absent. */
export function objectIn(body: string): Properties {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw invalid("(root)", body.trim() === "" ? "a JSON body is required" : "the body is not valid JSON");
  }
  const { id, ...rest } = asObject(value, "(root)");
  return id === undefined || id === "" ? rest : { id, ...rest };
}

export function asObject(value: unknown, path: string): Properties {
  const parsed = anyObject.safeParse(value);
  if (!parsed.success || Array.isArray(value)) throw invalid(path, "must be an object");
  return parsed.data;
}

/** The value as the schema reads it; refuses with all errors at once, each with its place in the body. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, where: string): T {
  const parsed = schema.safeParse(withoutEmptyText(schema, value), {
    error: ({ input }) => (input === undefined ? "is required" : undefined),
  });
  if (parsed.success) return parsed.data;
  throw new Refusal(
    422,
    parsed.error.issues.map((issue) => ({
      errorCode: errorCode.validation,
      message: `[${where}${pathText(issue.path)}] ${issue.message}`,
    })),
  );
}

/** Where the properties of a body are. */
export const propertiesPath = "(root).properties";

/** The properties of a body as the schema reads them. */
export const checkedProperties = <T>(schema: z.ZodType<T>, body: string): T =>
  checked(schema, asObject(objectIn(body).properties ?? {}, propertiesPath), propertiesPath);

const idsShape = z.object({ ids: z.array(z.string()) });

/** The ids in a body that replaces a set: `{"ids": [...]}`. */
export const idsIn = (body: string): string[] => checked(idsShape, objectIn(body), "(root)").ids;

/** The properties that a body sets, and those that it only clears. */
export interface Given {
  values: Properties;
  cleared: string[];
}

/** Checks `properties` of a creation, a PUT (create-only and kept ones may be left out) or a PATCH (any may be left out). */
export function givenProperties(kind: Kind, value: unknown, path: string, write: "create" | "put" | "patch"): Given {
  const where = `${path}.properties`;
  const given = asObject(value ?? {}, where);
  const values: Record<string, unknown> = {};
  const cleared: string[] = [];
  for (const [name, each] of Object.entries(checked(schemaFor(kind, write), given, where))) {
    if (each === null) cleared.push(name);
    else if (each !== undefined) values[name] = each;
  }
  // An empty text clears a property whose default is an empty text.
  const emptyByDefault = Object.entries(kind.defaults ?? {}).filter(([, each]) => each === "");
  for (const name of [...emptyByDefault.map(([name]) => name), ...(kind.clearedByEmptyText ?? [])])
    if (given[name] === "") cleared.push(name);
  return { values, cleared };
}

const schemas = new WeakMap<Kind, Record<"create" | "put" | "patch", z.ZodObject>>();

function schemaFor(kind: Kind, write: "create" | "put" | "patch"): z.ZodObject {
  let known = schemas.get(kind);
  if (known === undefined) {
    const shape: Record<string, z.core.$ZodType> = { ...kind.schema.shape };
    for (const name of [...(kind.createOnly ?? []), ...(kind.keptOnPut ?? [])]) {
      shape[name] = z.optional(kind.schema.shape[name] ?? z.unknown());
    }
    known = { create: kind.schema, put: z.object(shape), patch: kind.schema.partial() };
    schemas.set(kind, known);
  }
  return known[write];
}

/** `entities.<collection>.items` of a composite creation. */
export function inlineChildren(body: Properties, path: string): InlineChildren {
  if (body.entities === undefined || body.entities === null) return {};
  const found: Record<string, readonly unknown[]> = {};
  for (const [collection, value] of Object.entries(asObject(body.entities, `${path}.entities`))) {
    if (value === undefined || value === null) continue;
    const where = `${path}.entities.${collection}`;
    const { items } = asObject(value, where);
    if (items === undefined || items === null) continue;
    if (!Array.isArray(items)) throw invalid(`${where}.items`, "must be an array");
    found[collection] = items;
  }
  return found;
}

function pathText(path: readonly PropertyKey[]): string {
  return path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
}
