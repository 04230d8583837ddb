import { isReleased, namedBy, type ObjectKey, openIntent } from "../../engine/state/object.ts";
import { readStatus } from "../../engine/status/status.ts";
import { asJson, asList } from "../../kinds/fields/compare.ts";
import type { MooringObject } from "../objects.ts";
import { type Resource, resourceIdentity } from "./resources.ts";

/** Fields whose value is unique only within a datacenter: the number of a LAN. */
const LAN_FIELDS: ReadonlySet<string> = new Set(["lan", "lanId", "externalId"]);
/** The platform lists here who uses a resource, not what the resource uses. */
const CONSUMERS = "ipConsumers";

/** The objects that need each resource, by its identity: they own it, name it, or their resource is in it or uses it. */
export function usersOf(objects: readonly MooringObject[], found: readonly Resource[]): Map<string, ObjectKey[]> {
  const resources = new Map(found.flatMap((each) => wordsFor(each).map((word) => [word, resourceIdentity(each)])));
  const needs = new Map(found.map((each) => [resourceIdentity(each), neededBy(each, resources)]));
  // A volume needs the server that it is attached to, as the server needs the volume.
  for (const each of found) {
    for (const volume of volumesOf(each)) needs.get(volume)?.push(resourceIdentity(each));
  }
  const byKey = new Map(objects.map((each) => [each.key, each]));
  const users = new Map<string, ObjectKey[]>();
  for (const each of objects.filter(({ object }) => !isReleased(object))) {
    const reached = new Set(namedIn(each, byKey, resources));
    // The set grows while it is read: what is needed by a resource that is needed.
    for (const identity of reached) for (const next of needs.get(identity) ?? []) reached.add(next);
    for (const identity of reached) {
      const known = users.get(identity);
      if (known) known.push(each.key);
      else users.set(identity, [each.key]);
    }
  }
  return users;
}

/** The identities of resources, by the words that mean them. */
type Resources = ReadonlyMap<string, string>;

/** The names of a resource elsewhere: its identity, and the addresses that it reserves. */
const wordsFor = (each: Resource): string[] => {
  const { ips } = asJson(each.raw.properties);
  return [resourceIdentity(each), ...(Array.isArray(ips) ? ips.map(String) : [])];
};

const volumesOf = ({ raw }: Pick<Resource, "raw">): string[] =>
  asList(asJson(asJson(raw.entities).volumes).items).map(({ id }) => String(id));

/** The parents of a resource, the resources that its properties name, and those attached to it. */
function neededBy({ parents, raw }: Resource, resources: Resources): string[] {
  // Not what else is in a NIC, such as a flow log: the server does not need it.
  const nics = asList(asJson(asJson(raw.entities).nics).items).map(({ properties }) => properties);
  return identitiesIn([parents, raw.properties, nics, volumesOf({ raw })], resources, []);
}

/** The resources that an object names: in spec, in its status and in a creation that has no answer yet. */
function namedIn(
  { kind, object }: MooringObject,
  byKey: ReadonlyMap<ObjectKey, MooringObject>,
  resources: Resources,
): string[] {
  const { id, parents } = readStatus(object);
  const around = namedBy(kind, object).flatMap(({ key }) => {
    const target = byKey.get(key);
    return target ? [readStatus(target.object).id ?? "", String(asJson(target.object.spec).externalId)] : [];
  });
  const stated = { externalId: id, parents };
  return identitiesIn([object.spec, stated, openIntent(object)?.parents], resources, around);
}

/** The resources whose ids are somewhere in these values. A LAN is meant by its number in any datacenter that is known. */
function identitiesIn(values: readonly unknown[], resources: Resources, datacenters: readonly string[]): string[] {
  const texts = new Set<string>();
  const numbers = new Set<string>();
  const visit = (value: unknown, field: string): void => {
    if (field === CONSUMERS) return;
    if (Array.isArray(value)) for (const each of value) visit(each, field);
    else if (typeof value === "object" && value !== null) {
      for (const [name, each] of Object.entries(value)) visit(each, name);
    } else if (LAN_FIELDS.has(field) && /^\d+$/.test(String(value))) numbers.add(String(value));
    else if (typeof value === "string") texts.add(value);
  };
  for (const each of values) visit(each, "");
  const inside = [...texts, ...datacenters].flatMap((id) => [...numbers].map((number) => `${id}/${number}`));
  return [...texts, ...inside].flatMap((word) => resources.get(word) ?? []);
}
