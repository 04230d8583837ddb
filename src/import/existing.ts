import { resourceIdentity } from "../diagnostics/landscape/resources.ts";
import type { MooringObject } from "../diagnostics/objects.ts";
import { asJson, type Json } from "../kinds/fields/compare.ts";

/** The objects of the namespace that imported ones are applied to. */
export interface Existing {
  /** Their names: KIND/NAME. */
  taken: Set<string>;
  /** Objects by the identity of the resource in spec.externalId, adopted or not. */
  held: Map<string, string>;
}

export function existing(objects: readonly MooringObject[], namespace: string): Existing {
  const own = objects.filter(({ object }) => object.metadata.namespace === namespace);
  const taken = new Set(own.map(({ kind, object }) => `${kind.kind}/${object.metadata.name}`));
  const held = new Map<string, string>();
  for (const { key, object } of own) {
    const spec = asJson(object.spec);
    if (typeof spec.externalId !== "string") continue;
    const datacenter = datacenterIn(spec, namespace, objects);
    held.set(resourceIdentity({ id: spec.externalId, parents: { ...(datacenter && { datacenter }) } }), key);
  }
  return { taken, held };
}

/** The id of the datacenter that a spec names. */
function datacenterIn(spec: Json, home: string, objects: readonly MooringObject[]): string | undefined {
  if (typeof spec.datacenterId === "string") return spec.datacenterId;
  const { name, namespace = home } = asJson(spec.datacenterRef);
  const key = `Datacenter/${namespace}/${name}`;
  const object = objects.find((each) => each.key === key)?.object;
  const id = asJson(object?.status).id ?? asJson(object?.spec).externalId;
  return typeof id === "string" ? id : undefined;
}
