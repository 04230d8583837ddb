import { type Resource, resourceIdentity } from "../diagnostics/landscape/resources.ts";
import { asJson, asList, type Json } from "../kinds/fields/compare.ts";
import { GROUP, VERSION } from "../kinds/index.ts";
import type { KubeObject } from "../kube/resource.ts";
import { inverse } from "./inverse.ts";
import { type LandscapeFacts, landscapeOf, shaped, unsaidIn } from "./irregular.ts";
import { namesFor } from "./names.ts";

/** An object for a resource, with notes about values that it cannot express. */
export interface Imported {
  resource: Resource;
  object: KubeObject;
  notes: { field: string; why: string }[];
}

export interface ImportOptions {
  namespace: string | undefined;
  accountRef: Json | undefined;
  /** Names by identity. */
  names?: ReadonlyMap<string, string>;
  /** Names that objects have: KIND/NAME. */
  taken?: ReadonlySet<string>;
  /** Resources that get no object. The other names are the same without them. */
  leftOut?: ReadonlySet<Resource>;
  /** Objects that imported ones can refer to: their names by identity, and their resources, as far as they were read. */
  owners?: ReadonlyMap<string, string>;
  owned?: readonly Resource[];
}

/** Objects that only observe. Their spec has all known fields, and references instead of ids. */
export function manifestsFor(all: readonly Resource[], options: ImportOptions): Imported[] {
  // The direct-attached volume of a Cube is created and deleted with it.
  const ownable = all.filter(({ kind, raw }) => kind.kind !== "Volume" || asJson(raw.properties).type !== "DAS");
  const names = namesFor(ownable, options.names, options.taken);
  const resources = ownable.filter((each) => !options.leftOut?.has(each));
  const byId = new Map([
    ...(options.owners ?? []),
    ...resources.map((each) => [resourceIdentity(each), names.get(each) ?? ""] as const),
  ]);
  const landscape = landscapeOf(resources, options.owned ?? [], (id) => byId.has(id));
  return resources.map((resource) => {
    const { kind, id } = resource;
    const notes: Imported["notes"] = unsaidIn(resource);
    const shape = shaped(resource, landscape);
    const spec = inverse(kind.spec, shape.raw, {
      renamed: kind.resource.names.fields ?? {},
      parents: shape.parents,
      objectOf: (key) => byId.get(key),
      lost: (field, why) => void notes.push({ field, why }),
    });
    const metadata = {
      name: names.get(resource) ?? "",
      ...(options.namespace !== undefined && { namespace: options.namespace }),
    };
    const { name: platformName, ...others } = spec;
    return {
      resource,
      notes,
      object: {
        apiVersion: `${GROUP}/${VERSION}`,
        kind: kind.kind,
        metadata,
        spec: {
          ...(options.accountRef && { accountRef: options.accountRef }),
          externalId: id,
          managementPolicy: "Observe",
          ...(platformName !== undefined && platformName !== metadata.name && { name: platformName }),
          ...withBlocks(others, landscape, byId),
        },
      },
    };
  });
}

/** Replaces addresses by references to IPBlocks that are imported as well. */
function withBlocks(spec: Json, { addresses }: LandscapeFacts, byId: ReadonlyMap<string, string>): Json {
  if (!Array.isArray(spec.nics)) return spec;
  const nics = asList(spec.nics).map((nic) => {
    const ips = Array.isArray(nic.ips) ? nic.ips.map(String) : [];
    const from = ips.flatMap((ip) => {
      const { block = "", index = 0 } = addresses.get(ip) ?? {};
      const name = byId.get(block);
      return name === undefined ? [] : [{ ip, ipBlockRef: { name }, index }];
    });
    if (from.length === 0) return nic;
    const { ips: _, ...rest } = nic;
    const others = ips.filter((ip) => !from.some((each) => each.ip === ip));
    const reserved = from.map(({ ipBlockRef, index }) => ({ ipBlockRef, index }));
    return { ...rest, ...(others.length > 0 && { ips: others }), ipsFrom: reserved };
  });
  return { ...spec, nics };
}
