import type { Desired, Drift, Inputs } from "../../../kinds/desired.ts";
import { isWithin } from "../../../kinds/fields/compare.ts";
import type { Kind } from "../../../kinds/kind.ts";
import type { KubeObject } from "../../../kube/resource.ts";
import { isAsRecorded, isStated, recordOf } from "../../../runtime/field-record.ts";
import { hashBody } from "../../../runtime/hash.ts";
import { accountTitle } from "../../accounts/accounts.ts";
import { isAllowed } from "../../state/annotations.ts";
import type { Memory } from "../../state/memory.ts";
import { ALLOW_DATA_LOSS } from "../../state/names.ts";
import { policiesOf } from "../../state/policies.ts";
import type { ResourceStatus } from "../../status/schema.ts";
import { isElsewhere } from "../subject.ts";
import type { Replacement, Subject } from "../view.ts";

/** The resource as it was last read, and what a comparison needs besides spec. */
interface Seen {
  raw: unknown;
  inputs: Inputs;
}

/** Immutable fields that differ from the resource, and whether a replacement may apply them. */
export function replacement(subject: Subject, seen?: Seen): Replacement | undefined {
  const { kind, object, status } = subject;
  const { fixed, lossAllowed, id, account } = status;
  const { holdsData } = kind.resource.destruction;
  // Spec may have changed during the creation. A resource cannot move to the contract of another Account.
  if (id !== undefined && account !== undefined && isElsewhere(object, account)) {
    return { fields: ["accountRef"], why: [`it belongs to ${accountTitle(account)}`], verdict: "final" };
  }
  if (!fixed) return undefined;
  const kept = isNamed(subject);
  const free = (isCompleted(subject) && kind.creationOnly) || [];
  const changed = Object.keys(kind.immutable).filter(
    (field) => !isAsRecorded(kind, object.spec, field, fixed[field]) && !free.includes(field),
  );
  const late = changed.filter((field) => !wasStated(kind, status, field));
  const judged = judge(subject, kept ? changed : late, seen);
  const known = (fields: string[]) => {
    const why = [...new Set(fields.map((field) => kind.immutable[field] ?? ""))];
    const drift = fields.flatMap((field) => judged.get(field) ?? []);
    return { fields, why, ...(drift.length > 0 && { late: { drift, holdsData } }) };
  };
  // A field that is known to be as on the platform has not changed. What spec left out at an adoption says nothing either.
  const isChanged = (field: string) =>
    isAdopted(status) && late.includes(field) ? !!judged.get(field)?.length : judged.get(field)?.length !== 0;
  const fields = changed.filter(isChanged);
  if (fields.length === 0) return undefined;
  const difference = known(fields);
  // Spec need not say all that this resource is: a new one could lack the rest.
  if (kept) return { ...difference, verdict: "kept" };
  if (policiesOf(object).replacePolicy === "Never") return { ...difference, verdict: "forbidden" };
  // "true" allows one change. The next one needs its generation.
  const { annotations, generation } = object.metadata;
  const isFirst = (lossAllowed ?? generation) === generation;
  const isExact = annotations?.[ALLOW_DATA_LOSS] === String(generation);
  const isLossAllowed = isExact || (isFirst && isAllowed(object, ALLOW_DATA_LOSS));
  const allowedBy = lossAllowed === undefined ? "true" : String(generation);
  return { ...difference, verdict: holdsData && !isLossAllowed ? { allowedBy } : "allowed" };
}

/** Whether spec names the resource, however the object got it. */
const isNamed = ({ object, status }: Pick<Subject, "object" | "status">): boolean => {
  const { externalId } = policiesOf(object);
  return externalId !== undefined && (isAdopted(status) || externalId === status.id);
};

/** Whether the resource was adopted, and spec still names it: spec may be completed with what was not known then. */
const isCompleted = ({ object, status }: Pick<Subject, "object" | "status">): boolean =>
  isAdopted(status) && policiesOf(object).externalId !== undefined;

const isAdopted = ({ adoptedAt, nonce }: ResourceStatus): boolean => adoptedAt !== undefined || nonce === undefined;

/**
 * Whether spec had a value for the field that the resource is known to have. Defaults were sent at a creation. At an
 * adoption they say nothing.
 */
function wasStated(kind: Kind, status: ResourceStatus, field: string): boolean {
  const { fixed = {} } = status;
  return field in fixed && (!isAdopted(status) || isStated(kind, field, fixed[field]));
}

/** How these fields differ from the platform. Fields that cannot be compared are not in the result. */
function judge({ kind, desired }: Subject, late: readonly string[], seen?: Seen): ReadonlyMap<string, Drift[]> {
  const fields = late.filter((field) => kind.comparable?.includes(field));
  if (fields.length === 0 || !desired || !seen) return new Map();
  const { raw, inputs } = seen;
  const targets = Object.entries(inputs.refs).map(([role, { id }]) => [role, id]);
  const parents = { ...Object.fromEntries(targets), ...inputs.parents };
  try {
    const { drift } = desired.compare(raw, { ...inputs, parents, adopted: true });
    return new Map(fields.map((field) => [field, drift.filter((each) => isWithin(each.field, field))]));
  } catch {
    // An answer that is not understood is reported where the whole resource is compared.
    return new Map();
  }
}

/** The record with the fields that spec has stated since, once they are known to be as on the platform. */
export function withStated({ kind, object, status }: Pick<Subject, "kind" | "object" | "status">) {
  const now = recordOf(kind, object.spec);
  const { comparable = [], creationOnly = [] } = kind;
  const isNew = (field: string) => field in now && isStated(kind, field, now[field]) && !wasStated(kind, status, field);
  const fields = isCompleted({ object, status }) ? [...comparable, ...creationOnly] : comparable.filter(isNew);
  const added = Object.entries(now).filter(([field]) => fields.includes(field));
  return status.fixed && { ...status.fixed, ...Object.fromEntries(added) };
}

/** Hashes for `status.internal.fixed` of the Secrets and lookups in mutable fields: they show what is outdated. */
export function sources({ immutable }: Kind, desired: Desired, inputs: Inputs): Record<string, string> {
  const secrets = desired.secrets.map(({ field, ...asked }) => ({ field, asked }));
  const checks = desired.check ? [desired.check] : [];
  const all = [...secrets, ...desired.lookups(inputs), ...checks].filter(
    ({ field, asked }) => asked !== undefined && !(field in immutable),
  );
  return Object.fromEntries(all.map(({ field, asked }) => [field, hashOf(asked)]));
}
const hashOf = (asked: unknown) => hashBody(asked).slice(0, 12);

/** The hash of the catalogue entry that spec names. */
export const checkedAs = ({ check }: Desired): string | undefined => check && hashOf(check.asked);

export const isUnchecked = (desired: Desired, outdated: readonly string[] = [], { checked }: Memory): boolean =>
  desired.check !== undefined && outdated.includes(desired.check.field) && checked?.what !== checkedAs(desired);

/** Fields whose Secret or lookup is not the one that the resource was last written with. */
export function outdatedSources(kind: Kind, desired: Desired, inputs: Inputs, status: ResourceStatus): string[] {
  const { fixed = {} } = status;
  const now = sources(kind, desired, inputs);
  const before = Object.keys(fixed).filter((field) => !(field in kind.immutable));
  return [...new Set([...Object.keys(now), ...before])].filter((field) => now[field] !== fixed[field]);
}

/** Hashes for `status.internal.fixed` of the immutable fields of spec. */
export const fixedFields = (kind: Kind, { spec }: KubeObject): Record<string, string> => recordOf(kind, spec);
