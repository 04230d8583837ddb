import { fingerprint } from "../fields/bounded.ts";
import { inferenceAccess } from "./inference-access.ts";

/** Label of the ConfigMaps in which the gateway records the spending of each InferenceAccess. */
export const SPENDING_LABEL = { "app.kubernetes.io/managed-by": "mooring-gateway" };

/** The names of these ConfigMaps. One ConfigMap would be too small for many accesses and a point of write conflicts. */
export const SPENDING_NAMES = Array.from({ length: 16 }, (_, nth) => `mooring-gateway-spending-${nth}`);

/** The budget that an InferenceAccess has taken on one day. */
export interface Spent {
  day: string;
  eur: number;
}

/** The maximum key length in a ConfigMap. */
const LONGEST_KEY = 253;

/**
 * The key of an entry. A namespace contains no dot. A name that is too long is replaced by its hash, which is not a
 * valid object name.
 */
export function entryOf(namespace: string, name: string): string {
  const entry = `${namespace}.${name}`;
  return entry.length <= LONGEST_KEY ? entry : `${namespace}._H${fingerprint(name)}`;
}
export const textOf = ({ day, eur }: Spent): string => `${day} ${eur}`;

/** Sums of floating point numbers have digits that mean nothing. */
const DIGITS = 12;

export function readSpent(text: unknown): Spent | undefined {
  const [, day, eur] = /^(\d{4}-\d\d-\d\d) (\d+(?:\.\d+)?(?:e-?\d+)?)$/.exec(String(text)) ?? [];
  return day === undefined ? undefined : { day, eur: Number(Number(eur).toFixed(DIGITS)) };
}

/**
 * Takes the place of an access name in the entry for a whole namespace that uses a ClusterAccount. It is not a valid
 * object name.
 */
export const namespaceEntry = (account: string): string => `_${account}`;

/**
 * Whether an entry is for one access instead of a whole namespace. A hash also begins with `_`, but then has an H, which
 * no account name contains.
 */
export const isOfAccess = (entry: string): boolean => !/^[^.]*\._[^H]/.test(entry);

/** The object of an entry; undefined for a whole namespace, and for an entry that contains only a hash. */
export function objectOfEntry(entry: string): string | undefined {
  const dot = entry.indexOf(".");
  if (entry.startsWith("_", dot + 1)) return undefined;
  return `${inferenceAccess.kind}/${entry.slice(0, dot)}/${entry.slice(dot + 1)}`;
}
