import type { z } from "zod";
import { correctable } from "../../engine/status/reasons.ts";
import { isWithin } from "../../kinds/fields/compare.ts";
import { fixed, growing, joined, sameButForCase, unless, validations } from "../../kinds/fields/rules.ts";
import { isSuccessive, type Kind, type Rule, type Rules, usesAccount } from "../../kinds/kind.ts";
import { type Json, structural } from "../../kube/write/structural.ts";
import { memo } from "../../runtime/memo.ts";

/*
 * Rules about changes are at the root of the schema, because they read status. Before a resource exists, every field of
 * spec may change. An open intent is an annotation, which a CEL rule cannot read: a change during a creation is
 * accepted, and the operator then compares the new resource with spec. Fields that it reports as different may be
 * changed back.
 *
 * A replacement that has not begun is undone by the previous manifest, with its fields and its policy.
 * Whether it has begun is not in status (the operator may be stopped), so no rule asks for it: if it has, the operator
 * reports the difference.
 */

export const isChange = ({ rule }: Rules): boolean => rule.includes("oldSelf");

/** `overObject` replaces these words in a rule by expressions over the whole object. */
const words = {
  ADOPTED: "oldSelf.?status.?internal.?adoptedAt.hasValue()",
  SHOWN: "oldSelf.?status",
  METADATA: "self.metadata",
};

/** The rules about updates of an object. They do not apply at its creation. */
export function changeRules(kind: Kind): object[] {
  const { rule, parts } = joined(...kind.rules.filter(isChange), ...growth(kind), ...immutability(kind));
  if (parts.length === 0) return [];
  const objectParts = parts.map(({ more, ...part }) => ({
    ...part,
    rule: overObject(part.rule),
    ...(more !== undefined && { more: overObject(more) }),
  }));
  const objectRule = { rule: `(${overObject(rule)}) || ${allowsEveryChange(kind)}`, parts: objectParts };
  return validations(objectRule)["x-kubernetes-validations"].map((each) => ({ fieldPath: ".spec", ...each }));
}

/** Turns a rule over spec into a rule over the whole object. */
const overObject = (rule: string): string =>
  Object.entries(words).reduce(
    (text, [word, expression]) => text.replaceAll(new RegExp(`\\b${word}\\b`, "g"), expression),
    rule.replaceAll(/\b(self|oldSelf)\b/g, "$1.spec"),
  );

/**
 * A CEL expression: every change is allowed, because no resource exists, it is only observed, or the operator reports
 * that spec differs from it.
 */
function allowsEveryChange({ resource, task }: Kind): string {
  if (!resource) return `!has(oldSelf.status) || !has(oldSelf.status.${task?.begun})`;
  const reasons = correctable.map((reason) => `'${reason}'`).join(", ");
  return [
    "!has(oldSelf.status)",
    "!has(oldSelf.status.id)",
    "oldSelf.status.?internal.?onlyObserved.orValue(false)",
    `(has(oldSelf.status.conditions) && oldSelf.status.conditions.exists(each, each.reason in [${reasons}]))`,
  ].join(" || ");
}

/** A number that spec states wrongly while nothing is written can be corrected down to what is on the platform. */
function growth({ grows = [], kind, status }: Kind): Rules[] {
  return grows.map((field) => {
    const message = `${field} can only grow: keep it, or create another ${kind} with a smaller one`;
    const { rule } = growing(field, message);
    if (within(status, field).type === undefined) return { rule, message };
    const there = `SHOWN.?${field.replaceAll(".", ".?")}`;
    const less = `cannot be less than on the platform (status.${field}); for a smaller one, create another ${kind}`;
    const more = `(${there}.hasValue() ? '${less}' : '${message.slice(field.length + 1)}')`;
    const isThere = `(${there}.hasValue() && double(self.${field}) >= double(${there}.value()))`;
    return { rule: `${rule} || ${isThere}`, message: `${field} `, more };
  });
}

/** Rules that refuse changes of immutable fields, unless replacement is allowed. */
function immutability(kind: Kind): Rules[] {
  if (!usesAccount(kind)) return [];
  const { kind: noun, resource, immutable } = kind;
  const move = resource
    ? `to move the ${noun} to another Account, set deletionPolicy: Retain, delete the object and create it again with externalId`
    : `create another ${noun} for the other Account`;
  const account = fixed([{ field: "accountRef", message: `accountRef cannot be changed: ${move}` }]);
  const fields = Object.entries(immutable);
  if (fields.length === 0) return [account];
  const what = resource?.destruction.holdsData ? `${noun} with its data` : noun;
  const replacing = isSuccessive(kind)
    ? "creates a new token and revokes this one a few minutes later"
    : `deletes the ${what} and creates a new one`;
  const way = resource ? `keep it, or set replacePolicy: WhenNeeded, which ${replacing}` : `create another ${noun}`;
  const others = fields.map(([field, why]) => ({ field, message: `${field} cannot be changed: ${why}; ${way}` }));
  return [account, resource ? unless(REPLACING, completed(kind, others)) : fixed(others)];
}

/** The resource may be replaced, or was allowed to be before this change. */
const REPLACING =
  "self.replacePolicy == 'WhenNeeded' || (has(oldSelf.replacePolicy) && oldSelf.replacePolicy == 'WhenNeeded')";

/**
 * Fields that spec has never stated may be set to what is on the platform. Where status does not show that, every value is
 * accepted here, and the operator compares it. Names that the platform's catalogues have in another case may be corrected.
 */
function completed(kind: Kind, fields: readonly { field: string; message: string }[]): Rules {
  const { rule, parts } = fixed(fields);
  const excepted = (isUnset: (field: string) => string | undefined) =>
    parts.map(({ rule, message }, nth): Rule => {
      const { field = "" } = fields[nth] ?? {};
      const exceptions = [isUnset(field), stated(kind, field), inAnotherCase(kind, field)];
      const more = whereItIs(kind, field);
      const excepted = [`(${rule})`, ...exceptions.filter((each) => each !== undefined)].join(" || ");
      return { rule: excepted, message, ...(more !== undefined && { more }) };
    });
  const [adopted, created] = [excepted((field) => isUnset(kind, field)), excepted(() => undefined)];
  // The exceptions are evaluated only if a field has changed.
  const either = `(ADOPTED ? (${joined(...adopted).rule}) : (${joined(...created).rule}))`;
  return { rule: `(${rule}) || ${either}`, parts: excepted((field) => `(ADOPTED && ${isUnset(kind, field)})`) };
}

/**
 * A CEL expression: the field had no value, or its default, or is used at a creation only. An adopted resource was not created
 * with it.
 */
function isUnset({ spec, creationOnly = [] }: Kind, field: string): string {
  const { default: standard } = within(spec, field);
  const absent = `!has(oldSelf.${field})`;
  if (creationOnly.includes(field)) return `(${absent} || has(self.externalId))`;
  return standard === undefined ? absent : `(${absent} || oldSelf.${field} == '${standard}')`;
}

const jsonOf = memo((schema: z.ZodObject) => structural(schema, "schema"));

/** The schema of a field. */
const within = (schema: z.ZodObject, field: string): Json =>
  field.split(".").reduce((node, key) => Object(Object(node.properties)[key]), jsonOf(schema));

/** A CEL expression: the field had no value, and gets that of the platform as far as the object shows it. */
function stated({ comparable = [], spec, status }: Kind, field: string): string | undefined {
  if (!comparable.includes(field)) return undefined;
  // The name of a resource that its object has created.
  const isShown =
    field === "name" ? "self.name == METADATA.name" : asShown(field, within(spec, field), within(status, field));
  return `(${[`!has(oldSelf.${field})`, ...(isShown ? [`(${isShown})`] : [])].join(" && ")})`;
}

/**
 * A CEL expression: the end of the message, about a field that spec has never stated. The API server estimates the cost of a
 * message with the value itself as too high.
 */
function whereItIs({ comparable = [], status }: Kind, field: string): string | undefined {
  const isShown = field === "name" || within(status, field).type !== undefined;
  if (!comparable.includes(field) || !isShown) return undefined;
  const where = field === "name" ? "it is that of the object" : `status.${field} has it`;
  return `(has(oldSelf.${field}) ? '' : '; to say what is on the platform: ${where}')`;
}

/** A CEL expression: what spec has is in status. Undefined if status has no such field. */
function asShown(field: string, wanted: Json, shown: Json): string | undefined {
  if (wanted.type === "object") {
    const within = Object.keys(Object(wanted.properties)).flatMap((name) => {
      const [inner, outer] = [wanted, shown].map(({ properties }) => Object(Object(properties)[name]));
      const rule = asShown(`${field}.${name}`, inner, outer);
      return rule === undefined ? [] : [`(!has(self.${field}.${name}) || (${rule}))`];
    });
    return within.length > 0 ? within.join(" && ") : undefined;
  }
  if (shown.type === undefined || shown.type !== wanted.type || shown.type === "array") return undefined;
  const there = `SHOWN.?${field.replaceAll(".", ".?")}`;
  return `${there}.hasValue() && ${there}.value() == self.${field}`;
}

/** A CEL expression: the field has changed its case only. Undefined if case matters. */
function inAnotherCase({ spec, ignoresCase = [] }: Kind, field: string): string | undefined {
  const name = ignoresCase.find((each) => isWithin(each, field));
  if (name === undefined) return undefined;
  const others = Object.keys(Object(within(spec, field).properties)).map((key) => `${field}.${key}`);
  return sameButForCase(
    name,
    others.filter((each) => each !== name),
  );
}
