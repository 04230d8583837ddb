import { nameIn, type Resource } from "./resources.ts";

const LONGEST = 50;

/** A name that the API server takes, as near to the given one as it gets. */
const valid = (text: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, LONGEST)
    .replaceAll(/^-+|-+$/g, "");

/** A part of an id that tells it from others, of a LAN with its datacenter. */
const short = ({ id, parents }: Resource): string =>
  /^\d+$/.test(id) ? `${valid(parents.datacenter ?? "").slice(0, 8)}-${id}` : valid(id).slice(0, 8);

/**
 * The names of objects, one for each resource: from what the platform calls it, else its kind and id. Those that would have the
 * same name all get a part of their id: so a name does not depend on what else there is in another order.
 */
export function namesFor(
  resources: readonly Resource[],
  given: ReadonlyMap<string, string> = new Map(),
): Map<Resource, string> {
  const wanted = resources.map((resource) => {
    const kind = resource.kind.kind.toLowerCase();
    const name = valid(given.get(resource.id) ?? nameIn(resource.raw));
    return { resource, name: name === "" ? `${kind}-${short(resource)}` : name };
  });
  const count = new Map<string, number>();
  const keyOf = ({ resource, name }: (typeof wanted)[number]) => `${resource.kind.kind}/${name}`;
  for (const each of wanted) count.set(keyOf(each), (count.get(keyOf(each)) ?? 0) + 1);
  return new Map(
    wanted.map((each) => {
      const isAlone = count.get(keyOf(each)) === 1;
      return [each.resource, isAlone ? each.name : `${each.name}-${short(each.resource)}`];
    }),
  );
}
