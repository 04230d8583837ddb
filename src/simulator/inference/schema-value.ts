import { createHash } from "node:crypto";
import { textFor, UnknownPattern } from "./pattern.ts";
import { refusal } from "./refusal.ts";
import { createCheck, type Fields, isFields, merged } from "./schema-check.ts";

const numberOr = <T>(value: unknown, other: T): number | T => (typeof value === "number" ? value : other);

/** Keywords that this module cannot follow. */
const unsupported = ["if", "contains", "uniqueItems", "propertyNames", "dependentRequired"];

const formats: Record<string, string> = {
  "date-time": "2026-01-31T12:00:00Z",
  date: "2026-01-31",
  time: "12:00:00Z",
  email: "somebody@example.org",
  uuid: "6d1f9b0e-3c55-4f5e-9a53-2f1d0c8b7a61",
  uri: "https://example.org/",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
};

/** Below this depth only required parts are made, so that recursive schemas come to an end. */
const deep = 6;
const deepest = 60;
const mostSteps = 20_000;

/** A single object, because a hostile schema throws it thousands of times. */
const noEnd = new Error("no end");

/** Picks a number below `count`, always the same for the same path. */
type Choice = (path: string, count: number) => number;

type Make = (schema: unknown, path: string, depth: number) => unknown;

/** A value that the schema allows, made of the words given: the same words make the same value. */
export function valueFor(schema: Fields, text: string): unknown {
  // Implementations do not agree on the length of characters outside the basic plane.
  const words = text.toWellFormed().replace(/[\u{10000}-\u{10ffff}]/gu, "?");
  let steps = 0;

  const pick: Choice = (path, count) =>
    createHash("sha256").update(`${words}\n${path}`).digest().readUInt32BE(0) % Math.max(1, count);

  function make(given: unknown, path: string, depth: number): unknown {
    steps += 1;
    if (depth > deepest || steps > mostSteps) throw noEnd;
    if (given === true) return words;
    if (!isFields(given)) throw wrong(path, "is not a schema");
    const unknown = unsupported.find((keyword) => keyword in given);
    if (unknown !== undefined) throw wrong(path, `has the keyword ${unknown}, which is not supported`);
    if ("not" in given) return avoiding(given, path, depth);
    if (Array.isArray(given.allOf)) return make(all(schema, given, path), path, depth + 1);
    if (typeof given.$ref === "string") return make(resolve(schema, given.$ref, path), path, depth + 1);
    if ("const" in given) return given.const;
    if (Array.isArray(given.enum)) return given.enum[pick(path, given.enum.length)];
    const alternatives = given.anyOf ?? given.oneOf;
    if (Array.isArray(alternatives)) return firstOf(alternatives, path, depth);
    switch (typeOf(given)) {
      case "object":
        return object(given, path, depth, words, make);
      case "array":
        return array(given, path, depth, make);
      case "integer":
      case "number":
        return number(given, path, pick);
      case "boolean":
        return pick(path, 2) === 1;
      case "null":
        return null;
      case "string":
        return string(given, path, words, pick);
      default:
        throw wrong(path, `has the type ${String(given.type)}, which does not exist`);
    }
  }

  const accepts = createCheck((reference) => resolve(schema, reference, "(root)"));

  /** The first of several tries that `not` does not forbid. */
  function avoiding({ not, ...allowed }: Fields, path: string, depth: number): unknown {
    for (let nth = 0; nth < mostTries; nth += 1) {
      const value = varied(make(allowed, `${path}${nth === 0 ? "" : `#${nth}`}`, depth + 1), nth);
      if (!accepts(not, value) && accepts(allowed, value)) return value;
    }
    throw wrong(path, "forbids (not) every value that was tried");
  }

  function firstOf(alternatives: readonly unknown[], path: string, depth: number): unknown {
    for (const each of depth > deep ? alternatives.toReversed() : alternatives) {
      try {
        return make(each, path, depth + 1);
      } catch (error) {
        if (error !== noEnd || steps > mostSteps) throw error;
      }
    }
    throw noEnd;
  }

  try {
    return make(schema, "(root)", 0);
  } catch (error) {
    if (error === noEnd) throw wrong("(root)", "is too deep or has no end");
    throw error;
  }
}

const mostTries = 20;

/** Merges `allOf` into one schema. */
function all(schema: Fields, { allOf, ...own }: Fields, path: string): Fields {
  const parts = [own, ...[allOf].flat()].map((part) => {
    if (!isFields(part)) throw wrong(path, "is not a schema");
    const { $ref, ...rest } = part;
    const referred = typeof $ref === "string" ? resolve(schema, $ref, path) : {};
    return merged([isFields(referred) ? referred : {}, rest]);
  });
  return merged(parts);
}

function object(given: Fields, path: string, depth: number, words: string, make: Make): Fields {
  const required = new Set(Array.isArray(given.required) ? given.required : []);
  const properties = isFields(given.properties) ? given.properties : {};
  const names = Object.keys(properties).filter((name) => depth <= deep || required.has(name));
  const lacking = [...required].filter((name): name is string => typeof name === "string" && !(name in properties));
  return Object.fromEntries([
    ...names.map((name) => [name, make(properties[name], `${path}.${name}`, depth + 1)]),
    ...lacking.map((name) => [name, words]),
  ]);
}

function array(given: Fields, path: string, depth: number, make: Make): unknown[] {
  const first = Array.isArray(given.prefixItems) ? given.prefixItems : [];
  const least = numberOr(given.minItems, 0);
  const usual = Math.max(least, first.length, depth > deep || given.items === false ? 0 : 2);
  const length = Math.min(usual, numberOr(given.maxItems, usual));
  if (length < least || length > mostSteps) throw wrong(path, "has bounds that no list keeps");
  return Array.from({ length }, (_, at) => make(first[at] ?? given.items ?? true, `${path}.${at}`, depth + 1));
}

/** The part of the whole schema that a reference names. */
function resolve(schema: Fields, reference: string, path: string): unknown {
  const names = reference.split("/");
  if (names[0] !== "#") throw wrong(path, "refers to another document");
  const step = (value: unknown, name: string) =>
    isFields(value) ? value[name.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  return names.slice(1).reduce<unknown>(step, schema);
}

function number(given: Fields, path: string, pick: Choice): number {
  const step = numberOr(given.multipleOf, 1);
  const above = numberOr(given.exclusiveMinimum, Number.NEGATIVE_INFINITY);
  const below = numberOr(given.exclusiveMaximum, Number.POSITIVE_INFINITY);
  const least = Math.max(numberOr(given.minimum, Number.NEGATIVE_INFINITY), above);
  const most = Math.min(numberOr(given.maximum, Number.POSITIVE_INFINITY), below);
  const from = Number.isFinite(least) ? least : Number.isFinite(most) ? most - 100 * step : 0;
  const fits = (value: number) => value >= least && value <= most && value > above && value < below;
  const start = Math.ceil(from / step);
  const steps = Math.floor(Math.min(most - from, 100 * step) / step);
  const found = [start + pick(path, steps), start, start + 1].map((nth) => nth * step).find(fits);
  if (found !== undefined) return found;
  const between = (least + most) / 2;
  if (typeOf(given) === "number" && given.multipleOf === undefined && fits(between)) return between;
  throw wrong(path, "has bounds that no number keeps");
}

function string(given: Fields, path: string, words: string, pick: Choice): string {
  const format = typeof given.format === "string" ? formats[given.format] : undefined;
  if (format !== undefined) return format;
  const least = numberOr(given.minLength, 0);
  const most = Math.min(numberOr(given.maxLength, 60), Math.max(60, least));
  if (least > most || least > 100_000) throw wrong(path, "has bounds that no text keeps");
  if (typeof given.pattern === "string") return patterned(given.pattern, { least, most }, path, words, pick);
  return words.padEnd(least, ".").slice(0, most);
}

/** A text that matches the pattern: the words themselves where they fit. */
function patterned(
  pattern: string,
  { least, most }: { least: number; most: number },
  path: string,
  words: string,
  pick: Choice,
): string {
  try {
    const form = new RegExp(pattern, "u");
    const fits = (text: string) => text.length >= least && text.length <= most && form.test(text);
    if (fits(words)) return words;
    for (let more = 0; more <= least + mostTries; more += 1) {
      const text = textFor(pattern, more, (place, count) => pick(`${path}/${place}`, count));
      if (fits(text)) return text;
    }
  } catch (error) {
    if (!(error instanceof UnknownPattern || error instanceof SyntaxError)) throw error;
  }
  throw wrong(path, "has a pattern that no text was found for");
}

/** Another value near this one, for the next try. */
function varied(value: unknown, nth: number): unknown {
  if (nth === 0) return value;
  if (typeof value === "string") return `${nth} ${value}`;
  if (typeof value === "number") return value + (nth % 2 === 0 ? -1 : 1) * Math.ceil(nth / 2);
  return typeof value === "boolean" ? nth % 2 === 0 : value;
}

function typeOf({ type, properties, items }: Fields): unknown {
  if (Array.isArray(type)) return type.find((each) => each !== "null") ?? "null";
  return type ?? (properties !== undefined ? "object" : items !== undefined ? "array" : "string");
}

const wrong = (path: string, what: string) =>
  refusal(400, "invalid_schema", `The JSON schema at ${path} ${what}`, "response_format");
