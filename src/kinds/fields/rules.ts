import type { z } from "zod";
import type { Joined, Rule, Rules } from "../kind.ts";

/*
 * The API server evaluates every rule at every write, also of status and metadata, and each field that a rule reads costs a walk
 * over all fields that the object can have. So a rule stands at the field it is about, and what shares a condition is one rule.
 */

const isJoined = (rules: Rules): rules is Joined => "parts" in rules;
const partsOf = (rules: readonly Rules[]): Rule[] => rules.flatMap((each) => (isJoined(each) ? each.parts : [each]));
const every = (rules: readonly { rule: string }[]): string =>
  rules.map(({ rule }) => `(${rule})`).join(" && ") || "true";

/** Several rules as one, which tells of all that are broken. */
export const joined = (...rules: Rules[]): Joined => ({ rule: every(rules), parts: partsOf(rules) });

/** Rules for either case of a condition, which is evaluated once. */
export function either(condition: string, then: Rules[], otherwise: Rules[] = []): Joined {
  const where = (guard: string, rules: Rules[]) =>
    partsOf(rules).map(({ rule, message }) => ({ rule: `${guard} || (${rule})`, message }));
  return {
    rule: `(${condition}) ? (${every(then)}) : (${every(otherwise)})`,
    parts: [...where(`!(${condition})`, then), ...where(`(${condition})`, otherwise)],
  };
}

/** Rules about a field, which is fetched once for all of them, and about an object without it. */
export function about(field: string, there: Rules[], absent: Rules[] = []): Joined {
  const { parts } = either(`has(self.${field})`, there, absent);
  const name = `its_${field}`;
  const direct = every(there).replaceAll(new RegExp(`self\\.${field}\\b`, "g"), `${name}.value()`);
  return { rule: `[self.?${field}].all(${name}, ${name}.hasValue() ? (${direct}) : (${every(absent)}))`, parts };
}

/** Rules that do not bind under a condition, which is evaluated for what breaks them only. */
export function unless(condition: string, rules: Rules): Rules {
  const freed = ({ rule, message }: Rule) => ({ rule: `(${rule}) || ${condition}`, message });
  return isJoined(rules) ? { rule: `(${rules.rule}) || ${condition}`, parts: rules.parts.map(freed) } : freed(rules);
}

/** Rules as a schema has them. */
export const validations = (...rules: Rules[]) => ({
  "x-kubernetes-validations": rules.map((each) =>
    isJoined(each) ? { rule: each.rule, ...brokenOf(each.parts) } : each,
  ),
});

/** What is said of what is broken; evaluated for what is refused only. The API server takes `join` for unlimited work. */
function brokenOf(parts: Rule[]) {
  const [only, ...others] = parts;
  if (only && others.length === 0) return { message: only.message };
  const messages = parts.map(({ rule, message }) => `((${rule}) ? '' : ${JSON.stringify(`${message}; `)})`);
  return { messageExpression: `(${messages.join(" + ")} + '.').replace('; .', '')` };
}

/** A schema with rules about its own value, which is `self`. */
export const ruled = <S extends z.ZodType>(schema: S, ...rules: Rules[]): S => schema.meta(validations(...rules));

/** The number of these fields that are there. */
export const countOf = (fields: readonly string[]): string =>
  fields.map((field) => `(has(self.${field}) ? 1 : 0)`).join(" + ");

/** As it was. In lists, because the API server takes the comparison of two optional values for unlimited work. */
const same = (field: string): string => {
  const path = field.replaceAll(".", ".?");
  return `[self.?${path}] == [oldSelf.?${path}]`;
};

/** It comes or goes: whether it may is another rule's business. */
const comesOrGoes = (path: string): string => `!has(self.${path}) || !has(oldSelf.${path})`;

/** A field that neither changes nor comes nor goes; `known`: so many of the objects around it are there before and after. */
function unchanged(field: string, known = 0): string {
  const parents = field.split(".").slice(0, -1);
  const paths = parents.map((_, depth) => parents.slice(0, depth + 1).join(".")).slice(known);
  return [...paths.map(comesOrGoes), same(field)].join(" || ");
}

/** A number that may grow, come or go. */
export const growing = (field: string, message: string): Rule => ({
  rule: `${unchanged(field)} || ${comesOrGoes(field)} || self.${field} >= oldSelf.${field}`,
  message,
});

/**
 * Fields that may not change, each with what is said then; nested ones are written with dots. An object above such fields that is
 * as it was is compared once.
 */
export function fixed(fields: readonly { field: string; message: string }[]): Joined {
  const parts = fields.map(({ field, message }) => ({ rule: unchanged(field), message }));
  const tops = [...new Set(fields.map(({ field }) => field.split(".")[0] ?? field))];
  const groups = tops.map((top) => {
    if (fields.some(({ field }) => field === top)) return { rule: same(top) };
    const below = fields.filter(({ field }) => field.startsWith(`${top}.`));
    const each = every(below.map(({ field }) => ({ rule: unchanged(field, 1) })));
    return { rule: `${same(top)} || ${comesOrGoes(top)} || (${each})` };
  });
  return { rule: every(groups), parts };
}
