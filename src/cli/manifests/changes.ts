import { correctable } from "../../engine/status/reasons.ts";
import { fixed, growing, joined, sameButForCase, unless, validations } from "../../kinds/fields/rules.ts";
import { type Kind, type Rule, type Rules, usesAccount } from "../../kinds/kind.ts";
import { structural } from "../../kube/write/structural.ts";

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

/** `overObject` replaces the word ADOPTED in a rule by this expression. */
const ADOPTED = "oldSelf.?status.?internal.?adoptedAt.hasValue()";

/** The rules about updates of an object. They do not apply at its creation. */
export function changeRules(kind: Kind): object[] {
  const { rule, parts } = joined(...kind.rules.filter(isChange), ...growth(kind), ...immutability(kind));
  if (parts.length === 0) return [];
  const objectParts = parts.map((part) => ({ ...part, rule: overObject(part.rule) }));
  const objectRule = { rule: `(${overObject(rule)}) || ${allowsEveryChange(kind)}`, parts: objectParts };
  return validations(objectRule)["x-kubernetes-validations"].map((each) => ({ fieldPath: ".spec", ...each }));
}

/** Turns a rule over spec into a rule over the whole object. */
const overObject = (rule: string): string =>
  rule.replaceAll(/\b(self|oldSelf)\b/g, "$1.spec").replaceAll(/\bADOPTED\b/g, ADOPTED);

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

const growth = ({ grows = [], kind }: Kind): Rules[] =>
  grows.map((field) => growing(field, `${field} can only grow: keep it, or create another ${kind} with a smaller one`));

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
  const way = resource
    ? `keep it, or set replacePolicy: WhenNeeded, which deletes the ${what} and creates a new one`
    : `create another ${noun}`;
  const others = fields.map(([field, why]) => ({ field, message: `${field} cannot be changed: ${why}; ${way}` }));
  return [account, resource ? unless(REPLACING, completed(kind, others)) : fixed(others)];
}

/** The resource may be replaced, or was allowed to be before this change. */
const REPLACING =
  "self.replacePolicy == 'WhenNeeded' || (has(oldSelf.replacePolicy) && oldSelf.replacePolicy == 'WhenNeeded')";

/**
 * Fields that spec of an adopted resource leaves out, or to their defaults, may be set later: the operator compares them.
 * Names that the platform's catalogues have in another case may be corrected.
 */
function completed(kind: Kind, fields: readonly { field: string; message: string }[]): Rules {
  const { rule, parts } = fixed(fields);
  const absent = fields.map(({ field }) => isUnset(kind, field));
  const written = fields.map(({ field }) => inAnotherCase(kind, field));
  const excepted = (exceptions: (string | undefined)[]) =>
    parts.map(({ rule, message }, nth): Rule => {
      const exception = exceptions[nth];
      return { rule: exception === undefined ? rule : `(${rule}) || ${exception}`, message };
    });
  const cases = written.some(Boolean) ? ` || (${joined(...excepted(written)).rule})` : "";
  const each = absent.map((missing, nth) => [`(ADOPTED && ${missing})`, written[nth]].filter(Boolean).join(" || "));
  return {
    rule: `(${rule}) || (ADOPTED && ${joined(...excepted(absent)).rule})${cases}`,
    parts: excepted(each),
  };
}

/** A CEL expression: the field had no value, or its default. */
function isUnset({ spec }: Kind, field: string): string {
  const { default: standard } = Object(Object(structural(spec, "spec").properties)[field]);
  const absent = `!has(oldSelf.${field})`;
  return standard === undefined ? absent : `(${absent} || oldSelf.${field} == '${standard}')`;
}

/** A CEL expression: the field has changed its case only. Undefined if case matters. */
function inAnotherCase({ spec, ignoresCase = [] }: Kind, field: string): string | undefined {
  const name = ignoresCase.find((each) => each === field || each.startsWith(`${field}.`));
  if (name === undefined) return undefined;
  const within = field.split(".").reduce((node, key) => Object(Object(node.properties)[key]), structural(spec, "spec"));
  const others = Object.keys(Object(within.properties)).map((key) => `${field}.${key}`);
  return sameButForCase(
    name,
    others.filter((each) => each !== name),
  );
}
