import type { Inputs } from "../../../kinds/desired.ts";
import { isSuccessive } from "../../../kinds/kind.ts";
import type { KubeObject } from "../../../kube/resource.ts";
import { stalledDeletion } from "../../../kube/write/conditions.ts";
import { misanswer } from "../../../platform/collections/misanswer.ts";
import { type AccountHandle, lackOfAddress } from "../../accounts/accounts.ts";
import { isAllowed, isPaused } from "../../state/annotations.ts";
import type { Claim } from "../../state/intent.ts";
import { ALLOW_NON_EMPTY_DELETE, FINALIZER } from "../../state/names.ts";
import { claimOf, namedBy, nameFor, namespaceOf, type ObjectKey, observes, openIntent } from "../../state/object.ts";
import type { Objects } from "../../state/objects.ts";
import { judge } from "../../state/presence.ts";
import type { Obstacle } from "../../status/reasons.ts";
import { factsOf } from "../../status/status.ts";
import { unknownKey } from "../../status/trust.ts";
import type { Deps } from "../deps.ts";
import { notUnderstood, obstacleFrom } from "../platform-errors.ts";
import { lostPlace } from "../spec/references.ts";
import type { Contents, Observation, PendingRequest, ResourceView, Subject } from "../view.ts";
import type { Parents, Shared } from "./collections.ts";
import { isUnlisted } from "./lookalike.ts";
import { acceptedOf, effectOf, isAgain, pendingRequest, track } from "./pending-request.ts";
import { creationOf, findings } from "./search-results.ts";

/** The collection of a resource, and the request of the object there. */
interface Joined {
  shared: Shared | undefined;
  identity: string;
  request: PendingRequest | undefined;
  /** Why the collection cannot be opened. */
  obstacle?: Obstacle;
}

/** Joins the collection of a resource that is claimed or being created, or that an object from a backup may have lost. */
export function joinCollection(deps: Deps, subject: Subject, account?: AccountHandle, parents?: Parents): Joined {
  const { key, kind, object, status, memory, claim, intent } = subject;
  const isNeeded = claim || intent || status.previous || memory.doubt;
  let shared: Shared | undefined;
  const obstacle = lackOfAddress(() => {
    if (account && parents && isNeeded) shared = deps.collections.join(key, { account, kind, parents }, claim);
  });
  const identity = claim ? (shared?.identify(claim) ?? claim.id) : "";
  // An object that only observes has no request, and must not end the tracking of the owner's.
  if (shared && claim && !observes(object)) track(shared, identity, status);
  const request = pendingRequest(deps, status, memory, shared?.collection.read(identity).request);
  return { shared, identity, request, ...(obstacle && { obstacle }) };
}

/** The resource, as both sides know it. `problem`: its collection cannot be read. */
export function observeResource(
  deps: Deps,
  subject: Subject,
  { shared, identity, request }: Joined,
  spec: { inputs: Inputs | undefined; obstacle: Obstacle | undefined },
): { view: ResourceView; problem: Obstacle | undefined } {
  const { kind, object, status, memory, claim, intent } = subject;
  const { metadata } = object;
  const unread: Observation = { seen: "unknown" };
  const observation = shared && claim ? readResource(deps, subject, shared, identity, { ...spec, request }) : unread;
  const next = observation.seen === "present" ? observation.comparison?.next : undefined;
  // A write to a resource that is gone has no effect any more.
  const isOver = observation.seen === "absent" && request?.outcome === "unanswered";
  const unlisted = !!shared && !claim && isUnlisted(memory, shared);
  const { problem, isPartial } = shared?.collection ?? {};
  const isUnread = claim ? observation.seen === "unknown" && !isPartial : unlisted;
  let contents: Contents | undefined;
  const view: ResourceView = {
    permanent: kind.resource.identity.permanent ?? false,
    successive: isSuccessive(kind),
    hasFinalizer: metadata.finalizers?.includes(FINALIZER) ?? false,
    recorded: openIntent(object) !== undefined,
    intent,
    unsent: creationOf(memory, intent)?.phase === "unsent",
    search: intent && findings(deps, subject, intent),
    claim,
    unknownKey: unknownKey(object),
    request: isOver ? undefined : request && { ...request, ...(isAgain(next, status) && { unseen: true }) },
    refused: claim || intent ? undefined : status.refused,
    unfinished: status.request?.action === "create" && status.request.status === "FAILED",
    observation,
    get contents() {
      contents ??= claim && contentsOf(deps, subject, claim);
      return contents;
    },
    failure: memory.failure?.generation === metadata.generation ? memory.failure : undefined,
    accepted: acceptedOf(deps, object, memory),
    unlisted,
  };
  return { view, problem: isUnread && problem ? obstacleFrom(problem, kind) : undefined };
}

/** The claimed resource, as its collection shows it, compared with spec. */
function readResource(
  { settings, objects, clock }: Deps,
  subject: Subject,
  { collection, source }: Shared,
  identity: string,
  {
    inputs,
    obstacle,
    request,
  }: Pick<Joined, "request"> & { inputs: Inputs | undefined; obstacle: Obstacle | undefined },
): Observation {
  const { kind, object, desired, claim, memory } = subject;
  const { absence: facts } = memory;
  const { item, asOf } = collection.read(identity);
  if (asOf === undefined && !collection.gone) {
    const { isPartial, isTooLarge, problem } = collection;
    const reason = isTooLarge ? "ListTooLarge" : "PlatformUnavailable";
    return { seen: "unknown", ...(isPartial && { partial: { reason, message: problem?.message ?? "" } }) };
  }
  if (!item || asOf === undefined) {
    const { by, at } = facts?.deletion ?? {};
    const time = at === undefined ? "" : ` at ${new Date(at).toISOString().slice(0, 19)}Z`;
    const place = facts?.deletion && lostPlace(objects, { object, desired, claim });
    const how = place === undefined ? "outside Mooring" : `with ${place}`;
    return {
      seen: "absent",
      asOf: facts?.row?.last ?? asOf ?? 0,
      absence: judge(facts, settings),
      // A list that is older than the claim does not have to show the resource: only a read of the member counts.
      since: facts?.since ?? clock.monotonic(),
      logged: facts?.logged ?? false,
      ...(facts?.deletion && { deletion: `${how}${by === undefined ? "" : ` by ${by}`}${time}` }),
    };
  }
  const busy = source.isBusy(item);
  const broken = busy ? undefined : source.failure?.(item);
  const failed = broken !== undefined;
  const seen = { seen: "present", asOf, busy, comparison: undefined, ...(failed && { broken }) } as const;
  const why = claim && misanswer(kind.kind, claim, item.raw);
  if (why !== undefined) return { ...seen, refused: { why, since: memory.refusedSince ?? asOf } };
  if (busy || !desired) return seen;
  try {
    const { marks } = request ?? {};
    const shown = { ...factsOf(object), ...effectOf(request) };
    const known = { parents: claim?.parents ?? {}, shown, ...(marks && { marks }) };
    const preDelete = desired.preDelete(item.raw, known);
    const comparison = obstacle || !inputs ? undefined : desired.compare(item.raw, { ...inputs, failed });
    return { ...seen, comparison, users: desired.users(item.raw, known), ...(preDelete && { preDelete }) };
  } catch (error) {
    return { ...seen, unclear: notUnderstood(kind, error).message };
  }
}

/** How long a read of what is inside counts. */
const CONTENTS_MS = 5000;

/** How long an owner waits for dependents that are deleted together with it. */
const TOGETHER_MS = 4000;

/** Whether the resource of a dependent is in another resource than this one, whose object had the same name before. */
function isInNamesake(objects: Objects, dependent: ObjectKey, { key, id }: { key: ObjectKey; id: string }): boolean {
  const found = objects.find(dependent);
  const { parents = {} } = objects.owned(dependent) ?? {};
  const places = found ? namedBy(found.kind, found.object).filter((each) => each.key === key) : [];
  return places.some(({ role, bond = "place" }) => bond === "place" && (parents[role] ?? id) !== id);
}

/** The contents and users of a claimed resource. */
function contentsOf({ objects, clock }: Deps, subject: Subject, { id, endpoint }: Claim): Contents {
  const { key, kind, memory } = subject;
  const { metadata } = subject.object;
  const { contents, keptWhileUsed = false } = kind.resource.destruction;
  const holds = contents !== undefined && !keptWhileUsed;
  const now = clock.monotonic();
  const desiredSince = memory.desired?.at ?? now;
  const objectOf = (each: ObjectKey): KubeObject | undefined => objects.find(each)?.object;
  const dependents = objects.dependents(key).filter((each) => !isInNamesake(objects, each, { key, id }));
  const users = [...dependents, ...(holds ? objects.inhabitants(id, endpoint) : [])];
  const isGuest = (each: ObjectKey) => namespaceOf(each) !== metadata.namespace;
  // Observers keep nothing, except their own resources from owners in other namespaces.
  const isObserver = (each: ObjectKey) => {
    const object = objectOf(each);
    if (!object || !observes(object)) return false;
    const claim = claimOf(object);
    return !isGuest(each) || claim === undefined || claim.onlyObserved === true;
  };
  // Sorted, so that the message stays the same.
  const all = [...new Set(users.filter((each) => !isObserver(each)))].sort();
  // `kubectl delete` of several objects arrives one by one: at first, dependents count as being deleted.
  const isEarly = metadata.deletionTimestamp !== undefined && now - desiredSince < TOGETHER_MS;
  const isLeaving = (each: ObjectKey) => isEarly || objectOf(each)?.metadata.deletionTimestamp !== undefined;
  // Guests keep a resource of any kind: a deletion may end what another namespace has.
  const isKept = holds || keptWhileUsed;
  const read = memory.contents;
  const isFresh = read && read.asOf > desiredSince && now - read.asOf < CONTENTS_MS;
  const nameOf = (each: ObjectKey) => {
    const name = nameFor(metadata.namespace, each);
    const own = name === each ? objectOf(each) : undefined;
    const why = own && (isPaused(own) ? "paused" : stalledDeletion(own));
    return why ? `${name} (${why})` : name;
  };
  const named = (keys: ObjectKey[]) => [...new Set(keys.map(nameOf))];
  return {
    leaving: named(all.filter(isLeaving)),
    staying: named(all.filter((each) => !isLeaving(each) && (isKept || isGuest(each)))),
    found: contents ? (isFresh ? read : undefined) : { asOf: Number.POSITIVE_INFINITY, names: [], since: 0 },
    verb: holds ? "still holds" : "is still used by",
    guests: all.some(isGuest),
    ignored: holds && isAllowed(subject.object, ALLOW_NON_EMPTY_DELETE),
  };
}
