import { correctable } from "../../engine/status/reasons.ts";
import { fixed, growing, joined, unless, validations } from "../../kinds/fields/rules.ts";
import { type Kind, type Rule, type Rules, usesAccount } from "../../kinds/kind.ts";

/*
 * Rules about changes are at the root of the schema, because they read status. Before a resource exists, every field of
 * spec may change. An open intent is an annotation, which a CEL rule cannot read: a change during a creation is
 * accepted, and the operator then compares the new resource with spec. Fields that it reports as different may be
 * changed back.
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
  return [account, resource ? unless("self.replacePolicy == 'WhenNeeded'", completed(others)) : fixed(others)];
}

/** Fields that spec of an adopted resource leaves out may be added later: the operator compares them. */
function completed(fields: readonly { field: string; message: string }[]): Rules {
  const { rule, parts } = fixed(fields);
  const unlessAbsent = parts.map(
    (part, nth): Rule => ({ ...part, rule: `(${part.rule}) || !has(oldSelf.${fields[nth]?.field})` }),
  );
  return {
    rule: `(${rule}) || (ADOPTED && ${joined(...unlessAbsent).rule})`,
    parts: parts.map((part, nth) => ({
      ...part,
      rule: `(${part.rule}) || (ADOPTED && !has(oldSelf.${fields[nth]?.field}))`,
    })),
  };
}
