import type { ClusterReader } from "../../diagnostics/cluster.ts";
import { allObjects } from "../../diagnostics/objects.ts";
import type { PlatformReader } from "../../diagnostics/reader.ts";
import type { Sources } from "../../diagnostics/sources.ts";
import { accountKinds } from "../../engine/accounts/accounts.ts";
import { keyTo, namedBy, type ObjectKey, observes, resourceOf } from "../../engine/state/object.ts";
import { policiesOf } from "../../engine/state/policies.ts";
import { clusterAccount } from "../../kinds/identity/cluster-account.ts";
import { grant } from "../../kinds/identity/grant.ts";
import { GROUP, kinds, VERSION } from "../../kinds/index.ts";
import { hasResource, type Kind } from "../../kinds/kind.ts";
import { isForbidden } from "../../kube/client/errors.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { systemClock } from "../../runtime/clock.ts";
import type { Manifests } from "./manifests.ts";

/** The objects in the cluster, as far as the caller may read them. */
export interface Live {
  objects: Map<ObjectKey, KubeObject>;
  /** Objects of the files, and objects that these refer to, that the caller may not read. */
  hidden: ReadonlySet<ObjectKey>;
  seesAllAccounts: boolean;
}

export const nothingLive: Live = { objects: new Map(), hidden: new Set(), seesAllAccounts: true };

interface Asked {
  manifests: Manifests;
  platform(): Promise<PlatformReader>;
  sources: Pick<Sources, "signal" | "progress" | "missing">;
}

/** The items of a list lack these fields. */
const typed = (kind: Kind, object: KubeObject): KubeObject => ({
  ...object,
  apiVersion: `${GROUP}/${VERSION}`,
  kind: kind.kind,
});

/** The objects that the cluster can have: nothing is asked about invalid names. */
const valid = ({ objects }: Manifests) => objects.filter(({ problem }) => problem === undefined);

/** Namespaces of the objects in the files and of their references. */
export function namespacesOf(manifests: Manifests): string[] {
  const all = valid(manifests).flatMap(({ kind, object }) => [
    object.metadata.namespace ?? "",
    ...namedBy(kind, object).flatMap(({ target }) => ("namespace" in target && target.namespace) || []),
  ]);
  return [...new Set(all.filter((name) => name !== ""))];
}

/** All objects that a plan of these files depends on. `deletes`: the plan may delete objects. */
export async function liveObjects(asked: Asked, reader: ClusterReader, deletes: boolean): Promise<Live> {
  const { sources, manifests } = asked;
  const { signal } = sources;
  const all = new Map<ObjectKey, KubeObject>();
  let isComplete = true;
  let seesAllAccounts = true;
  const missing = (what: string) => {
    isComplete = false;
    if (accountKinds.some(({ plural }) => what.startsWith(plural))) seesAllAccounts = false;
    sources.missing?.(what);
  };
  const sides = { cluster: async () => reader, platform: () => asked.platform() };
  const from = { ...sources, ...sides, missing, now: systemClock.now };
  const list = (kind: Kind) =>
    reader.list(resourceOf(kind), {}, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      if (!isForbidden(error)) throw error;
      return undefined;
    });
  for (const namespace of namespacesOf(manifests)) {
    for (const [key, { object }] of await allObjects(from, namespace)) all.set(key, object);
  }
  for (const kind of kinds.filter(({ scope }) => scope === "Cluster")) {
    const objects = await list(kind);
    if (!objects) missing(`${kind.plural} of the cluster: you may not list them`);
    for (const object of objects ?? []) all.set(keyTo(kind, object), typed(kind, object));
  }
  const abroad = abroadKinds(manifests, all, deletes);
  const unlisted: string[] = [];
  for (const kind of abroad) {
    const objects = await list(kind);
    if (!objects) unlisted.push(kind.plural);
    for (const object of objects ?? [])
      if (!all.has(keyTo(kind, object))) all.set(keyTo(kind, object), typed(kind, object));
  }
  if (unlisted.length > 0) {
    const what = unlisted.length > 3 ? "objects" : unlisted.join(", ");
    sources.missing?.(`${what} of other namespaces, which may own or use the same resources: you may not list them`);
  }
  const hidden = isComplete ? new Set<ObjectKey>() : await readByName(asked, reader, all);
  return { objects: all, hidden, seesAllAccounts };
}

/**
 * Kinds whose objects matter in all namespaces: an object anywhere may own what the files adopt, or use what they delete,
 * by a Grant or through a ClusterAccount.
 */
function abroadKinds({ objects }: Manifests, live: ReadonlyMap<ObjectKey, KubeObject>, deletes: boolean): Kind[] {
  const homes = new Set(objects.map(({ object }) => object.metadata.namespace));
  const isOpen = [...live.values()].some((each) => each.kind === grant.kind && homes.has(each.metadata.namespace));
  const namespaced = kinds.filter(({ scope }) => scope !== "Cluster").filter(hasResource);
  const isShared = objects.some(({ kind }) => kind.kind === clusterAccount.kind);
  if (deletes && (isOpen || isShared)) return namespaced;
  const typeOf = ({ resource }: Kind) => resource && `${resource.place.product}/${resource.names.type}`;
  const adopts = ({ kind, object }: Manifests["objects"][number]) =>
    policiesOf(object).externalId !== undefined &&
    !observes(object) &&
    Reflect.get(Object(live.get(keyTo(kind, object))?.status), "id") === undefined;
  const types = new Set(objects.filter(adopts).map(({ kind }) => typeOf(kind)));
  return namespaced.filter((kind) => types.has(typeOf(kind)));
}

/** Adds what a caller that may not list may still read by name. Returns what it may not read. */
async function readByName(
  { manifests, sources }: Asked,
  reader: ClusterReader,
  all: Map<ObjectKey, KubeObject>,
): Promise<Set<ObjectKey>> {
  const hidden = new Set<ObjectKey>();
  const inFiles = new Set(manifests.objects.map(({ kind, object }) => keyTo(kind, object)));
  const read = async (kind: Kind, key: ObjectKey, namespace: string | undefined, name: string) => {
    if (all.has(key) || hidden.has(key)) return;
    const found = await reader.find(resourceOf(kind), namespace, name, sources.signal).catch((error: unknown) => {
      if (!isForbidden(error)) throw error;
      hidden.add(key);
      return undefined;
    });
    if (found) all.set(key, found);
  };
  for (const { kind, object } of valid(manifests)) {
    const { namespace, name } = object.metadata;
    await read(kind, keyTo(kind, object), namespace, name);
    for (const { key, kind: word, target } of namedBy(kind, object)) {
      const named = kinds.find((each) => each.kind === word);
      if (!named || inFiles.has(key) || !("name" in target)) continue;
      await read(named, key, target.namespace ?? namespace, target.name);
    }
  }
  return hidden;
}
