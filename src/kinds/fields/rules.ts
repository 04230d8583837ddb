import type { z } from "zod";
import type { Joined, Rule, Rules } from "../kind.ts";

/*
 * The API server evaluates every rule at every write, even of status and metadata, and each field that a rule reads
 * costs a walk over all possible fields of the object. So rules are attached to the field that they are about, and
 * rules with the same condition are joined.
 */

const isJoined = (rules: Rules): rules is Joined => "parts" in rules;
const partsOf = (rules: readonly Rules[]): Rule[] => rules.flatMap((each) => (isJoined(each) ? each.parts : [each]));
const every = (rules: readonly { rule: string }[]): string =>
  rules.map(({ rule }) => `(${rule})`).join(" && ") || "true";

/** Combines rules into one. Its message lists all parts that fail. */
export const joined = (...rules: Rules[]): Joined => ({ rule: every(rules), parts: partsOf(rules) });

/** Rules for both outcomes of a condition, which is evaluated once. */
export function either(condition: string, then: Rules[], otherwise: Rules[] = []): Joined {
  const guarded = (guard: string, rules: Rules[]) =>
    partsOf(rules).map((part) => ({ ...part, rule: `${guard} || (${part.rule})` }));
  return {
    rule: `(${condition}) ? (${every(then)}) : (${every(otherwise)})`,
    parts: [...guarded(`!(${condition})`, then), ...guarded(`(${condition})`, otherwise)],
  };
}

/**
 * Rules about a field, which is read once for all of them, and rules for an object without the field. CEL has no
 * variables: `all` over a list with one member gives the field a name.
 */
export function about(field: string, present: Rules[], absent: Rules[] = []): Joined {
  const { parts } = either(`has(self.${field})`, present, absent);
  const name = `its_${field}`;
  const direct = every(present).replaceAll(new RegExp(`self\\.${field}\\b`, "g"), `${name}.value()`);
  return { rule: `[self.?${field}].all(${name}, ${name}.hasValue() ? (${direct}) : (${every(absent)}))`, parts };
}

/** Rules with an exception. The condition is evaluated only if a rule fails. */
export function unless(condition: string, rules: Rules): Rules {
  const excepted = (part: Rule) => ({ ...part, rule: `(${part.rule}) || ${condition}` });
  return isJoined(rules)
    ? { rule: `(${rules.rule}) || ${condition}`, parts: rules.parts.map(excepted) }
    : excepted(rules);
}

/** Rules in the form of a CRD schema. */
export const validations = (...rules: Rules[]) => ({
  "x-kubernetes-validations": rules.map((each) =>
    isJoined(each) ? { rule: each.rule, ...messageOf(each.parts) } : { rule: each.rule, message: each.message },
  ),
});

/**
 * The message of a joined rule. It is evaluated only for a refused object. It avoids `join`, whose cost the API server
 * estimates as unlimited: the message of each failed part ends with `; `, and a dot marks the end, so that the last `; `
 * can be removed together with it.
 */
function messageOf(parts: Rule[]) {
  const [only, ...others] = parts;
  if (only && others.length === 0) return { message: only.message };
  const messages = parts.map(({ rule, message, more }) => {
    const text = more === undefined ? JSON.stringify(`${message}; `) : `${JSON.stringify(message)} + ${more} + "; "`;
    return `((${rule}) ? '' : ${text})`;
  });
  return { messageExpression: `(${messages.join(" + ")} + '.').replace('; .', '')` };
}

/** A schema with rules about its value, `self`. */
export const ruled = <S extends z.ZodType>(schema: S, ...rules: Rules[]): S => schema.meta(validations(...rules));

/** A CEL expression: how many of these fields are set. */
export const countOf = (fields: readonly string[]): string =>
  fields.map((field) => `(has(self.${field}) ? 1 : 0)`).join(" + ");

/**
 * A CEL expression: the field is unchanged. It compares lists, because the API server estimates the cost of comparing
 * two optional values as unlimited.
 */
const same = (field: string): string => {
  const path = field.replaceAll(".", ".?");
  return `[self.?${path}] == [oldSelf.?${path}]`;
};

/** A CEL expression: the field is absent before or after the change. Other rules decide whether that is allowed. */
const isAbsent = (path: string): string => `!has(self.${path}) || !has(oldSelf.${path})`;

/**
 * A CEL expression: the field is unchanged, or an object around it is added or removed. The first `known` of these
 * objects exist before and after.
 */
function unchanged(field: string, known = 0): string {
  const parents = field.split(".").slice(0, -1);
  const paths = parents.map((_, depth) => parents.slice(0, depth + 1).join(".")).slice(known);
  return [...paths.map(isAbsent), same(field)].join(" || ");
}

/** A CEL expression: a text is there before and after, the same but for its case, and the fields beside it are unchanged. */
export function sameButForCase(field: string, unchangedFields: readonly string[]): string {
  const parts = field.split(".");
  const paths = parts.map((_, depth) => parts.slice(0, depth + 1).join("."));
  const present = paths.map((path) => `has(self.${path}) && has(oldSelf.${path})`);
  const text = `self.${field}.lowerAscii() == oldSelf.${field}.lowerAscii()`;
  return `(${[...present, ...unchangedFields.map(same), text].join(" && ")})`;
}

/** A number that may be increased, added or removed. */
export const growing = (field: string, message: string): Rule => ({
  rule: `${unchanged(field)} || ${isAbsent(field)} || self.${field} >= oldSelf.${field}`,
  message,
});

/**
 * Fields that are immutable, each with its message; nested fields have dots. If the object around several fields is
 * unchanged, it is compared only once.
 */
export function fixed(fields: readonly { field: string; message: string }[]): Joined {
  const parts = fields.map(({ field, message }) => ({ rule: unchanged(field), message }));
  const tops = [...new Set(fields.map(({ field }) => field.split(".")[0] ?? field))];
  const groups = tops.map((top) => {
    if (fields.some(({ field }) => field === top)) return { rule: same(top) };
    const below = fields.filter(({ field }) => field.startsWith(`${top}.`));
    const each = every(below.map(({ field }) => ({ rule: unchanged(field, 1) })));
    return { rule: `${same(top)} || ${isAbsent(top)} || (${each})` };
  });
  return { rule: every(groups), parts };
}
