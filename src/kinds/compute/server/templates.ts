import { z } from "zod";
import type { Lookup } from "../../desired.ts";

const catalogue = z.object({
  items: z.array(z.object({ id: z.string(), properties: z.object({ name: z.string() }) })),
});

/** Finds a template by name, ignoring case. */
export function templateLookup(field: string, wanted: string): Lookup {
  return {
    field,
    path: "/templates?depth=1",
    pick(answer) {
      const { items } = catalogue.parse(answer);
      const found = items.find(({ properties }) => properties.name.toLowerCase() === wanted.toLowerCase());
      if (found) return { value: found.id };
      const names = items.map(({ properties }) => properties.name).sort();
      return { problem: `template ${wanted} not found; valid: ${names.join(", ")}` };
    },
  };
}
