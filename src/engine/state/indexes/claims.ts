import type { Kind } from "../../../kinds/kind.ts";
import { livesIn } from "../../../kinds/lives.ts";
import { at, createPlaces } from "../../../kinds/places.ts";
import type { KubeObject } from "../../../kube/resource.ts";
import { createIndex } from "../../../kube/watch/keyed-index.ts";
import { identityOf } from "../../../platform/collections/numbered.ts";
import { factsOf, readStatus } from "../../status/status.ts";
import { countedAnnotation, trust } from "../../status/trust.ts";
import { isSuperseded } from "../adoptions.ts";
import { type Claim, type Intent, readIntent } from "../intent.ts";
import { INTENT } from "../names.ts";
import { claimOf, type Found, holdingsOf, holds, type ObjectKey, observes, openIntent, type Place } from "../object.ts";
import type { Edit } from "./references.ts";
import { createReleasedIds } from "./released-ids.ts";

type Find = (key: ObjectKey) => Found | undefined;
type Wanted = Pick<Intent, "hash" | "parents">;
const AFTER_ALL_DATES = "last";

/** Which objects have something on the platform, or are about to. One that only observes claims nothing. */
export function createClaims(kinds: readonly Kind[], find: Find, clusterAccounts: () => Iterable<KubeObject>) {
  const { typeOf, collectionOf, placeOf, placesOf } = createPlaces(kinds, identityOf);
  const claims = createIndex();
  const holders = createIndex();
  const released = createReleasedIds();
  const accounts = createIndex();
  const parents = createIndex();
  const neighbours = createIndex();
  const intents = createIndex();
  const intentKey = (kind: string, { hash, parents }: Wanted) =>
    `${typeOf(kind)}/${hash}/${JSON.stringify(Object.entries(parents).sort())}`;
  const begunAt = (key: ObjectKey): string => {
    const object = find(key)?.object;
    return (object && readIntent(countedAnnotation(object, INTENT))?.at) ?? AFTER_ALL_DATES;
  };
  const ownedPlaces = (kind: Kind, object: KubeObject | undefined): string[] =>
    holdingsOf(object).flatMap((claim) =>
      object && holds(kind, object, claim) ? placesOf(kind, claim, object.spec, () => factsOf(object)) : [],
    );
  /** Objects that claim this resource, also objects of other kinds with resources of the same type. */
  const claimants = (kind: string, place: Place): ObjectKey[] => {
    const word = placeOf(kind, place);
    return claims.get(word).filter((key) => !isVoid(word, find(key)));
  };
  /** A claim from before an adoption stays void, also while the object that adopted is absent, through whichever ClusterAccount. */
  const isVoid = (word: string, found: Found | undefined): boolean => {
    const [claim] = holdingsOf(found?.object);
    if (!found || !claim || placeOf(found.kind.kind, claim) !== word) return false;
    return isSuperseded(clusterAccounts(), word, claim);
  };
  /** An open intent, or none. That of an object that is gone is the last among its rivals. */
  const noteIntent = (name: string, kind: string, intent: Wanted | undefined): void =>
    intents.set(name, intent ? [intentKey(kind, intent)] : []);
  return {
    collectionOf,
    placeOf,
    claimants,
    noteIntent,
    noteClaims(kind: Kind, key: ObjectKey, { before, after }: Edit): void {
      const claim = after && claimOf(after);
      const intent = after && openIntent(after);
      const [owned, had] = [ownedPlaces(kind, after), ownedPlaces(kind, before)];
      claims.set(key, owned);
      holders.set(key, claim ? [at(after.metadata.namespace, claim.id)] : []);
      for (const place of owned) if (!had.includes(place)) released.delete(place);
      // The intent that the claim has answered is open again: the API server was restored.
      const isSetBack = before && intent && readStatus(before).nonce === intent.nonce;
      const loser = after && (isSetBack || trust.get(after)?.claim !== "ours") ? key : undefined;
      for (const place of had) if (claims.get(place).length === 0) released.add(place, loser);
      noteIntent(key, kind.kind, intent);
      const { account, endpoint, parents: within } = claim ?? intent ?? {};
      parents.set(key, within ? livesIn(kind, within).map((id) => at(endpoint, id)) : []);
      neighbours.set(key, after && within && !observes(after) ? [collectionOf(kind.kind, within)] : []);
      accounts.set(key, account ? [account] : []);
    },
    /**
     * The resource that an object owns, or observes. A former status has a valid signature, too: of several objects that claim a
     * resource, the one that adopted it last has it, because nobody had it then; else the oldest object.
     */
    owned(key: ObjectKey): Claim | undefined {
      const found = find(key);
      const claim = found && claimOf(found.object);
      if (!claim || observes(found.object)) return claim;
      if (!holds(found.kind, found.object, claim)) return undefined;
      if (found.kind.resource?.identity.shared) return claim;
      const claiming = claimants(found.kind.kind, claim);
      const [holder] = claiming.sort((a, b) => byRight(find(a)?.object, find(b)?.object));
      return holder === key ? claim : undefined;
    },
    /** Objects of this namespace that claim this id, whatever they are. */
    holders: (namespace: string | undefined, id: string): ObjectKey[] => holders.get(at(namespace, id)),
    /** Whether an object has, or has had, this resource: it answers no other creation. `by` may reclaim what an edit took. */
    wasClaimed: (kind: string, place: Place, by?: ObjectKey): boolean =>
      released.has(placeOf(kind, place), by) || claims.get(placeOf(kind, place)).length > 0,
    /** This resource is the result of no open creation, except that of `by`. */
    excludeFromSearches: (kind: string, place: Place, by?: ObjectKey): void => released.add(placeOf(kind, place), by),
    /** Objects with an open intent for an equal resource, in an order that all processes agree on. */
    rivals: (kind: string, intent: Wanted): ObjectKey[] =>
      intents.get(intentKey(kind, intent)).sort((a, b) => begunAt(a).localeCompare(begunAt(b)) || a.localeCompare(b)),
    /** Objects whose resource lives in the one with this id at this address, or is about to. */
    inhabitants: (id: string, endpoint: string): ObjectKey[] => parents.get(at(endpoint, id)),
    /** Objects of this kind whose resource is in the same collection, or is about to be. */
    neighbours: (kind: string, within: Place["parents"]): ObjectKey[] => neighbours.get(collectionOf(kind, within)),
    /** Objects that hold something on the platform through this Account, or are about to. */
    users: (account: string): ObjectKey[] => accounts.get(account),
    /** The Account whose user this object is. */
    accountOf: (key: ObjectKey): string | undefined => accounts.wordsOf(key)[0],
  };
}

/** Orders objects that claim the same resource: the one that owns it comes first. */
function byRight(a: KubeObject | undefined, b: KubeObject | undefined): number {
  const adoptedAt = (object: typeof a) => holdingsOf(object)[0]?.adoptedAt ?? "";
  const createdAt = (object: typeof a) => Date.parse(object?.metadata.creationTimestamp ?? "");
  return adoptedAt(b).localeCompare(adoptedAt(a)) || createdAt(a) - createdAt(b) || 0;
}
