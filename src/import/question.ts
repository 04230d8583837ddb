import { resourceIdentity } from "../diagnostics/landscape/resources.ts";
import { yamlText } from "../diagnostics/manifest-text.ts";
import { allObjects, type MooringObject } from "../diagnostics/objects.ts";
import type { Sources } from "../diagnostics/sources.ts";
import { holdingsOf } from "../engine/state/object.ts";
import { factsOf } from "../engine/status/status.ts";
import type { Json } from "../kinds/fields/compare.ts";
import { kinds } from "../kinds/index.ts";
import { partsOf } from "../kinds/places.ts";
import type { Elsewhere } from "./elsewhere.ts";
import { existing } from "./existing.ts";
import { type ImportResult, importAll } from "./import.ts";

export interface ImportRequest {
  /** Kinds, plurals or short names. */
  kinds?: readonly string[] | undefined;
  /** Names or ids. */
  datacenters: readonly string[];
  manage: boolean;
  namespace?: string | undefined;
  accountRef?: Json | undefined;
  /** Only resources that another tool manages, with its names. */
  elsewhere?: Elsewhere | undefined;
}

/** The kinds with these names. */
export function kindsNamed(words: readonly string[]): ReadonlySet<string> {
  const found = words.map((word) => {
    const wanted = word.trim().toLowerCase();
    const kind = kinds.find(
      (each) => each.kind.toLowerCase() === wanted || each.plural === wanted || each.shortNames.includes(wanted),
    );
    if (!kind) throw new Error(`there is no kind "${word.trim()}"`);
    return kind.kind;
  });
  return new Set(found);
}

/** Existing resources as objects. Those that an object of the cluster has already are not imported. */
export async function importQuestion(sources: Sources, asked: ImportRequest): Promise<ImportResult> {
  const { kinds: words, datacenters, manage, namespace, accountRef, elsewhere } = asked;
  const filter = {
    kinds: words && kindsNamed(words),
    datacenters: datacenters.length > 0 ? new Set(datacenters) : undefined,
  };
  const schemaOf = await sources.schemas?.();
  if (!schemaOf) throw new Error("the schemas of the kinds are missing");
  const platform = await sources.platform();
  const inCluster = await objectsThere(sources, namespace);
  return importAll({
    platform,
    schemaOf,
    filter,
    manage,
    namespace,
    accountRef,
    ...(elsewhere && { names: elsewhere.names, only: true }),
    ...inCluster,
    sources,
  });
}

/** The objects of the cluster, as far as they can be read: they have names and resources that no new object can have. */
async function objectsThere(sources: Sources, namespace: string | undefined) {
  const held = new Map<string, string>();
  let taken: ReadonlySet<string> = new Set();
  let owners: ReadonlyMap<string, string> = new Map();
  let objects: MooringObject[] = [];
  try {
    objects = [...(await allObjects(sources, undefined)).values()];
    const there = existing(objects, namespace ?? (await sources.cluster()).namespace);
    ({ taken, owners } = there);
    for (const [identity, key] of there.held) held.set(identity, key);
    for (const { key, kind, object } of objects) {
      for (const claim of holdingsOf(object)) {
        held.set(resourceIdentity(claim), key);
        for (const { id } of partsOf(kind, object.spec, () => factsOf(object)))
          held.set(resourceIdentity({ ...claim, id }), key);
      }
    }
  } catch (error) {
    sources.signal.throwIfAborted();
    sources.missing?.(`objects of the cluster: ${error instanceof Error ? error.message : String(error)}`);
  }
  return { held, taken, owners, objects };
}

/** The manifests of existing resources, for callers that only read. */
export async function manifestsQuestion(
  sources: Sources,
  asked: {
    kinds?: string[] | undefined;
    datacenters?: string[] | undefined;
    manage: boolean;
    namespace?: string | undefined;
  },
) {
  const { kept, dropped, left, others } = await importQuestion(sources, {
    ...asked,
    datacenters: asked.datacenters ?? [],
  });
  return {
    items: kept.map(({ object, notes }) => ({
      kind: object.kind,
      name: object.metadata.name,
      manifest: yamlText(object),
      ...(notes.length > 0 && { not_in_spec: notes }),
    })),
    not_imported: [...dropped, ...left],
    of_other_clusters: others,
  };
}
