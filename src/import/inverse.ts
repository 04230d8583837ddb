import { z } from "zod";
import { asJson, asList, at, isJson, type Json } from "./json.ts";

/** What the inverse of a mapping needs to know besides the resource. */
export interface Context {
  /** Fields of spec by their path in what the platform shows, where it calls them otherwise. */
  renamed: Readonly<Record<string, string>>;
  /** Ids of what the resource lives under, by role. */
  parents: Readonly<Record<string, string>>;
  /** The name of the object that stands for this id; LANs are numbers in their datacenter. */
  objectOf(id: string): string | undefined;
  /** Told of what is there and does not go into spec. */
  lost(field: string, why: string): void;
}

/** Values that are never printed. Public keys are no secret. */
const SECRET = /password|userData|secret|token/i;

/** Fields of every kind: what they say is not on the platform. */
const OWN: ReadonlySet<string> = new Set([
  "accountRef",
  "externalId",
  "managementPolicy",
  "replacePolicy",
  "recreatePolicy",
  "deletionPolicy",
  "output",
  "secretName",
  "rotation",
  "powerState",
]);

/**
 * The spec that a resource has: every field of the schema is looked for in what the platform shows, under its own name or the
 * one that its kind declares, among the properties or the entities. What the schema does not take is told, and left out.
 */
export function inverse(schema: z.ZodObject, item: Json, context: Context, path = ""): Json {
  const source = { ...item, ...asJson(item.properties) };
  const found: Record<string, unknown> = {};
  const names = Object.keys(schema.shape);
  for (const name of names) {
    if (path === "" && OWN.has(name)) continue;
    const field = unwrapped(schema.shape[name]);
    const where = path === "" ? name : `${path}.${name}`;
    const value = referenceIn(name, field, source, context) ?? plainIn(name, field, source, context, where);
    if (value !== undefined) found[name] = value;
  }
  return withoutTwins(found);
}

/** A reference and what stands beside it for the same thing exclude each other. */
function withoutTwins(found: Record<string, unknown>): Json {
  const twins = Object.keys(found).flatMap((name) => {
    const role = /^(\w+)Ref$/.exec(name)?.[1];
    return role === undefined ? [] : [role, `${role}Id`];
  });
  return Object.fromEntries(Object.entries(found).filter(([name]) => !twins.includes(name)));
}

/** The schema behind optional values and defaults. */
function unwrapped(schema: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return unwrapped(schema.unwrap());
  return schema;
}

const isReference = (schema: unknown): boolean =>
  schema instanceof z.ZodObject && Object.keys(schema.shape).join() === "name,namespace";

function referenceIn(name: string, schema: unknown, source: Json, { parents, objectOf }: Context): Json | undefined {
  const role = /^(\w+)Ref$/.exec(name)?.[1];
  if (role === undefined || !isReference(schema)) return undefined;
  const beside = source[`${role}Id`] ?? (isJson(source[role]) ? asJson(source[role]).id : source[role]);
  const id = beside ?? parents[role];
  const numbered = role === "lan" ? `${source.datacenterId ?? parents.datacenter}/${id}` : String(id);
  const object = id == null ? undefined : objectOf(numbered);
  return object === undefined ? undefined : { name: object };
}

function plainIn(name: string, schema: unknown, source: Json, context: Context, where: string): unknown {
  if (isReference(schema) || /SecretRef$|From$/.test(name)) return undefined;
  const value = valueIn(name, source, context);
  if (value == null || value === "" || (Array.isArray(value) && value.length === 0)) return undefined;
  if (SECRET.test(name))
    return void context.lost(where, "it may hold a secret and is not printed: put it into a Secret");
  if (schema instanceof z.ZodObject) {
    const inner = inverse(schema, asJson(value), context, where);
    return Object.keys(inner).length > 0 ? inner : undefined;
  }
  if (schema instanceof z.ZodArray) return listIn(schema, value, context, where);
  return scalar(schema, value) ?? void context.lost(where, `${JSON.stringify(value)} has no form in spec`);
}

function valueIn(name: string, source: Json, { renamed, parents }: Context): unknown {
  const own = source[name] ?? asJson(asJson(source.entities)[name.toLowerCase()]).items;
  // Entities have their names from their collections.
  const paths = Object.keys(renamed).filter((path) => renamed[path] === name && !path.startsWith("entities."));
  const role = /^(\w+)Id$/.exec(name)?.[1] ?? "";
  return own ?? paths.map((path) => at(source, path)).find((value) => value != null) ?? parents[role];
}

/** A list in spec is complete: where one member cannot be said, the list is left out, and what it holds is left alone. */
function listIn(schema: z.ZodArray, value: unknown, context: Context, where: string): unknown {
  const element = unwrapped(schema.element);
  const lost: [string, string][] = [];
  const inner = { ...context, lost: (field: string, why: string) => void lost.push([field, why]) };
  const members =
    element instanceof z.ZodObject
      ? asList(value).map((each) =>
          inverse(element, each, inner, `${where}[${each.name ?? asJson(each.properties).name ?? each.id}]`),
        )
      : (Array.isArray(value) ? value : []).map((each) => scalar(element, each));
  for (const [field, why] of lost) context.lost(field, why);
  const parsed = schema.safeParse(members);
  const keys = members.flatMap((each) => Object(each).name ?? Object(each).tag ?? []);
  if (new Set(keys).size < keys.length) return void context.lost(where, "two of its members have the same name");
  if (parsed.success) return members;
  const [issue] = parsed.error.issues;
  return void context.lost(where, `${issue?.path.join(".")}: ${issue?.message}`);
}

/** Words of the platform that spec has another one for. */
const WORDS: Readonly<Record<string, string>> = { ALL: "any" };

/** The value as the schema takes it: as it is, as a number, as a text, or a word in other letters. */
function scalar(schema: unknown, value: unknown): unknown {
  if (!(schema instanceof z.ZodType)) return undefined;
  const word = String(WORDS[String(value)] ?? value).toLowerCase();
  const options = schema instanceof z.ZodEnum ? schema.options : [];
  const alike = options.filter((each) => String(each).toLowerCase() === word);
  const forms = [value, ...(typeof value === "string" ? [Number(value)] : []), String(value), ...alike];
  return forms.find((each) => schema.safeParse(each).success);
}
