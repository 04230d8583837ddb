import type { Comparison, Drift, Inputs, Operation } from "../desired.ts";
import type { Kind } from "../kind.ts";

/** Desired and found values by field. If the desired value is undefined, the field is not compared. */
export type Pairs = Readonly<Record<string, readonly [wanted: unknown, found: unknown]>>;

/** The desired name. An observed or adopted resource keeps its own name if spec sets none. */
export const wantedName = (
  spec: { name?: string | undefined },
  { name, observed, adopted }: Pick<Inputs, "name" | "observed" | "adopted">,
) => spec.name ?? (observed || adopted ? undefined : name);

/**
 * A value that is fixed at creation. It is compared only for a resource that Mooring did not create: for its own ones,
 * the value at creation is known.
 */
export const wantedOfOthers = <T>(value: T, { observed, adopted }: Pick<Inputs, "observed" | "adopted">) =>
  observed || adopted ? value : undefined;

/** The fields whose desired and found values differ. */
export function differences(pairs: Pairs): Drift[] {
  const drift: Drift[] = [];
  for (const [field, [wanted, found]] of Object.entries(pairs)) {
    if (wanted === undefined || same(wanted, found)) continue;
    drift.push({ field, wanted: show(wanted), found: show(found) });
  }
  return drift;
}

/** The desired values that differ, as a PATCH body; undefined if there are none. */
export function changes(pairs: Pairs): Record<string, unknown> | undefined {
  const changed = Object.entries(pairs).filter(([, [wanted, found]]) => wanted !== undefined && !same(wanted, found));
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map(([field, [wanted]]) => [field, wanted]));
}

/** The changes that one PATCH of one resource makes. Field names in the drift start with `prefix`. */
export function patch(prefix: string, path: string, changeable: Pairs, fixed: Pairs = {}): Comparison {
  const body = changes(changeable);
  const all = differences({ ...changeable, ...fixed });
  const drift: Drift[] = all.map((each) => ({ ...each, field: `${prefix}${each.field}` }));
  if (!body) return { drift };
  const fields = Object.keys(body).map((field) => `${prefix}${field}`);
  return stepOf({ action: "update", method: "PATCH", path, body }, fields, drift);
}

/** A write that changes `fields`, which may be only some of those with drift. */
export function stepOf(write: Operation, fields: readonly string[], drift: Drift[]): Comparison {
  return { drift, next: fields.length < drift.length ? { fields, ...write } : write };
}

export type Json = Readonly<Record<string, unknown>>;

/** Pairs the members of a list in spec with those on the platform. The list in spec is complete. */
export function paired<W, F>(wanted: readonly W[], found: readonly F[], isSame: (wanted: W, found: F) => boolean) {
  return {
    both: wanted.flatMap((each) => {
      const match = found.find((other) => isSame(each, other));
      return match === undefined ? [] : [[each, match] as const];
    }),
    missing: wanted.filter((each) => !found.some((other) => isSame(each, other))),
    surplus: found.filter((other) => !wanted.some((each) => isSame(each, other))),
  };
}

export const missing = (field: string): Drift => ({ field, wanted: "present", found: "absent" });
export const surplus = (field: string): Drift => ({ field, wanted: "absent", found: "present" });

/** Differences at any depth. Fields that `wanted` leaves out are not compared; members of lists are paired by `key`. */
export function nested(wanted: Json, found: Json, key = "name", path = ""): Drift[] {
  return Object.entries(wanted).flatMap(([name, value]) => {
    const field = `${path}${name}`;
    if (isJson(value)) return nested(value, asJson(found[name]), key, `${field}.`);
    if (!Array.isArray(value)) return differences({ [field]: [value, found[name]] });
    const at = (member: Json) => `${field}[${member[key]}]`;
    const members = paired(asList(value), asList(found[name]), (each, other) => each[key] === other[key]);
    return [
      ...members.both.flatMap(([each, other]) => nested(each, other, key, `${at(each)}.`)),
      ...members.missing.map((each) => missing(at(each))),
      ...members.surplus.map((each) => surplus(at(each))),
    ];
  });
}

export const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const asJson = (value: unknown): Json => (isJson(value) ? value : {});
/** The objects in a list; empty if the value is not a list. */
export const asList = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

/** Whether a field is this one, or is in it. */
export const isWithin = (field: string, whole: string): boolean => field === whole || field.startsWith(`${whole}.`);

/** A difference that cannot be changed in place, with the way out. What is lost cannot be stated in spec. */
export function driftInWords({ field, found, wanted }: Drift): string {
  const way =
    found === "absent"
      ? `to keep what is left, set deletionPolicy: Retain, delete the object, and create it again with externalId and without ${field}`
      : "change spec to what is there";
  return `${field} is ${found || "empty"} on the platform, not ${wanted || "empty"}, and cannot be changed in place: ${way}`;
}

const isSurplus = ({ wanted, found }: Drift) => wanted === "absent" && found === "present";

/** The differences from spec that no write can remove, or only by removing a member that spec does not name. */
export function misfits({ immutable, grows = [] }: Kind, drift: readonly Drift[]): Drift[] {
  const fixed = Object.keys(immutable);
  const isTooLarge = ({ field, wanted, found }: Drift) => grows.includes(field) && Number(found) > Number(wanted);
  return drift.filter(
    (each) => isSurplus(each) || fixed.some((whole) => isWithin(each.field, whole)) || isTooLarge(each),
  );
}

/** Why a resource with these misfits is not adopted, and what to correct. */
export function misfitsInWords(unfit: readonly Drift[]): string {
  const surplus = unfit.filter(isSurplus);
  const fixed = unfit.filter((each) => !isSurplus(each));
  const values = fixed.map(
    ({ field, found, wanted }) => `${field} is ${found || "empty"} on the platform and ${wanted || "empty"} in spec`,
  );
  const [them, fields] = fixed.length > 1 ? ["them", "the fields"] : ["it", "the field"];
  const correction = `${values.join("; ")}, and the platform cannot change ${them}: correct spec, or remove ${fields}`;
  const lists = [...new Set(surplus.map(({ field }) => field.split("[")[0]))].join(" and ");
  const [are, each, they] = surplus.length > 1 ? ["are", "them", "they"] : ["is", "it", "it"];
  const completion = `${fieldsOf(surplus).join(", ")} ${are} on the platform and not in spec, which would remove ${each}: add ${each} to spec, or leave out ${lists}; once adopted, ${they} can be removed`;
  return [...(fixed.length > 0 ? [correction] : []), ...(surplus.length > 0 ? [completion] : [])].join("; ");
}

export const fieldsOf = (drift: readonly Drift[]): string[] => drift.map(({ field }) => field);

/** Combines several comparisons of one resource: all drift, and the first write. */
export function together(parts: readonly Comparison[]): Comparison {
  const drift = parts.flatMap((part) => part.drift);
  const first = parts.find((part) => part.next);
  return first?.next ? stepOf(first.next, fieldsOf(first.drift), drift) : { drift };
}

/** The entries that have a value: not undefined, null or an empty list. */
export function known(facts: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(facts).filter(([, value]) => value != null && !(Array.isArray(value) && value.length === 0)),
  );
}

/** Equality as the platform treats it: absent, null and empty are the same. */
function same(wanted: unknown, found: unknown): boolean {
  return JSON.stringify(blank(wanted)) === JSON.stringify(blank(found));
}

function blank(value: unknown): unknown {
  if (value === null || value === undefined || value === "") return null;
  return Array.isArray(value) && value.length === 0 ? null : value;
}

function show(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Why nothing can be adopted: there is no resource with this id, or none that the kind would take, in these parents. */
export function notThere(kind: string, id: string | undefined, parents: Readonly<Record<string, string>>): string {
  const place = Object.entries(parents).map(([role, parent]) => `${role} ${parent}`);
  const where = place.length > 0 ? place.join(", ") : "the contract and region of this Account";
  return `there is no ${id === undefined ? `such ${kind}` : `${kind} ${id}`} in ${where}`;
}
