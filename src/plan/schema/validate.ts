import { z } from "zod";
import { evaluate } from "./cel.ts";

type Json = Record<string, unknown>;
const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const asJson = (value: unknown): Json => (isJson(value) ? value : {});

const rules = z.array(
  z.looseObject({
    rule: z.string(),
    message: z.string().optional(),
    messageExpression: z.string().optional(),
    fieldPath: z.string().optional(),
  }),
);

/**
 * An object with the defaults of its schema, as the API server would store it. The schema has no defaults inside lists.
 * Unknown fields stay, so that `problems` can report them.
 */
export function withDefaults(schema: unknown, value: unknown): unknown {
  const { default: usual, properties, items } = asJson(schema);
  const given = value === undefined ? usual : value;
  if (isJson(given) && properties !== undefined) {
    const filled = { ...given };
    for (const [name, child] of Object.entries(asJson(properties))) {
      const each = withDefaults(child, given[name]);
      if (each !== undefined) filled[name] = each;
    }
    return filled;
  }
  return Array.isArray(given) && items !== undefined ? given.map((each) => withDefaults(items, each)) : given;
}

/** The validation errors of the API server: first the structure and, if that is valid, the rules. */
export function problems(schema: unknown, value: unknown, before: unknown): string[] {
  const found = [...structure(asJson(schema), value, "")];
  return found.length > 0 ? found : [...brokenRules(asJson(schema), value, before, "")];
}

const typeOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value;

function isOfType(type: unknown, schema: Json, value: unknown): boolean {
  const found = typeOf(value);
  if (schema["x-kubernetes-int-or-string"]) return found === "integer" || found === "string";
  return found === type || (type === "number" && found === "integer");
}

function* structure(schema: Json, value: unknown, path: string): Generator<string> {
  if (!isOfType(schema.type, schema, value)) {
    yield `${path}: Invalid value: must be of type ${schema.type}, not ${typeOf(value)}`;
    return;
  }
  yield* limits(schema, value, path);
  if (Array.isArray(value)) {
    for (const [nth, each] of value.entries()) yield* structure(asJson(schema.items), each, `${path}[${nth}]`);
  }
  if (!isJson(value)) return;
  const properties = asJson(schema.properties);
  const others = schema.additionalProperties;
  for (const name of [schema.required ?? []].flat().map(String)) {
    if (value[name] == null) yield `${at(path, name)}: Required value`;
  }
  for (const [name, each] of Object.entries(value)) {
    const child = properties[name] ?? others;
    if (each == null) continue;
    if (isJson(child)) yield* structure(child, each, at(path, name));
    else if (schema.properties !== undefined && path !== "metadata") yield `${at(path, name)}: unknown field`;
  }
}

/** Uses the API server's messages where it has some. */
function* limits(schema: Json, value: unknown, path: string): Generator<string> {
  const bound = (name: string) => (typeof schema[name] === "number" ? schema[name] : undefined);
  const size = Array.isArray(value) ? value.length : typeof value === "string" ? [...value].length : Number(value);
  const below = (name: string) => size < (bound(name) ?? Number.NEGATIVE_INFINITY);
  const above = (name: string) => size > (bound(name) ?? Number.POSITIVE_INFINITY);
  const wrong = (words: string) => `${path}: Invalid value: ${show(value)}: ${path} in body should ${words}`;
  if (typeof value === "number") {
    if (below("minimum")) yield wrong(`be greater than or equal to ${bound("minimum")}`);
    if (above("maximum")) yield wrong(`be less than or equal to ${bound("maximum")}`);
  } else if (typeof value === "string") {
    if (below("minLength")) yield wrong(`be at least ${bound("minLength")} chars long`);
    if (above("maxLength")) yield `${path}: Too long: may not be more than ${bound("maxLength")} bytes`;
    const { pattern, format } = schema;
    if (typeof pattern === "string" && !new RegExp(pattern, "u").test(value)) yield wrong(`match ${pattern}`);
    const isTime = z.iso.datetime({ offset: true }).safeParse(value).success;
    if (format === "date-time" && !isTime) yield wrong("be a time such as 2026-03-01T10:00:00Z (date-time)");
  } else if (Array.isArray(value)) {
    if (below("minItems")) yield wrong(`have at least ${bound("minItems")} items`);
    if (above("maxItems")) yield `${path}: Too many: ${size}: must have at most ${bound("maxItems")} items`;
  }
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) {
    yield `${path}: Unsupported value: ${show(value)}: supported values: ${schema.enum.map(show).join(", ")}`;
  }
}

const show = (value: unknown): string => JSON.stringify(value);

/** Evaluates the rules at each value. A rule about a change applies only if there is an old value, outside of lists. */
function* brokenRules(schema: Json, value: unknown, before: unknown, path: string): Generator<string> {
  if (value === undefined) return;
  for (const each of rules.catch([]).parse(schema["x-kubernetes-validations"])) {
    const isChange = each.rule.includes("oldSelf");
    if (isChange && before === undefined) continue;
    const context = { self: typed(schema, value), ...(isChange && { oldSelf: typed(schema, before) }) };
    if (evaluate(each.rule, context) === true) continue;
    const computed = each.messageExpression && evaluate(each.messageExpression, context);
    const field = `${path}${each.fieldPath ?? ""}`.replace(/^\./, "") || "object";
    yield `${field}: Invalid value: ${computed || each.message || each.rule}`;
  }
  if (Array.isArray(value)) {
    for (const [nth, each] of value.entries())
      yield* brokenRules(asJson(schema.items), each, undefined, `${path}[${nth}]`);
  }
  if (!isJson(value)) return;
  for (const [name, child] of Object.entries(asJson(schema.properties))) {
    yield* brokenRules(asJson(child), value[name], asJson(before)[name], at(path, name));
  }
}

/** CEL has separate types for integers and other numbers. */
function typed(schema: Json, value: unknown): unknown {
  if (schema.type === "integer" && typeof value === "number") return BigInt(Math.trunc(value));
  if (Array.isArray(value)) return value.map((each) => typed(asJson(schema.items), each));
  if (!isJson(value)) return value;
  const properties = asJson(schema.properties);
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries.map(([name, each]) => [name, typed(asJson(properties[name]), each)]));
}

const at = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);
