import { z } from "zod";
import type { Referent } from "../desired.ts";

/** Maximum number of list values in a column. */
const MOST = 4;

/** A list as one string for `kubectl get`, which would show a list as JSON. */
export function listed(values: readonly string[] | null | undefined): string | undefined {
  if (!values?.length) return undefined;
  const more = values.length - MOST;
  return `${values.slice(0, MOST).join(",")}${more > 0 ? `,+${more}` : ""}`;
}

/** A status field with the short form of a list. */
export const listedField = (what: string) => z.string().optional().describe(`${what} in short, for kubectl get.`);

/** Column value for a resource: the name of its object, if that is or was known, else its id. */
export const nameOf = (
  id: string | null | undefined,
  referent: Pick<Referent, "id" | "name"> | undefined,
  before?: unknown,
): string | undefined => {
  if (id == null) return undefined;
  return (referent?.id === id ? referent.name : undefined) ?? (typeof before === "string" ? before : id);
};
