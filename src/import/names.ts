import { nameIn, type Resource, resourceIdentity } from "../diagnostics/landscape/resources.ts";

const LONGEST = 50;

/** A valid object name, as close to the given one as possible. */
const valid = (text: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, LONGEST)
    .replaceAll(/^-+|-+$/g, "");

/** A short form of the id; for a LAN with its datacenter. */
const short = ({ id, parents }: Resource): string =>
  /^\d+$/.test(id) ? `${valid(parents.datacenter ?? "").slice(0, 8)}-${id}` : valid(id).slice(0, 8);

/**
 * A unique object name for each resource, from its platform name, else from its kind and id. If several resources have
 * the same name, or an object has it (`taken`: KIND/NAME), they get a part of their id. Names do not depend on the order.
 */
export function namesFor(
  resources: readonly Resource[],
  given: ReadonlyMap<string, string> = new Map(),
  taken: ReadonlySet<string> = new Set(),
): Map<Resource, string> {
  const wanted = resources.map((resource) => {
    const kind = resource.kind.kind.toLowerCase();
    const name = valid(given.get(resourceIdentity(resource)) ?? nameIn(resource.raw));
    return { resource, name: name === "" ? `${kind}-${short(resource)}` : name };
  });
  const count = new Map<string, number>();
  const keyOf = ({ resource, name }: (typeof wanted)[number]) => `${resource.kind.kind}/${name}`;
  for (const each of wanted) count.set(keyOf(each), (count.get(keyOf(each)) ?? 0) + 1);
  const isFree = (each: (typeof wanted)[number]) => count.get(keyOf(each)) === 1 && !taken.has(keyOf(each));
  const used = new Set([...taken, ...wanted.filter(isFree).map(keyOf)]);
  const longer = new Map<Resource, string>();
  for (const each of wanted.filter((one) => !isFree(one)).sort(byIdentity)) {
    const base = `${each.name}-${short(each.resource)}`;
    let name = base;
    for (let nth = 2; used.has(keyOf({ ...each, name })); nth++) name = `${base}-${nth}`;
    used.add(keyOf({ ...each, name }));
    longer.set(each.resource, name);
  }
  return new Map(wanted.map(({ resource, name }) => [resource, longer.get(resource) ?? name]));
}

const byIdentity = (a: { resource: Resource }, b: { resource: Resource }): number =>
  resourceIdentity(a.resource) < resourceIdentity(b.resource) ? -1 : 1;
