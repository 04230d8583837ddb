import { z } from "zod";
import type { Inputs, ObjectRef, Reference } from "../../desired.ts";
import { objectRef, whole } from "../fields.ts";
import { datacenterLocation } from "../location.ts";

/** An address of an IPBlock, by its index. */
export const reserved = z.object({
  ipBlockRef: objectRef("IPBlock").describe("IPBlock in the same location."),
  index: whole(0, 9999).default(0).describe("Index of the address in the IPBlock, from 0."),
});
type Reserved = z.output<typeof reserved>;

/** `field` is the path of the address in spec, and also the role of its IPBlock. */
export const blockReference = (target: ObjectRef, field: string): Reference => ({
  role: field,
  kind: "IPBlock",
  field,
  target,
  bond: "use",
});

const block = z.object({ ips: z.array(z.string()).default([]), location: z.string().optional() });

/** The address, and the size and location of its IPBlock; undefined while the IPBlock is not known. */
function reservation({ index }: Reserved, field: string, { refs }: Pick<Inputs, "refs">) {
  const shown = refs[field]?.status;
  if (!shown) return undefined;
  const { ips, location } = block.parse(shown);
  return { ip: ips[index], size: ips.length, location };
}

export const reservedAddress = (wanted: Reserved, field: string, inputs: Pick<Inputs, "refs">): string | undefined =>
  reservation(wanted, field, inputs)?.ip;

/**
 * The reason why the address cannot be used: the index is out of range, or the IPBlock is in another location. Without
 * `datacenterLookups`, the location may be unknown and is not checked.
 */
export function reservedProblem(wanted: Reserved, field: string, inputs: Inputs): string | undefined {
  const found = reservation(wanted, field, inputs);
  if (!found) return undefined;
  const { ip, size, location } = found;
  const name = `IPBlock ${wanted.ipBlockRef.name}`;
  if (ip === undefined) {
    return `${field}: index ${wanted.index} out of range for ${name}; valid: 0${size > 1 ? `–${size - 1}` : ""}`;
  }
  const here = datacenterLocation(inputs);
  if (here === undefined || location === undefined || location === here) return undefined;
  return `${field}: ${name} is in ${location}, the datacenter in ${here}: an address can only be used in its own location`;
}
