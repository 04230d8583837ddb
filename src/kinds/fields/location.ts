import { z } from "zod";
import type { Choice, Inputs, Lookup } from "../desired.ts";
import { datacenterPath } from "./fields.ts";

const wire = z.object({ properties: z.object({ location: z.string() }) });
const FIELD = "datacenterId";

/** The location of the datacenter, from the status of its object or from the lookup. */
export function datacenterLocation({ refs, found }: Pick<Inputs, "refs" | "found">): string | undefined {
  const shown = refs.datacenter?.status.location;
  return typeof shown === "string" ? shown : found[FIELD];
}

/** Looks up the location of a datacenter that is known only by id. */
export function datacenterLookups(inputs: Pick<Inputs, "refs" | "found" | "parents">): Lookup[] {
  if (datacenterLocation(inputs) !== undefined) return [];
  const pick: Lookup["pick"] = (answer) => ({ value: wire.parse(answer).properties.location });
  return [{ field: FIELD, path: datacenterPath(inputs.parents), pick }];
}

const listed = z.object({ items: z.array(z.object({ id: z.string() })) });

export const locationChoice = (asked: string | undefined): Choice | undefined =>
  asked === undefined
    ? undefined
    : {
        field: "location",
        asked,
        path: "/locations?depth=1",
        valid: (answer) => listed.safeParse(answer).data?.items.map(({ id }) => id) ?? [],
      };

/** The locations whose images and snapshots are available in a location: de/fra/2 also has those of de/fra. */
export const imageLocations = (location: string): string[] => [location, location.split("/").slice(0, 2).join("/")];
