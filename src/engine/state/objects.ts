import { grant } from "../../kinds/identity/grant.ts";
import { type Kind, usesAccount } from "../../kinds/kind.ts";
import { type KubeObject, keyOf } from "../../kube/resource.ts";
import { createAgeLimits, type LimitOf } from "../../kube/watch/age-limits.ts";
import { createIndex } from "../../kube/watch/keyed-index.ts";
import { reducedMetadata } from "../../kube/watch/reduced.ts";
import { type Change, createStore, type Store } from "../../kube/watch/store.ts";
import type { Obstacle } from "../status/reasons.ts";
import { trust, unknownKey } from "../status/trust.ts";
import { createClaims } from "./indexes/claims.ts";
import { createReferences } from "./indexes/references.ts";
import { FINALIZER, OWN } from "./names.ts";
import { type Found, keyTo, namespaceOf, type ObjectKey, objectKey } from "./object.ts";
import { namesIn, type Signatures } from "./signatures.ts";

/** All objects of all kinds, as last read, with the questions that one object has about others. */
export type Objects = ReturnType<typeof createObjects>;

type Seal = Pick<Signatures, "judge" | "believes">;
type Listener = (key: ObjectKey, change: Omit<Change<KubeObject>, "key">) => void;

export function createObjects(
  kinds: readonly Kind[],
  seal: Seal,
  onListenerError: (error: unknown) => void,
  labelsOf: (namespace: string) => Readonly<Record<string, string>> | undefined = () => undefined,
  limit: LimitOf = () => Number.POSITIVE_INFINITY,
) {
  const { stores, store, find } = createStores();
  const { noteReferences, noteGrant, ...references } = createReferences(labelsOf, find);
  const clusterAccounts = () => stores.get("ClusterAccount")?.store.values() ?? [];
  const { noteClaims, collectionOf, ...claims } = createClaims(kinds, find, clusterAccounts);
  const { judged, nameAll, noteNames } = createJudge(seal, collectionOf);
  const residents = createIndex();
  const unknown = new Set<ObjectKey>();
  const listeners: Listener[] = [];
  const limitListeners: ((key: ObjectKey) => void)[] = [];
  const limits = createAgeLimits(limit, (kind, namespace, name) => {
    const key = objectKey(kind, namespace, name);
    if (kind === grant.kind) noteGrant(`${namespace}/${name}`, unlessOverLimit(find(key)?.object));
    for (const listener of limitListeners) listener(key);
  });
  /** A Grant over the limit opens nothing. */
  const unlessOverLimit = (object: KubeObject | undefined) =>
    object && limits.isOver(grant.kind, object) ? undefined : object;

  for (const kind of kinds) {
    const keep = (arrived: KubeObject) => judged(kind, arrived, find(keyTo(kind, arrived))?.object);
    const created = createStore<KubeObject>({ onListenerError, reduce, keep, slot: trust });
    stores.set(kind.kind, { kind, store: created });
    created.subscribe(({ key: name, ...change }) => {
      const { after } = change;
      const key = `${kind.kind}/${name}`;
      noteReferences(kind, key, change);
      residents.set(key, after && kind.scope !== "Cluster" ? [namespaceOf(key)] : []);
      limits.note(kind.kind, change);
      if (kind.kind === grant.kind) noteGrant(name, unlessOverLimit(after));
      noteNames(kind, key, after);
      noteClaims(kind, key, change);
      if (after && unknownKey(after)) unknown.add(key);
      else unknown.delete(key);
      for (const listener of listeners) listener(key, change);
    });
  }

  return {
    ...references,
    ...claims,
    kinds,
    store,
    find,
    /** Objects that are signed with an unknown key. */
    unknown,
    /** Takes in an object that the API server has answered with, unless a newer one is known. Returns it with its verdict. */
    admit(kind: Kind, object: KubeObject): KubeObject {
      const known = store(kind.kind);
      const kept = judged(kind, known.reduce(object) ?? object, known.get(keyOf(object)));
      known.put(kept);
      return kept;
    },
    /** Judges every object anew after the signing keys changed. `pause` runs between two objects. */
    async judgeAgain(pause: () => Promise<void> | undefined): Promise<void> {
      const judging = kinds.filter(usesAccount);
      await nameAll(
        judging.map((kind) => ({ kind, objects: store(kind.kind).values() })),
        pause,
      );
      for (const kind of judging) await store(kind.kind).renew(pause);
    },
    /** Why an object is over the limit of its namespace; undefined when it is not. */
    excess: ({ kind }: Kind, object: KubeObject): Obstacle | undefined =>
      limits.isOver(kind, object) ? tooMany(kind, limit(kind)) : undefined,
    /** Objects of this namespace. */
    residents: (namespace: string): ObjectKey[] => residents.get(namespace),
    /** Calls back whenever an object appears, changes or goes. */
    subscribe: (listener: Listener): void => void listeners.push(listener),
    /** Calls back when an object gets over the limit of its namespace, or back below it. */
    onShift: (listener: (key: ObjectKey) => void): void => void limitListeners.push(listener),
  };
}

const tooMany = (kind: string, most: number): Obstacle => ({
  reason: "TooManyObjects",
  message: `a namespace may have ${most} ${kind} objects, and this one has as many that are older: ask the administrator to raise the limit (--limit ${kind}=N), or delete some of them; deletionPolicy: Retain keeps their resources`,
});

function createStores() {
  const stores = new Map<string, { kind: Kind; store: Store<KubeObject> }>();
  return {
    stores,
    store(kind: string): Store<KubeObject> {
      const found = stores.get(kind);
      if (!found) throw new Error(`there is no kind ${kind}`);
      return found.store;
    },
    find(key: ObjectKey): Found | undefined {
      const [name = "", ...rest] = key.split("/");
      const { kind, store } = stores.get(name) ?? {};
      const object = store?.get(rest.join("/"));
      return kind && object && { kind, object };
    },
  };
}

/** Leaves out the metadata of others. */
const reduce = (arrived: KubeObject): KubeObject => ({
  ...arrived,
  metadata: reducedMetadata(arrived.metadata, OWN, FINALIZER),
});

/** Judges objects when they enter a store. A number is an id only together with its collection (`collectionOf`). */
function createJudge(seal: Seal, collectionOf: (kind: string, parents: Record<string, string>) => string) {
  /** The ids that every object names, signed or not. Kept only while an administrator lets unsigned claims count. */
  let named: ReturnType<typeof createIndex> | undefined;
  const namesOf = (kind: Kind, object: KubeObject) =>
    namesIn(object).map(({ id, parents }) =>
      kind.resource?.identity.reusesIds ? `${collectionOf(kind.kind, parents)}/${id}` : id,
    );
  const noteNames = (kind: Kind, key: ObjectKey, object: KubeObject | undefined): void =>
    named?.set(key, object ? namesOf(kind, object) : []);
  return {
    noteNames,
    judged(kind: Kind, object: KubeObject, before: KubeObject | undefined): KubeObject {
      const isNamed = () =>
        namesOf(kind, object).some((name) => named?.get(name).some((key) => key !== keyTo(kind, object)) ?? true);
      if (usesAccount(kind)) seal.judge(kind.kind, object, isNamed, before);
      return object;
    },
    async nameAll(all: { kind: Kind; objects: Iterable<KubeObject> }[], pause: () => Promise<void> | undefined) {
      named = seal.believes() ? createIndex() : undefined;
      for (const { kind, objects } of named ? all : []) {
        for (const object of objects) {
          noteNames(kind, keyTo(kind, object), object);
          await pause();
        }
      }
    },
  };
}
