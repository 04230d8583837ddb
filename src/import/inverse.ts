import { z } from "zod";
import { asJson, asList, isJson, type Json } from "../kinds/fields/compare.ts";

/** The inputs of an inverse mapping besides the resource. */
export interface Context {
  /** Fields of spec by their path on the platform, if the platform uses other names. */
  renamed: Readonly<Record<string, string>>;
  /** Platform ids of the parents by role. */
  parents: Readonly<Record<string, string>>;
  /** The name of the object for this id. The id of a LAN is its datacenter and its number: DATACENTER/1. */
  objectOf(id: string): string | undefined;
  /** Called for values that do not fit into spec. */
  lost(field: string, why: string): void;
}

/** Values that are never printed. Public keys are not secret. */
const SECRET = /password|userData|secret|token/i;

/** Fields of every kind that do not exist on the platform. */
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
 * The spec of a resource. Every field of the schema is looked up in the properties and entities of the platform, under
 * its own name or the name that the kind declares. Values that the schema rejects are reported and left out.
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

/** A reference and the id field beside it exclude each other. */
function withoutTwins(found: Record<string, unknown>): Json {
  const twins = Object.keys(found).flatMap((name) => {
    const role = /^(\w+)Ref$/.exec(name)?.[1];
    return role === undefined ? [] : [role, `${role}Id`];
  });
  return Object.fromEntries(Object.entries(found).filter(([name]) => !twins.includes(name)));
}

/** The schema without optional, nullable and default wrappers. */
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
  const ownId = source[`${role}Id`] ?? (isJson(source[role]) ? asJson(source[role]).id : source[role]);
  const id = ownId ?? parents[role];
  const fullId = role === "lan" ? `${source.datacenterId ?? parents.datacenter}/${id}` : String(id);
  const object = id == null ? undefined : objectOf(fullId);
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
  return scalar(schema, value) ?? void context.lost(where, `${JSON.stringify(value)} cannot be expressed in spec`);
}

function valueIn(name: string, source: Json, { renamed, parents }: Context): unknown {
  const own = source[name] ?? asJson(asJson(source.entities)[name.toLowerCase()]).items;
  // Entities take their names from their collections.
  const paths = Object.keys(renamed).filter((path) => renamed[path] === name && !path.startsWith("entities."));
  // A role is the name of a field, with or without its Id.
  const role = /^(\w+)Id$/.exec(name)?.[1];
  const parent = role === undefined ? undefined : (parents[name] ?? parents[role]);
  return own ?? paths.map((path) => at(source, path)).find((value) => value != null) ?? parent;
}

const needsName = (member: unknown): boolean =>
  member instanceof z.ZodObject &&
  member.shape.name instanceof z.ZodType &&
  !member.shape.name.safeParse(undefined).success;

/** Members of lists in messages. */
const NOUNS: Readonly<Record<string, string>> = {
  nics: "NIC",
  firewallRules: "rule",
  flowLogs: "flow log",
  volumes: "volume",
};

/**
 * A list in spec is complete. If one member cannot be expressed, the whole list is left out, so that its members stay
 * unchanged.
 */
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
  if (needsName(element) && members.some((each) => !Object(each).name)) {
    const noun = NOUNS[where.split(".").at(-1) ?? ""] ?? "member";
    return void context.lost(where, `it has a ${noun} without a name`);
  }
  const parsed = schema.safeParse(members);
  const keys = members.flatMap((each) => Object(each).name ?? Object(each).tag ?? []);
  if (new Set(keys).size < keys.length) return void context.lost(where, "two of its members have the same name");
  if (parsed.success) return members;
  const [issue] = parsed.error.issues;
  return void context.lost(where, `${issue?.path.join(".")}: ${issue?.message}`);
}

/** Values of the platform that have another name in spec. */
const WORDS: Readonly<Record<string, string>> = { ALL: "any" };

/** The value in the form that the schema accepts: unchanged, as a number, as a text, or in other letter case. */
function scalar(schema: unknown, value: unknown): unknown {
  if (!(schema instanceof z.ZodType)) return undefined;
  const word = String(WORDS[String(value)] ?? value).toLowerCase();
  const options = schema instanceof z.ZodEnum ? schema.options : [];
  const alike = options.filter((each) => String(each).toLowerCase() === word);
  const forms = [value, ...(typeof value === "string" ? [Number(value)] : []), String(value), ...alike];
  return forms.find((each) => schema.safeParse(each).success);
}

/** The value at a path such as `connections[0].lanId`. */
const at = (value: Json, path: string): unknown =>
  path
    .split(/[.[\]]+/)
    .filter((step) => step !== "")
    .reduce<unknown>((found, step) => (Array.isArray(found) ? found[Number(step)] : asJson(found)[step]), value);
