import { readClusters } from "../diagnostics/landscape/clusters.ts";
import { type Resource, resourceIdentity } from "../diagnostics/landscape/resources.ts";
import type { MooringObject } from "../diagnostics/objects.ts";
import type { PlatformReader } from "../diagnostics/reader.ts";
import type { Sources } from "../diagnostics/sources.ts";
import { asJson, type Json } from "../kinds/fields/compare.ts";
import type { Kind } from "../kinds/kind.ts";
import { makePlan } from "../plan/make.ts";
import { type Judged, judge } from "./judge.ts";
import { type Imported, manifestsFor } from "./manifests.ts";
import { type ImportFilter, readLandscape } from "./resources.ts";

export interface ImportAsked {
  platform: PlatformReader;
  schemaOf(kind: Kind): object;
  filter: ImportFilter;
  manage: boolean;
  namespace: string | undefined;
  accountRef: Json | undefined;
  /** Names by identity. With `only`, other resources are not imported. */
  names?: ReadonlyMap<string, string>;
  only?: boolean;
  /** Objects of the cluster that already have a resource, by its identity. */
  held?: ReadonlyMap<string, string>;
  /** All objects that can be read: their Accounts have the name of the cluster. */
  objects?: readonly MooringObject[];
  /** Names of objects of the namespace: KIND/NAME. */
  taken?: ReadonlySet<string>;
  /** Objects of the namespace that imported ones can refer to: their names by the identity of their resource. */
  owners?: ReadonlyMap<string, string>;
  sources: Pick<Sources, "signal" | "progress" | "missing">;
}

export interface ImportResult extends Judged {
  /** Kinds and resources that are not imported, with the reason. */
  left: { what: string; why: string }[];
  /** Imported resources that another cluster has created. */
  others: { what: string; cluster: string }[];
}

/** The resources of a contract as objects that change nothing when they are applied. */
export async function importAll(asked: ImportAsked): Promise<ImportResult> {
  const { platform, filter, names, only, held, taken, owners, sources, namespace } = asked;
  const { resources, left } = await readLandscape(platform, filter, sources);
  const unread = (why: string) => sources.missing?.(`labels of clusters: ${why}`);
  const clusters = await readClusters(platform, asked.objects ?? [], sources.signal, unread);
  const unclaimed = resources.filter(
    (each) => (!only || names?.has(resourceIdentity(each))) && !held?.has(resourceIdentity(each)),
  );
  for (const each of resources) {
    const holder = held?.get(resourceIdentity(each));
    if (holder !== undefined) left.push({ what: `${each.kind.kind} ${each.id}`, why: `${holder} has it already` });
  }
  const known = { ...(names && { names }), ...(taken && { taken }) };
  const planFor = async (objects: readonly Imported[]) => {
    const placed = objects.map(({ resource: { kind }, object }) => ({
      kind,
      object: { ...object, metadata: { ...object.metadata, namespace: namespace ?? "default" } },
    }));
    const manifests = { objects: placed, others: [], namespaces: [] };
    const quiet = { ...sources, missing: () => {} };
    const plan = await makePlan({
      manifests,
      cluster: undefined,
      platform: async () => platform,
      schemaOf: asked.schemaOf,
      sources: quiet,
      prices: false,
    });
    return plan.items;
  };
  const leftOut = new Set<Resource>();
  const dropped: Judged["dropped"] = [];
  for (;;) {
    const imported = manifestsFor(unclaimed, { namespace, accountRef: undefined, leftOut, ...known });
    const judged = await judge(imported, asked.manage, planFor);
    dropped.push(...judged.dropped);
    if (judged.dropped.length === 0) {
      const others = judged.kept.flatMap(({ object, resource }) => {
        const cluster = clusters.otherThanOwn(resource);
        return cluster === undefined ? [] : [{ what: `${object.kind} ${object.metadata.name}`, cluster }];
      });
      const owned = resources.filter((each) => owners?.has(resourceIdentity(each)));
      const referring = { namespace, accountRef: undefined, leftOut, ...known, ...(owners && { owners, owned }) };
      const final = new Map(manifestsFor(unclaimed, referring).map((each) => [each.resource, each.object]));
      const kept = judged.kept.map((each) => withReferences(each, final.get(each.resource)));
      return { kept: kept.map((each) => withAccount(each, asked.accountRef)), dropped, left, others };
    }
    // The others refer to what is left out, and are made again without it.
    const kept = new Set(judged.kept.map(({ resource }) => resource));
    for (const { resource } of imported) if (!kept.has(resource)) leftOut.add(resource);
  }
}

/**
 * The plan knows no objects of the cluster, so it has judged the ids of their resources. References to them mean the
 * same.
 */
const withReferences = ({ object, ...rest }: Imported, referring: Imported["object"] | undefined): Imported => {
  const { managementPolicy: _, ...spec } = asJson(referring?.spec);
  const observes = Object(object.spec).managementPolicy !== undefined;
  const whole = observes ? asJson(referring?.spec) : spec;
  return { ...rest, object: referring ? { ...object, spec: whole } : object };
};

const withAccount = ({ object, ...rest }: Imported, accountRef: Json | undefined): Imported => ({
  ...rest,
  object: accountRef ? { ...object, spec: { accountRef, ...Object(object.spec) } } : object,
});
