import type { Comparison, Drift, Inputs, Operation } from "../desired.ts";

/** Wanted and found values by field. An undefined wanted value is not compared. */
export type Pairs = Readonly<Record<string, readonly [wanted: unknown, found: unknown]>>;

/** The name a resource shall have. One that is observed or was adopted keeps its own where spec gives none. */
export const wantedName = (
  spec: { name?: string | undefined },
  { name, observed, adopted }: Pick<Inputs, "name" | "observed" | "adopted">,
) => spec.name ?? (observed || adopted ? undefined : name);

/**
 * A value that is fixed at creation. Of a resource that Mooring has created it is on record what that was; of one that was there
 * before, the platform tells it.
 */
export const wantedOfOthers = <T>(value: T, { observed, adopted }: Pick<Inputs, "observed" | "adopted">) =>
  observed || adopted ? value : undefined;

/** Collects what differs between wanted values and found ones. */
export function differences(pairs: Pairs): Drift[] {
  const drift: Drift[] = [];
  for (const [field, [wanted, found]] of Object.entries(pairs)) {
    if (wanted === undefined || same(wanted, found)) continue;
    drift.push({ field, wanted: show(wanted), found: show(found) });
  }
  return drift;
}

/** The wanted values among `pairs` that differ, ready to be sent as a PATCH body; undefined when there are none. */
export function changes(pairs: Pairs): Record<string, unknown> | undefined {
  const changed = Object.entries(pairs).filter(([, [wanted, found]]) => wanted !== undefined && !same(wanted, found));
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map(([field, [wanted]]) => [field, wanted]));
}

/** What one PATCH of one resource would change; the field names in the drift start with `prefix`. */
export function patch(prefix: string, path: string, changeable: Pairs, fixed: Pairs = {}): Comparison {
  const body = changes(changeable);
  const all = differences({ ...changeable, ...fixed });
  const drift: Drift[] = all.map((each) => ({ ...each, field: `${prefix}${each.field}` }));
  if (!body) return { drift };
  const fields = Object.keys(body).map((field) => `${prefix}${field}`);
  return stepOf({ action: "update", method: "PATCH", path, body }, fields, drift);
}

/** A write that changes these fields of all that differ. */
export function stepOf(write: Operation, fields: readonly string[], drift: Drift[]): Comparison {
  return { drift, next: fields.length < drift.length ? { fields, ...write } : write };
}

export type Json = Readonly<Record<string, unknown>>;

/** The members of a list in spec, which is complete, and those on the platform, by what tells them apart. */
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

/** What differs at any depth. What `wanted` does not set is not compared; members of lists are told apart by `key`. */
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
/** The parts in a list; none when it is no list. */
export const asList = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

export const fieldsOf = (drift: readonly Drift[]): string[] => drift.map(({ field }) => field);

/** Several comparisons of one resource as one: all that differs, and the first write of them. */
export function together(parts: readonly Comparison[]): Comparison {
  const drift = parts.flatMap((part) => part.drift);
  const first = parts.find((part) => part.next);
  return first?.next ? stepOf(first.next, fieldsOf(first.drift), drift) : { drift };
}

/** The entries that say something: neither absent nor null nor an empty list. */
export function known(facts: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(facts).filter(([, value]) => value != null && !(Array.isArray(value) && value.length === 0)),
  );
}

/** Equal as the platform means it: what is absent, null and empty says the same. */
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
