import type { ResourceKind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { isPaused } from "../state/annotations.ts";
import type { Claim } from "../state/intent.ts";
import type { Memory } from "../state/memory.ts";
import { ALLOW_NON_EMPTY_DELETE } from "../state/names.ts";
import { nameFor, namespaceOf, type ObjectKey, observes } from "../state/object.ts";
import type { Deps } from "./deps.ts";
import type { Contents } from "./view.ts";

const CONTENTS_MS = 5000;

const TOGETHER_MS = 4000;

/** Nothing lives in resources of such a kind, whenever one looks. */
const NOTHING_INSIDE = { asOf: Number.POSITIVE_INFINITY, names: [] };

const isObserver = (object: KubeObject | undefined): boolean => object !== undefined && observes(object);

/** What lives in a claimed resource or uses it, as far as it is known. */
export function contentsOf(
  { objects, clock }: Deps,
  key: ObjectKey,
  { resource: { destruction } }: ResourceKind,
  { id, endpoint }: Claim,
  { contents, desired }: Memory,
  { metadata }: KubeObject,
): Contents {
  const now = clock.monotonic();
  const wishedAt = desired?.at ?? now;
  const users = [...objects.dependants(key), ...(destruction.contents ? objects.inhabitants(id, endpoint) : [])];
  // An object that only observes owns nothing inside.
  const inside = new Set(users.filter((each) => !isObserver(objects.find(each)?.object)));
  // What is deleted together arrives one by one: a little later it is clear who stays.
  const fresh = metadata.deletionTimestamp !== undefined && now - wishedAt < TOGETHER_MS;
  const isLeaving = (each: ObjectKey) => fresh || objects.find(each)?.object.metadata.deletionTimestamp !== undefined;
  const looked = contents && contents.asOf > wishedAt && now - contents.asOf < CONTENTS_MS ? contents : undefined;
  // In an order that does not change: another one would be another message.
  const all = [...inside].sort();
  const isKept = destruction.contents !== undefined || destruction.keptWhileUsed === true;
  const nameOf = (each: ObjectKey) => {
    const name = nameFor(metadata.namespace, each);
    const own = name === each ? objects.find(each)?.object : undefined;
    return own && isPaused(own) ? `${name} (paused)` : name;
  };
  const named = (keys: ObjectKey[]) => [...new Set(keys.map(nameOf))];
  return {
    leaving: named(all.filter(isLeaving)),
    staying: isKept ? named(all.filter((each) => !isLeaving(each))) : [],
    found: destruction.contents ? looked : NOTHING_INSIDE,
    verb: destruction.contents ? "still holds" : "is still used by",
    guests: all.some((each) => namespaceOf(each) !== metadata.namespace && (isLeaving(each) || isKept)),
    ignored: metadata.annotations?.[ALLOW_NON_EMPTY_DELETE] === "true",
  };
}
