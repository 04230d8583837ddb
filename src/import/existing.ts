import { resourceIdentity } from "../diagnostics/landscape/resources.ts";
import type { MooringObject } from "../diagnostics/objects.ts";
import { claimOf, observes } from "../engine/state/object.ts";
import { asJson, type Json } from "../kinds/fields/compare.ts";

/** The objects of the namespace that imported ones are applied to. */
export interface Existing {
  /** Their names: KIND/NAME. */
  taken: Set<string>;
  /** Objects by the identity of the resource in spec.externalId, adopted or not. */
  held: Map<string, string>;
  /** Names of the objects that imported ones can refer to, by the identity of their resource. */
  owners: Map<string, string>;
}

export function existing(objects: readonly MooringObject[], namespace: string): Existing {
  const own = objects.filter(({ object }) => object.metadata.namespace === namespace);
  const taken = new Set(own.map(({ kind, object }) => `${kind.kind}/${object.metadata.name}`));
  const named = own.flatMap((each) => {
    const spec = asJson(each.object.spec);
    if (typeof spec.externalId !== "string") return [];
    const datacenter = datacenterIn(spec, namespace, objects);
    const identity = resourceIdentity({ id: spec.externalId, parents: { ...(datacenter && { datacenter }) } });
    return [{ ...each, identity }];
  });
  const claimed = own.flatMap((each) => {
    const claim = claimOf(each.object);
    return claim ? [{ ...each, identity: resourceIdentity(claim) }] : [];
  });
  const byRank = [
    ...named,
    ...claimed.filter(({ object }) => observes(object)),
    ...claimed.filter(({ object }) => !observes(object)),
  ];
  const lasting = byRank.filter(({ object }) => object.metadata.deletionTimestamp === undefined);
  return {
    taken,
    held: new Map(named.map(({ identity, key }) => [identity, key])),
    owners: new Map(lasting.map(({ identity, object }) => [identity, object.metadata.name])),
  };
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
