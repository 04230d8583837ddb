import { z } from "zod";
import type { Inputs, Mention, ObjectRef, Reference } from "../desired.ts";
import { exactlyOne, objectRef, whole } from "./fields.ts";

/** The LAN that a NIC is in; spread into whatever has NICs. */
export const lanFields = {
  lan: whole(1, 1_000_000)
    .optional()
    .describe(
      "Number of the LAN in the datacenter; created by the platform if it does not exist. Exactly one of lan and lanRef.",
    ),
  lanRef: objectRef("Lan").optional().describe("Lan in the same datacenter. Exactly one of lan and lanRef."),
};
export const lanRule = exactlyOne("lan", "lanRef");

interface InLan {
  lan?: number | undefined;
  lanRef?: ObjectRef | undefined;
}

/** `field` is where `lanRef` stands in spec, which is its role as well; its number stands beside it. */
export const lanReferences = ({ lanRef }: InLan, field: string): Reference[] =>
  lanRef ? [{ role: field, kind: "Lan", field, target: lanRef, bond: "use" }] : [];

export const lanMentions = ({ lan }: InLan, field: string): Mention[] =>
  lan === undefined ? [] : [{ field, value: String(lan), within: "datacenter" }];

export function lanNumber({ lan, lanRef }: InLan, field: string, { refs }: Pick<Inputs, "refs">): number | undefined {
  const id = lanRef ? refs[field]?.id : lan;
  return id === undefined ? undefined : Number(id);
}

const shown = z.object({ parents: z.object({ datacenter: z.string() }).optional() });

/**
 * The number of a LAN says nothing in another datacenter: there it is another LAN, or would become one. In a datacenter that
 * another namespace lends, a number would lead to every LAN of that namespace.
 */
export function lanProblem(
  { lanRef }: InLan,
  role: string,
  { refs, parents, abroad = [] }: Pick<Inputs, "refs" | "parents" | "abroad">,
  noun: string,
  fields = { ref: role, number: role.replace(/Ref$/, "") },
): string | undefined {
  if (!lanRef && abroad.includes("datacenter")) {
    return `${fields.number}: numbers are not allowed in a Datacenter of another namespace: use lanRef`;
  }
  const home = shown.parse(refs[role]?.status ?? {}).parents?.datacenter;
  if (!lanRef || home === undefined || home === parents.datacenter) return undefined;
  return `${fields.ref}: Lan ${lanRef.name} is in another datacenter (${home}): use a Lan in the ${noun}'s datacenter`;
}
