import { grant } from "../../kinds/identity/grant.ts";
import { type Kind, usesAccount } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { createIndex } from "../../kube/watch/keyed-index.ts";
import { reducedMetadata } from "../../kube/watch/reduced.ts";
import { createStore, type Store } from "../../kube/watch/store.ts";
import { identityOf } from "../../platform/collections/numbered.ts";
import { trust, unknownKey } from "../status/trust.ts";
import { createEqualIntents } from "./equal-intents.ts";
import { createGrants } from "./grants.ts";
import { FINALIZER, OWN } from "./names.ts";
import {
  claimOf,
  dependsOn,
  holdingsOf,
  holds,
  livesIn,
  namedBy,
  namespaceOf,
  type ObjectKey,
  objectKey,
  observes,
  openIntent,
  type Place,
  targetOf,
} from "./object.ts";
import { createObjectLimits, type LimitOf } from "./object-limits.ts";
import type { Objects } from "./objects-interface.ts";
import { createReleasedIds } from "./released-ids.ts";
import { namesIn, type Signatures } from "./signatures.ts";

export type { Objects } from "./objects-interface.ts";

export function createObjects(
  kinds: readonly Kind[],
  seal: Pick<Signatures, "judge" | "believes">,
  onListenerError: (error: unknown) => void,
  labelsOf: (namespace: string) => Readonly<Record<string, string>> | undefined = () => undefined,
  limit: LimitOf = () => Number.POSITIVE_INFINITY,
): Objects {
  const stores = new Map<string, Store<KubeObject>>();
  const byName = new Map(kinds.map((kind) => [kind.kind, kind]));
  const references = createIndex();
  /** The namespaces besides its own that an object's spec names. */
  const abroad = createIndex();
  const grants = createGrants(labelsOf);
  const isOpenTo: Objects["isOpenTo"] = (namespace, key) =>
    namespaceOf(key) === namespace || grants.admit(targetOf(key), namespace);
  const referrers: Objects["referrers"] = (key) => {
    // Of a namespace with many objects it is asked once.
    const known = new Map<string, boolean>();
    return references.get(key).filter((referrer) => {
      const from = namespaceOf(referrer);
      const isOpen = known.get(from) ?? isOpenTo(from, key);
      known.set(from, isOpen);
      return isOpen;
    });
  };
  /** A Grant that is one too many opens nothing. */
  const counted = (object: KubeObject | undefined) =>
    object && limits.excess(grant.kind, object) ? undefined : object;
  const limits = createObjectLimits(limit, (key) => {
    const { kind, namespace, name } = targetOf(key);
    if (kind === grant.kind) grants.set(`${namespace}/${name}`, counted(find(key)?.object));
    for (const shifted of shiftListeners) shifted(key);
  });
  const claims = createIndex();
  const holders = createIndex();
  const released = createReleasedIds();
  const unknown = new Set<ObjectKey>();
  const accounts = createIndex();
  const parents = createIndex();
  const places = createIndex();
  const residents = createIndex();
  /** Not every id says by itself where it is: LANs are numbered in each datacenter. */
  const placeOf = (kind: string, place: Place) =>
    at(place.endpoint, `${houseOf(kind, place.parents)}/${identityOf(place)}`);
  /** Several kinds may have resources of one sort: what one of them has, no other takes. */
  const sortOf = (kind: string) => {
    const { place, names } = byName.get(kind)?.resource ?? {};
    return place && names ? `${place.product}/${names.type}` : kind;
  };
  const rivals = createEqualIntents(sortOf, (key) => find(key));
  const houseOf = (kind: string, within: Place["parents"]) =>
    `${sortOf(kind)}${byName.get(kind)?.resource?.place.collection(within) ?? ""}`;
  const ownedPlaces = (kind: Kind, object: KubeObject | undefined): string[] =>
    holdingsOf(object).flatMap((claim) => (object && holds(kind, object, claim) ? placeOf(kind.kind, claim) : []));
  const listeners: Parameters<Objects["subscribe"]>[0][] = [];
  const shiftListeners: ((key: ObjectKey) => void)[] = [];

  /** The door: what others keep in metadata is left out, and the verdict is made. */
  const reduce = (arrived: KubeObject): KubeObject => ({
    ...arrived,
    metadata: reducedMetadata(arrived.metadata, OWN, FINALIZER),
  });
  const judged = (kind: Kind, object: KubeObject): KubeObject => {
    const isNamed = () =>
      namesOf(kind, object).some((name) => named?.get(name).some((key) => key !== keyTo(kind, object)) ?? true);
    if (usesAccount(kind)) seal.judge(kind.kind, object, isNamed);
    return object;
  };
  /** What every object names, counted or not: while an administrator lets words count, from when everything was judged again. */
  let named: ReturnType<typeof createIndex> | undefined;
  const namesOf = (kind: Kind, object: KubeObject) =>
    namesIn(object).map(({ id, parents }) =>
      kind.resource?.identity.reusesIds ? `${houseOf(kind.kind, parents)}/${id}` : id,
    );
  for (const kind of kinds) {
    const keep = (arrived: KubeObject) => judged(kind, arrived);
    const store = createStore<KubeObject>({ onListenerError, reduce, keep, packed: trust });
    stores.set(kind.kind, store);
    store.subscribe(({ key: name, ...change }) => {
      const { before, after } = change;
      const key = `${kind.kind}/${name}`;
      if (!before || !after || before.spec !== after.spec) {
        const named = after ? [...new Set(namedBy(kind, after).map((reference) => reference.key))] : [];
        references.set(key, named);
        const others = named.map(namespaceOf).filter((namespace) => namespace !== namespaceOf(key));
        abroad.set(key, [...new Set(others)]);
        residents.set(key, after && kind.scope !== "Cluster" ? [namespaceOf(key)] : []);
      }
      limits.note(kind.kind, change);
      if (kind.kind === grant.kind) grants.set(name, counted(after));
      named?.set(key, after ? namesOf(kind, after) : []);
      const claim = after && claimOf(after);
      const intent = after && openIntent(after);
      const [owned, had] = [ownedPlaces(kind, after), ownedPlaces(kind, before)];
      claims.set(key, owned);
      holders.set(key, claim ? [at(after.metadata.namespace, claim.id)] : []);
      for (const place of owned) if (!had.includes(place)) released.delete(place);
      const loser = after && trust.get(after)?.claim !== "ours" ? key : undefined;
      for (const place of had) if (claims.get(place).length === 0) released.add(place, loser);
      if (after && unknownKey(after)) unknown.add(key);
      else unknown.delete(key);
      rivals.set(key, kind.kind, intent);
      const within = (claim ?? intent)?.parents;
      const { endpoint } = claim ?? intent ?? {};
      parents.set(
        key,
        livesIn(kind, within ?? {}).map((id) => at(endpoint, id)),
      );
      places.set(key, after && within && !observes(after) ? [houseOf(kind.kind, within)] : []);
      const { account } = claim ?? intent ?? {};
      accounts.set(key, account ? [account] : []);
      for (const listener of listeners) listener(key, change);
    });
  }

  const store = (kind: string): Store<KubeObject> => {
    const found = stores.get(kind);
    if (!found) throw new Error(`there is no kind ${kind}`);
    return found;
  };
  const find: Objects["find"] = (key) => {
    const [name = "", ...rest] = key.split("/");
    const kind = byName.get(name);
    const object = kind && stores.get(name)?.get(rest.join("/"));
    return object && { kind, object };
  };
  const claimants: Objects["claimants"] = (kind, place) =>
    anywhere(place.endpoint, (endpoint) => claims.get(placeOf(kind, { ...place, endpoint })));
  /** Orders objects that claim the same: the one that has it comes first. */
  const byRight = (...keys: [ObjectKey, ObjectKey]) => {
    const [a, b] = keys.map((key) => find(key)?.object);
    const [adopted, before] = [a, b].map((object) => holdingsOf(object)[0]?.adoptedAt ?? "");
    const [made, earlier] = [a, b].map((object) => Date.parse(object?.metadata.creationTimestamp ?? ""));
    return before?.localeCompare(adopted ?? "") || Number(made) - Number(earlier) || 0;
  };
  return {
    kinds,
    store,
    find,
    unknown,
    admit(kind, object) {
      const known = store(kind.kind);
      const kept = judged(kind, known.reduce(object) ?? object);
      known.put(kept);
      return kept;
    },
    async judgeAgain(pause) {
      const judging = kinds.filter(usesAccount);
      const all = seal.believes() ? createIndex() : undefined;
      named = all;
      for (const kind of all ? judging : []) {
        for (const object of store(kind.kind).values()) {
          all?.set(keyTo(kind, object), namesOf(kind, object));
          await pause();
        }
      }
      for (const kind of judging) await store(kind.kind).renew(pause);
    },
    owned(key) {
      const found = find(key);
      const claim = found && claimOf(found.object);
      if (!claim || observes(found.object)) return claim;
      if (!holds(found.kind, found.object, claim)) return undefined;
      if (found.kind.resource?.identity.shared) return claim;
      const [holder = key] = claimants(found.kind.kind, claim).sort(byRight);
      return holder === key ? claim : undefined;
    },
    referrers,
    named: (kind, object) => namedBy(kind, object).filter(({ key }) => isOpenTo(object.metadata.namespace ?? "", key)),
    isOpenTo,
    guests: (key) => (targetOf(key).kind === grant.kind ? abroad.get(namespaceOf(key)) : []),
    isConcerned: (guest, change) =>
      references.wordsOf(guest).some((key) => grants.differ(change, targetOf(key), namespaceOf(guest))),
    claimants,
    holders: (namespace, id) => holders.get(at(namespace, id)),
    wasClaimed: (kind, claim, by) => released.has(placeOf(kind, claim), by) || claimants(kind, claim).length > 0,
    spend: (kind, place) => released.add(placeOf(kind, place)),
    linger: rivals.set,
    rivals: rivals.of,
    inhabitants: (id, endpoint) => anywhere(endpoint, (where) => parents.get(at(where, id))),
    dependants(key) {
      const self = find(key);
      const names = references.wordsOf(key);
      return referrers(key).filter((referrer) => {
        const found = find(referrer);
        if (!found || !(claimOf(found.object) ?? openIntent(found.object))) return false;
        // Two that name each other would wait for each other for ever.
        const isMutual = self && names.includes(referrer) && dependsOn(self.kind, self.object, referrer);
        return !isMutual && dependsOn(found.kind, found.object, key);
      });
    },
    neighbours: (kind, within) => places.get(houseOf(kind, within)),
    excess: ({ kind }, object) => limits.excess(kind, object),
    residents: (namespace) => residents.get(namespace),
    users: (account) => accounts.get(account),
    accountOf: (key) => accounts.wordsOf(key)[0],
    subscribe: (listener) => void listeners.push(listener),
    onShift: (listener) => void shiftListeners.push(listener),
  };
}

const keyTo = ({ kind }: Kind, { metadata }: KubeObject): ObjectKey =>
  objectKey(kind, metadata.namespace ?? "", metadata.name);

/** A claim that does not say at which address counts at every one. */
const anywhere = (endpoint: string | undefined, look: (endpoint: string | undefined) => ObjectKey[]): ObjectKey[] =>
  endpoint === undefined ? look(endpoint) : [...look(endpoint), ...look(undefined)];

/** Ids mean something at the address where they were given, or in a namespace. */
const at = (where: string | undefined, id: string): string => `${where ?? ""} ${id}`;
