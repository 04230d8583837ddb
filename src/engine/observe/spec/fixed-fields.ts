import type { Desired, Inputs } from "../../../kinds/desired.ts";
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
import type { SpecView, Subject } from "../view.ts";

/** Immutable fields that differ from what the resource was created from, and whether they may be applied by a replacement. */
export function replacement({ kind, object, status }: Subject): SpecView["replacement"] {
  const { fixed, nonce, lossAllowed, id, account } = status;
  // Spec may have changed during the creation. A resource cannot move to the contract of another Account.
  if (id !== undefined && account !== undefined && isElsewhere(object, account)) {
    return { fields: ["accountRef"], why: [`it belongs to ${accountTitle(account)}`], verdict: "final" };
  }
  // Status records all immutable fields of a created resource, and those in spec of an adopted one.
  if (!fixed) return undefined;
  const isRecorded = (field: string) => nonce || (field in fixed && isStated(kind, field, fixed[field]));
  const recorded = Object.keys(kind.immutable).filter(isRecorded);
  const fields = recorded.filter((field) => !isAsRecorded(kind, object.spec, field, fixed[field]));
  if (fields.length === 0) return undefined;
  const why = [...new Set(fields.map((field) => kind.immutable[field] ?? ""))];
  if (policiesOf(object).replacePolicy === "Never") return { fields, why, verdict: "forbidden" };
  // "true" allows one change. The next one needs its generation.
  const { annotations, generation } = object.metadata;
  const isFirst = (lossAllowed ?? generation) === generation;
  const isNamed = annotations?.[ALLOW_DATA_LOSS] === String(generation);
  const isLossAllowed = isNamed || (isFirst && isAllowed(object, ALLOW_DATA_LOSS));
  const allowedBy = lossAllowed === undefined ? "true" : String(generation);
  return { fields, why, verdict: kind.resource.destruction.holdsData && !isLossAllowed ? { allowedBy } : "allowed" };
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
