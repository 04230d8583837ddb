import { z } from "zod";
import type { Inputs, ObjectRef, Reference } from "../../desired.ts";
import { objectRef, whole } from "../fields.ts";
import { datacenterLocation } from "../location.ts";

/** An address out of an IPBlock, by its place there. */
export const reserved = z.object({
  ipBlockRef: objectRef("IPBlock").describe("IPBlock in the same location."),
  index: whole(0, 9999).default(0).describe("Index of the address in the IPBlock, from 0."),
});
type Reserved = z.output<typeof reserved>;

/** `field` is where the address stands in spec, which is the role of its IPBlock as well. */
export const blockReference = (target: ObjectRef, field: string): Reference => ({
  role: field,
  kind: "IPBlock",
  field,
  target,
  bond: "use",
});

const block = z.object({ ips: z.array(z.string()).default([]), location: z.string().optional() });

/** What the IPBlock shows of the address; undefined while it is not known. */
function reservation({ index }: Reserved, field: string, { refs }: Pick<Inputs, "refs">) {
  const shown = refs[field]?.status;
  if (!shown) return undefined;
  const { ips, location } = block.parse(shown);
  return { ip: ips[index], size: ips.length, location };
}

export const reservedAddress = (taken: Reserved, field: string, inputs: Pick<Inputs, "refs">): string | undefined =>
  reservation(taken, field, inputs)?.ip;

/** Why the address cannot be had: the block is smaller, or elsewhere. Needs `datacenterLookups`. */
export function reservedProblem(taken: Reserved, field: string, inputs: Inputs): string | undefined {
  const found = reservation(taken, field, inputs);
  if (!found) return undefined;
  const { ip, size, location } = found;
  const name = `IPBlock ${taken.ipBlockRef.name}`;
  if (ip === undefined) {
    return `${field}: index ${taken.index} out of range for ${name}; valid: 0${size > 1 ? `–${size - 1}` : ""}`;
  }
  const here = datacenterLocation(inputs);
  if (here === undefined || location === undefined || location === here) return undefined;
  return `${field}: ${name} is in ${location}, the datacenter in ${here}: an address can only be used in its own location`;
}
