import type { Desired, Inputs } from "../../kinds/desired.ts";
import type { Kind, ResourceKind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { hashBody, hashFields } from "../../runtime/hash.ts";
import { memo } from "../../runtime/memo.ts";
import { titleOf } from "../accounts/accounts.ts";
import type { Memory } from "../state/memory.ts";
import { ALLOW_DATA_LOSS } from "../state/names.ts";
import type { ResourceStatus } from "../status/schema.ts";
import { isElsewhere } from "./unowned.ts";
import type { View } from "./view.ts";

/** Fields that the platform cannot change and that are not what the resource was made from; what may be done then. */
export function replacement(
  kind: ResourceKind,
  object: KubeObject,
  { fixed, nonce, lossAllowed, id, account }: ResourceStatus,
  policy: "Never" | "WhenNeeded",
): View["replacement"] {
  // Spec may have changed while the resource was being made. It belongs to the contract of the Account that made it.
  if (id !== undefined && account !== undefined && isElsewhere(object, account)) {
    return { fields: ["accountRef"], why: [`it belongs to ${titleOf(account)}`], verdict: "final" };
  }
  // What a resource was made from is on record where Mooring has made it; of one that was taken over, what spec said then.
  if (!fixed) return undefined;
  const recorded = Object.keys(kind.immutable).filter((field) => nonce !== undefined || field in fixed);
  const wanted = fixedFields(kind, object);
  const fields = recorded.filter((field) => fixed[field] !== wanted[field]);
  if (fields.length === 0) return undefined;
  const why = [...new Set(fields.map((field) => kind.immutable[field] ?? ""))];
  if (policy === "Never") return { fields, why, verdict: "forbidden" };
  // A word that was used for one change does not cover the next.
  const { annotations, generation } = object.metadata;
  const word = annotations?.[ALLOW_DATA_LOSS];
  const given = word === String(generation) || (word === "true" && (lossAllowed ?? generation) === generation);
  const allowedBy = lossAllowed === undefined ? "true" : String(generation);
  return { fields, why, verdict: kind.resource.destruction.holdsData && !given ? { allowedBy } : "allowed" };
}

/**
 * Stands there, too, for what is resolved when a body is made and may be resolved anew: Secrets and lookups of fields that
 * can be changed.
 */
export function sources({ immutable }: Kind, desired: Desired, inputs: Inputs): Record<string, string> {
  const secrets = desired.secrets.map(({ field, ...asked }) => ({ field, asked }));
  const checks = desired.check ? [desired.check] : [];
  const all = [...secrets, ...desired.lookups(inputs), ...checks].filter(
    ({ field, asked }) => asked !== undefined && !(field in immutable),
  );
  return Object.fromEntries(all.map(({ field, asked }) => [field, hashOf(asked)]));
}
const hashOf = (asked: unknown) => hashBody(asked).slice(0, 12);

/** What stands for that which was looked up in a catalogue. */
export const checkedAs = ({ check }: Desired): string | undefined => check && hashOf(check.asked);

export const isUnchecked = (desired: Desired, outdated: readonly string[] = [], { checked }: Memory): boolean =>
  desired.check !== undefined && outdated.includes(desired.check.field) && checked?.what !== checkedAs(desired);

export function outdatedSources(
  kind: Kind,
  desired: Desired,
  inputs: Inputs,
  { fixed = {} }: ResourceStatus,
): string[] {
  const now = sources(kind, desired, inputs);
  const before = Object.keys(fixed).filter((field) => !(field in kind.immutable));
  return [...new Set([...Object.keys(now), ...before])].filter((field) => now[field] !== fixed[field]);
}

/** Stands in `status.internal.fixed` for what a resource was created from. */
export const fixedFields = (kind: Kind, { spec }: KubeObject): Record<string, string> =>
  readersOf(kind.immutable)(Object(spec));

/** A spec is of one kind, and hashed once for all looks at it. */
const readersOf = memo((immutable: Kind["immutable"]) => {
  const fields = Object.keys(immutable);
  return memo((spec: object) => hashFields(spec, fields));
});
