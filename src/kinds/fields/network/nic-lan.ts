import { z } from "zod";
import type { Inputs, Mention, ObjectRef, Reference } from "../../desired.ts";
import { exactlyOne, objectRef, whole } from "../fields.ts";

/** The LAN of a NIC, for every schema with NICs. */
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

/** `field` is the path of `lanRef` in spec, and also its role. */
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
 * A Lan must be in the same datacenter: elsewhere its number means another LAN, or creates one. In a Datacenter of
 * another namespace only `lanRef` is allowed, because a number could reach every LAN of that namespace.
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
