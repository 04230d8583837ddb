import { isDeepStrictEqual } from "node:util";
import type { FieldChange } from "./item.ts";

type Json = Record<string, unknown>;
const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** Fields that identify the members of a list, if all members have them. */
const KEYS = ["name", "tag"];

/** The fields that differ between two specs, at any depth. Members of lists are paired by name. */
export function specChanges(before: unknown, after: unknown, path = ""): FieldChange[] {
  if (isDeepStrictEqual(before, after)) return [];
  const at = (name: string) => (path === "" ? name : `${path}.${name}`);
  const isMapOrAbsent = isJson(before ?? {}) && isJson(after ?? {});
  if (isMapOrAbsent && (isJson(before) || isJson(after))) {
    const [from, to] = [before ?? {}, after ?? {}] as [Json, Json];
    const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
    return names.flatMap((name) => specChanges(from[name], to[name], at(name)));
  }
  const key = KEYS.find((each) => isKeyed(before, each) && isKeyed(after, each));
  if (key !== undefined) {
    const [from, to] = [membersOf(before, key), membersOf(after, key)];
    const names = [...new Set([...from.keys(), ...to.keys()])];
    return names.flatMap((name) => specChanges(from.get(name), to.get(name), `${path}[${name}]`));
  }
  return [{ field: path, from: shown(path, before), to: shown(path, after), platform: false }];
}

const isKeyed = (value: unknown, key: string): boolean =>
  value === undefined || (Array.isArray(value) && value.every((each) => typeof Object(each)[key] === "string"));
const membersOf = (value: unknown, key: string): Map<string, unknown> =>
  new Map((Array.isArray(value) ? value : []).map((each) => [String(Object(each)[key]), each]));

/** Values that may be secret. A plan never shows them. */
const SECRET = /(userData|[pP]assword|token)$/;
const shown = (path: string, value: unknown): string =>
  SECRET.test(path) && value !== undefined ? "(not shown)" : show(value);

function show(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A spec with other values for these fields; fields inside lists stay unchanged. */
export function withValues(spec: unknown, changes: readonly { field: string; value: string }[]): unknown {
  const copy: unknown = structuredClone(spec ?? {});
  for (const { field, value } of changes) {
    const path = field.split(".");
    const last = path.pop() ?? "";
    const target = path.reduce<unknown>((at, name) => Object(at)[name], copy);
    if (field.includes("[") || !isJson(target)) continue;
    target[last] = typeof target[last] === "number" ? Number(value) : value;
  }
  return copy;
}
