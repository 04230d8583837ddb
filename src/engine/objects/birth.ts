import { z } from "zod";
import { type Claim, SKEW_MS } from "./intent.ts";

const dated = z.looseObject({ metadata: z.looseObject({ createdDate: z.iso.datetime({ offset: true }) }) });

/** When the platform made a resource, as it shows that. */
export const bornOf = (raw: unknown): string | undefined => dated.safeParse(raw).data?.metadata.createdDate;

/** Whether what is seen under the id of a claim is what was claimed, and not the next one that was given this id. */
export function isClaimed({ born }: Claim, raw: unknown): boolean {
  const seen = bornOf(raw);
  return born === undefined || seen === undefined || Math.abs(Date.parse(seen) - Date.parse(born)) <= SKEW_MS;
}
