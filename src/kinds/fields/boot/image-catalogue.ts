import { z } from "zod";
import type { Lookup } from "../../desired.ts";
import { imageLocations } from "../location.ts";

const catalogue = z.object({
  items: z.array(
    z.object({
      id: z.string(),
      properties: z.object({
        name: z.string().nullish(),
        location: z.string().nullish(),
        imageType: z.string().nullish(),
        cloudInit: z.string().nullish(),
        imageAliases: z.array(z.string()).nullish(),
      }),
    }),
  ),
});

export interface ImageFilters {
  alias?: string | undefined;
  name?: string | undefined;
  type: string;
  cloudInit?: string | undefined;
  location: string | undefined;
}

/** Compares digits as numbers: rocky-10 is newer than rocky-9. */
const { compare } = new Intl.Collator("en", { numeric: true });

/** The newest image, by name, that passes the filters; or a problem that lists the most similar ones. */
export function newestImage(answer: unknown, filters: ImageFilters): ReturnType<Lookup["pick"]> {
  const { alias, name = "", type, cloudInit, location } = filters;
  const places = location === undefined ? undefined : imageLocations(location);
  const offered = catalogue.parse(answer).items.filter(({ properties }) => {
    if (places && !places.includes(properties.location ?? "")) return false;
    return properties.imageType === type && (cloudInit === undefined || properties.cloudInit === cloudInit);
  });
  const matching = offered.filter(({ properties }) => {
    if (alias !== undefined && !properties.imageAliases?.includes(alias)) return false;
    return properties.name?.toLowerCase().startsWith(name.toLowerCase()) ?? name === "";
  });
  const [newest] = matching.sort((a, b) => compare(b.properties.name ?? "", a.properties.name ?? ""));
  if (newest) return { value: newest.id };
  const asked = Object.entries({ alias, name: filters.name, type, cloudInit, location });
  const listed = asked.flatMap(([filter, value]) => (value === undefined ? [] : [`${filter} ${value}`])).join(", ");
  const aliases = offered.flatMap(({ properties }) => properties.imageAliases ?? []);
  if (alias === undefined && aliases.includes(name)) {
    return { problem: `no image with ${listed}; ${name} is an alias: set imageLookup.alias instead of name` };
  }
  const names = offered.flatMap(({ properties }) => properties.name ?? []);
  const near = nearest(alias === undefined ? names : aliases, (alias ?? name).toLowerCase());
  return {
    problem: `no image with ${listed}; ${near ? `similar: ${near}` : "no image is similar"}`,
  };
}

/** Up to three of these; those with the longest common prefix first. */
function nearest(offers: readonly string[], wanted: string): string {
  const commonPrefix = (offer: string) => {
    const differs = [...offer].findIndex((letter, index) => letter.toLowerCase() !== wanted[index]);
    return differs < 0 ? offer.length : differs;
  };
  return [...new Set(offers)]
    .sort((a, b) => commonPrefix(b) - commonPrefix(a) || compare(b, a))
    .slice(0, 3)
    .join(", ");
}
