import { z } from "zod";
import type { Referent } from "../desired.ts";

/** So many values of a list are shown in a column. */
const MOST = 4;

/** A list as `kubectl get` shows it: a column of a list itself would be JSON. */
export function listed(values: readonly string[] | null | undefined): string | undefined {
  if (!values?.length) return undefined;
  const more = values.length - MOST;
  return `${values.slice(0, MOST).join(",")}${more > 0 ? `,+${more}` : ""}`;
}

/** A field of status that has a list in short. */
export const listedField = (what: string) => z.string().optional().describe(`${what} in short, for kubectl get.`);

/** What a column shows for a resource that is there: the name of its object, as far as that is or was known, else its id. */
export const nameOf = (
  id: string | null | undefined,
  referent: Pick<Referent, "id" | "name"> | undefined,
  before?: unknown,
): string | undefined => {
  if (id == null) return undefined;
  return (referent?.id === id ? referent.name : undefined) ?? (typeof before === "string" ? before : id);
};
