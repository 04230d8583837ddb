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

/** The name of an entry. A namespace has no dot. */
export const entryOf = (namespace: string, name: string): string => `${namespace}.${name}`;
export const textOf = ({ day, eur }: Spent): string => `${day} ${eur}`;

export function readSpent(text: unknown): Spent | undefined {
  const [, day, eur] = /^(\d{4}-\d\d-\d\d) (\d+(?:\.\d+)?(?:e-?\d+)?)$/.exec(String(text)) ?? [];
  return day === undefined ? undefined : { day, eur: Number(eur) };
}

/** In place of the name of an access: what all accesses of a namespace have through a ClusterAccount. No object has such a name. */
export const namespaceEntry = (account: string): string => `_${account}`;

/** The object that an entry is about; undefined for a whole namespace. */
export function objectOfEntry(entry: string): string | undefined {
  const dot = entry.indexOf(".");
  if (entry.startsWith("_", dot + 1)) return undefined;
  return `${inferenceAccess.kind}/${entry.slice(0, dot)}/${entry.slice(dot + 1)}`;
}
