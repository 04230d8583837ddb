import type { KubeObject } from "../../../kube/resource.ts";
import { isPaused } from "../../state/annotations.ts";
import type { Claim } from "../../state/intent.ts";
import { ALLOW_NON_EMPTY_DELETE } from "../../state/names.ts";
import { nameFor, namespaceOf, type ObjectKey, observes } from "../../state/object.ts";
import type { Deps } from "../deps.ts";
import type { Contents, Subject } from "../view.ts";

/** How long a read of what is inside counts. */
const CONTENTS_MS = 5000;

/** How long an owner waits for dependents that are deleted together with it. */
const TOGETHER_MS = 4000;

/** For kinds that contain nothing. */
const NOTHING_INSIDE = { asOf: Number.POSITIVE_INFINITY, names: [] };

/** What is in a claimed resource, or uses it. */
export function contentsOf(
  { objects, clock }: Deps,
  { key, kind, object: { metadata }, memory }: Subject,
  { id, endpoint }: Claim,
): Contents {
  const { contents, keptWhileUsed } = kind.resource.destruction;
  const now = clock.monotonic();
  const desiredSince = memory.desired?.at ?? now;
  const objectOf = (each: ObjectKey): KubeObject | undefined => objects.find(each)?.object;
  const users = [...objects.dependants(key), ...(contents ? objects.inhabitants(id, endpoint) : [])];
  const isObserver = (object: KubeObject | undefined) => object !== undefined && observes(object);
  // Sorted, so that the message stays the same.
  const all = [...new Set(users.filter((each) => !isObserver(objectOf(each))))].sort();
  // `kubectl delete` of several objects arrives one by one: at first, dependents count as being deleted.
  const isEarly = metadata.deletionTimestamp !== undefined && now - desiredSince < TOGETHER_MS;
  const isLeaving = (each: ObjectKey) => isEarly || objectOf(each)?.metadata.deletionTimestamp !== undefined;
  const isKept = contents !== undefined || keptWhileUsed === true;
  const read = memory.contents;
  const isFresh = read && read.asOf > desiredSince && now - read.asOf < CONTENTS_MS;
  const nameOf = (each: ObjectKey) => {
    const name = nameFor(metadata.namespace, each);
    const own = name === each ? objectOf(each) : undefined;
    return own && isPaused(own) ? `${name} (paused)` : name;
  };
  const named = (keys: ObjectKey[]) => [...new Set(keys.map(nameOf))];
  return {
    leaving: named(all.filter(isLeaving)),
    staying: isKept ? named(all.filter((each) => !isLeaving(each))) : [],
    found: contents ? (isFresh ? read : undefined) : NOTHING_INSIDE,
    verb: contents ? "still holds" : "is still used by",
    guests: all.some((each) => namespaceOf(each) !== metadata.namespace && (isLeaving(each) || isKept)),
    ignored: metadata.annotations?.[ALLOW_NON_EMPTY_DELETE] === "true",
  };
}
