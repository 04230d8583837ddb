import { GROUP, kinds, VERSION } from "../../src/kinds/index.ts";
import { isSuccessive } from "../../src/kinds/kind.ts";

type Json = Record<string, unknown>;

/** A manifest that is accepted as it stands; rows patch its spec. */
export interface Base {
  kind: string;
  spec: object;
}

/** An accepted manifest: its title, and a merge patch of the base spec. */
export type AcceptedRow = [title: string, patch: unknown];
/** A refused manifest: also parts of the refusal, such as the field, the limit and the way out. */
type RefusedRow = [...AcceptedRow, ...says: string[]];

export interface Accepted {
  title: string;
  base: Base;
  patch: unknown;
}

export interface Refused extends Accepted {
  says: string[];
  /** The name of the object, if the name is what is wrong. */
  name?: string;
}

/** Manifests that the API server accepts and refuses. */
export interface Manifests {
  /** The smallest manifest, every limit, every value of every enum. */
  accepted: Accepted[];
  refused: Refused[];
  /** Changes of an object whose resource exists. */
  changes?: {
    accepted?: Accepted[];
    refused?: Refused[];
    /** Refused unless replacePolicy is WhenNeeded. */
    fixed?: Refused[];
  };
}

export const good = (base: Base, what: string, rows: AcceptedRow[]): Accepted[] =>
  rows.map(([title, patch]) => ({ title: `${what}: ${title}`, base, patch }));

export const bad = (base: Base, what: string, rows: RefusedRow[]): Refused[] =>
  rows.map(([title, patch, ...says]) => ({ title: `${what}: ${title}`, base, patch, says }));

/** One row for each value of a field. */
export const each = (field: string, values: readonly unknown[]): AcceptedRow[] =>
  values.map((value) => [`${field} ${value}`, { [field]: value }]);

export const long = (length: number) => "x".repeat(length);

/** Ids of resources on the platform. */
export const someId = "72e73b81-8551-4e74-b398-fc63b39994af";
export const otherId = "864c2c89-ea4d-4bf9-9a27-9acfeb436666";

/** Patches that many kinds have. */
export const observed = { managementPolicy: "Observe", externalId: someId };
export const datacenterById = { datacenterRef: null, datacenterId: someId };

/** The same manifest with other fields; `undefined` removes one. */
export const by = ({ kind, spec }: Base, change: object): Base => ({ kind, spec: { ...spec, ...change } });

/** The patch that sets one field, however deep. */
const at = ([first = "", ...rest]: string[], value: unknown): Json => ({
  [first]: rest.length > 0 ? at(rest, value) : value,
});

/** A token works for a while after the next one was made. */
const isKey = (base: Base) => kinds.some((kind) => kind.kind === base.kind && isSuccessive(kind));

/** A change of a field that the platform cannot change. */
export const fixedField = (base: Base, field: string, value: unknown, why: string, more: object = {}): Refused => ({
  title: `${base.kind}: another ${field}`,
  base,
  patch: { ...at(field.split("."), value), ...more },
  says: [
    `${field} cannot be changed: ${why}; keep it, or set replacePolicy: WhenNeeded, which ${
      isKey(base) ? "creates a new token and revokes this one" : `deletes the ${base.kind} `
    }`,
  ],
});

/** A change of the parent, by name and by id. */
export const fixedParent = (base: Base, role: string, why: string): Refused[] => [
  fixedField(base, `${role}Ref`, { name: "other" }, why),
  fixedField(by(base, { [`${role}Ref`]: undefined, [`${role}Id`]: someId }), `${role}Id`, otherId, why),
];

/** The base as an object, its spec changed by a JSON merge patch: null removes a field. */
export function patched(base: Base, namespace: string, name: string, patch: unknown = {}) {
  const isNamespaced = kinds.find(({ kind }) => kind === base.kind)?.scope !== "Cluster";
  return {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: base.kind,
    metadata: { ...(isNamespaced && { namespace }), name },
    spec: merge(base.spec, patch),
  };
}

function merge(target: unknown, patch: unknown): unknown {
  if (!isJson(patch)) return patch;
  const merged: Json = isJson(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else merged[field] = merge(merged[field], value);
  }
  return merged;
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
