import { grant } from "../../kinds/identity/grant.ts";
import { type Kind, usesAccount } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { createIndex } from "../../kube/watch/keyed-index.ts";
import { reducedMetadata } from "../../kube/watch/reduced.ts";
import { type Change, createStore, type Store } from "../../kube/watch/store.ts";
import { identityOf } from "../../platform/collections/numbered.ts";

import type { Obstacle } from "../status/reasons.ts";
import { trust, unknownKey } from "../status/trust.ts";
import { createEqualIntents } from "./equal-intents.ts";
import { createGrants, type GrantChange } from "./grants.ts";
import type { Claim, Intent } from "./intent.ts";
import { FINALIZER, OWN } from "./names.ts";
import {
  claimOf,
  dependsOn,
  holdingsOf,
  holds,
  livesIn,
  type Named,
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
import { createReleasedIds } from "./released-ids.ts";
import { namesIn, type Signatures } from "./signatures.ts";

/**
 * All objects of all kinds, as last seen, with the questions that one object has about others: who names it, who
 * claims an id, who waits for the result of an equal creation. The answers are kept up to date by the stores' changes.
 */
export interface Objects {
  readonly kinds: readonly Kind[];
  store(kind: string): Store<KubeObject>;
  /** Takes in an object that the API server has answered with, unless a newer one is known. Returns it with its verdict. */
  admit(kind: Kind, object: KubeObject): KubeObject;
  /** Judges every object anew, between two of them with a pause: there are other keys. */
  judgeAgain(pause: () => Promise<void> | undefined): Promise<void>;
  /** Objects with words that are signed with a key that is not here. */
  readonly unknown: ReadonlySet<ObjectKey>;
  find(key: ObjectKey): { kind: Kind; object: KubeObject } | undefined;
  /**
   * The resource that an object owns, or observes. A signature is as good later as it was once: who has left a resource to
   * somebody else can say again that it is theirs. Of several, the one that adopted it last has it: nobody had it then. Else the
   * object that was there first.
   */
  owned(key: ObjectKey): Claim | undefined;
  /** Objects whose spec names this one, and which may. */
  referrers(key: ObjectKey): ObjectKey[];
  /** What an object's spec names and may, whether it exists or not. */
  named(kind: Kind, object: KubeObject): Named[];
  /** Whether objects of a namespace may refer to this one: it is theirs, or a Grant beside it admits them. */
  isOpenTo(namespace: string, key: ObjectKey): boolean;
  /** Of a Grant: objects of other namespaces whose spec names one of its namespace, whether it may or not. */
  guests(key: ObjectKey): ObjectKey[];
  /** Whether an object names something that this Grant opens to it after a change and did not before, or the other way round. */
  isConcerned(guest: ObjectKey, change: GrantChange): boolean;
  /** Objects that claim this id of the sort of this kind under these parents. One that only observes claims nothing. */
  claimants(kind: string, claim: Place): ObjectKey[];
  /** Objects of this namespace that claim this id, whatever they are. */
  holders(namespace: string | undefined, id: string): ObjectKey[];
  /**
   * Whether any object has, or has had, this resource: it answers no other creation. What an edit of its status has taken from
   * an object, that object still finds.
   */
  wasClaimed(kind: string, claim: Place, by?: ObjectKey): boolean;
  /** To be told of a resource that is deleted although no object claims it: it answers no creation any more. */
  spend(kind: string, place: Place): void;
  /** Objects with an open intent of this hash for what this kind makes, under these parents, in an order all agree on. */
  rivals(kind: string, intent: Pick<Intent, "hash" | "parents">): ObjectKey[];
  /** A creation whose object is gone counts among its equals, as the last one, until its intent is taken back. */
  linger(name: string, kind: string, intent: Intent | undefined): void;
  /** Objects whose resource lives in the one with this id at this address, or is about to. */
  inhabitants(id: string, endpoint: string | undefined): ObjectKey[];
  /** Objects with a resource, or one in the making, that lives under this object's or uses it. */
  dependants(key: ObjectKey): ObjectKey[];
  /** Objects of this kind whose resource is in the same collection, or is about to be. */
  neighbours(kind: string, parents: Place["parents"]): ObjectKey[];
  /** Why an object is one more than its namespace may have of its kind; undefined when it is not. */
  excess(kind: Kind, object: KubeObject): Obstacle | undefined;
  /** Objects of this namespace. */
  residents(namespace: string): ObjectKey[];
  /** Objects that hold something on the platform through this Account, or are about to. */
  users(account: string): ObjectKey[];
  /** The Account whose user this object is. */
  accountOf(key: ObjectKey): string | undefined;
  /** Calls back whenever an object appears, changes or goes. */
  subscribe(listener: (key: ObjectKey, change: Omit<Change<KubeObject>, "key">) => void): void;
}

interface CrowdOptions {
  limit?: LimitOf;
  /** An object has become one too many, or is no longer. */
  shifted?: (key: ObjectKey) => void;
}

export function createObjects(
  kinds: readonly Kind[],
  seal: Pick<Signatures, "judge" | "believes">,
  onListenerError: (error: unknown) => void,
  labelsOf: (namespace: string) => Readonly<Record<string, string>> | undefined = () => undefined,
  { limit = () => Number.POSITIVE_INFINITY, shifted = () => {} }: CrowdOptions = {},
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
    object && crowds.excess(grant.kind, object) ? undefined : object;
  const crowds = createObjectLimits(limit, (key) => {
    const { kind, namespace, name } = targetOf(key);
    if (kind === grant.kind) grants.set(`${namespace}/${name}`, counted(find(key)?.object));
    shifted(key);
  });
  const claims = createIndex();
  const holders = createIndex();
  const spent = createReleasedIds();
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
      crowds.note(kind.kind, change);
      if (kind.kind === grant.kind) grants.set(name, counted(after));
      named?.set(key, after ? namesOf(kind, after) : []);
      const claim = after && claimOf(after);
      const intent = after && openIntent(after);
      const [owned, had] = [ownedPlaces(kind, after), ownedPlaces(kind, before)];
      claims.set(key, owned);
      holders.set(key, claim ? [at(after.metadata.namespace, claim.id)] : []);
      for (const place of owned) if (!had.includes(place)) spent.delete(place);
      const loser = after && trust.get(after)?.claim !== "ours" ? key : undefined;
      for (const place of had) if (claims.get(place).length === 0) spent.add(place, loser);
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
    wasClaimed: (kind, claim, by) => spent.has(placeOf(kind, claim), by) || claimants(kind, claim).length > 0,
    spend: (kind, place) => spent.add(placeOf(kind, place)),
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
    excess: ({ kind }, object) => crowds.excess(kind, object),
    residents: (namespace) => residents.get(namespace),
    users: (account) => accounts.get(account),
    accountOf: (key) => accounts.wordsOf(key)[0],
    subscribe: (listener) => void listeners.push(listener),
  };
}

const keyTo = ({ kind }: Kind, { metadata }: KubeObject): ObjectKey =>
  objectKey(kind, metadata.namespace ?? "", metadata.name);

/** A claim that does not say at which address counts at every one. */
const anywhere = (endpoint: string | undefined, look: (endpoint: string | undefined) => ObjectKey[]): ObjectKey[] =>
  endpoint === undefined ? look(endpoint) : [...look(endpoint), ...look(undefined)];

/** Ids mean something at the address where they were given, or in a namespace. */
const at = (where: string | undefined, id: string): string => `${where ?? ""} ${id}`;
