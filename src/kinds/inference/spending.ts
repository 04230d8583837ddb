import { fingerprint } from "../fields/fingerprint.ts";
import { inferenceAccess } from "./inference-access.ts";

/** The gateway's record of what accesses have of their budgets: ConfigMaps with this label, an entry for each access. */
export const SPENDING_LABEL = { "app.kubernetes.io/managed-by": "mooring-gateway" };

/** Their names. Many accesses do not fit into one ConfigMap, and would get in each other's way there. */
export const SPENDING_NAMES = Array.from({ length: 16 }, (_, nth) => `mooring-gateway-spending-${nth}`);

/** What an access has of the budget of a day. */
export interface Spent {
  day: string;
  eur: number;
}

/** The longest key that a ConfigMap has. */
const LONGEST_KEY = 253;

/** The name of an entry. A namespace has no dot. A name that would be too long is there as its hash, which is no object's name. */
export function entryOf(namespace: string, name: string): string {
  const entry = `${namespace}.${name}`;
  return entry.length <= LONGEST_KEY ? entry : `${namespace}._H${fingerprint(name)}`;
}
export const textOf = ({ day, eur }: Spent): string => `${day} ${eur}`;

export function readSpent(text: unknown): Spent | undefined {
  const [, day, eur] = /^(\d{4}-\d\d-\d\d) (\d+(?:\.\d+)?(?:e-?\d+)?)$/.exec(String(text)) ?? [];
  return day === undefined ? undefined : { day, eur: Number(eur) };
}

/** In place of the name of an access: what all accesses of a namespace have through a ClusterAccount. No object has such a name. */
export const namespaceEntry = (account: string): string => `_${account}`;

/** Whether an entry is about one access, not about a whole namespace. */
export const isOfAccess = (entry: string): boolean => !/^[^.]*\._[^H]/.test(entry);

/** The object that an entry is about; undefined for a whole namespace, and where only the hash of a name is known. */
export function objectOfEntry(entry: string): string | undefined {
  const dot = entry.indexOf(".");
  if (entry.startsWith("_", dot + 1)) return undefined;
  return `${inferenceAccess.kind}/${entry.slice(0, dot)}/${entry.slice(dot + 1)}`;
}
