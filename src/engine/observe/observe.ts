import { hasResource, type ResourceKind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { platformTime } from "../../platform/calls/platform-time.ts";
import type { AccountHandle } from "../accounts/accounts.ts";
import { INTENT } from "../state/names.ts";
import { isMisnamed, type ObjectKey } from "../state/object.ts";
import { settledAt } from "../status/author.ts";
import { readStatus } from "../status/status.ts";
import { countedAnnotation, trust } from "../status/trust.ts";
import { chooseAccount, observeAccount, outOfReach } from "./account.ts";
import { believedFor, type Deps } from "./deps.ts";
import type { Shared } from "./resource/collections.ts";
import { joinCollection, observeResource } from "./resource/resource.ts";
import { observeSecrets } from "./secrets/secrets.ts";
import { observeSpec, resolveSpec } from "./spec/spec.ts";
import { readSubject } from "./subject.ts";
import type { Context, Subject, Times, View } from "./view.ts";

/** Takes from both caches what a decision needs. It calls nobody, but joins the collection of the resource. */
export function observe(deps: Deps, key: ObjectKey, kind: ResourceKind, object: KubeObject): Context {
  const subject = readSubject(deps, key, kind, object);
  const { status, memory, desired, publication, claim } = subject;
  const { handle: account, ...chosen } = observeAccount(deps, subject);
  const resolved = resolveSpec(deps, subject);
  const joined = joinCollection(deps, subject, chosen.obstacle ? undefined : account, resolved.parents);
  const { shared, identity } = joined;
  const item = shared?.collection.read(identity).item;
  const { view: spec, inputs, foreign } = observeSpec(deps, subject, account, resolved, { ...joined, item });
  const { view: resource, problem } = observeResource(deps, subject, joined, { inputs, obstacle: spec.obstacle });
  const times = observeTimes(deps, subject, account, shared);
  const secrets = observeSecrets(deps, subject, { account, shared, item }, times);
  // A claim whose references are no longer allowed is neither read nor updated. Only its deletion goes on.
  const withdrawn = claim && !spec.deleting ? foreign : undefined;
  const { observation } = resource;
  const unclear = observation.seen === "present" ? observation.unclear : undefined;
  const view: View = {
    kind: kind.kind,
    account: { ...chosen, obstacle: chosen.obstacle ?? joined.obstacle ?? withdrawn ?? problem },
    spec: unclear === undefined ? spec : { ...spec, obstacle: { reason: "PlatformUnavailable", message: unclear } },
    resource,
    secrets: secrets.view,
    times,
  };
  const { note, related } = secrets;
  const known = { key, kind, object, status, memory, desired, publication };
  return { ...known, view, account, inputs, shared, identity, item, related, note };
}

function observeTimes(deps: Deps, subject: Subject, account?: AccountHandle, shared?: Shared): Times {
  const { object, memory, intent } = subject;
  const { clock, settings } = deps;
  const now = clock.monotonic();
  const desiredSince = memory.desired?.at ?? now;
  // The creation time is from the clock of the API server. If that is ahead, the grace time counts from `desiredSince`.
  const ageMs = clock.now() - (Date.parse(object.metadata.creationTimestamp ?? "") || 0);
  return {
    now,
    platformNow: platformTime(clock, account?.connection),
    desiredSince,
    graceUntil: Math.min(now - ageMs, desiredSince) + settings.graceMs,
    annotateAt: annotateAt(deps, now, subject, shared),
    settledAt: intent ? settledAt(deps, intent.by, memory.begun?.at ?? now) : Number.POSITIVE_INFINITY,
    believedMs: believedFor(settings),
  };
}

/** The longest that changes of neighbours delay the annotation, in multiples of `annotateAfterMs`. */
const LONGEST_DELAY = 20;

/** The annotation is written when the object and its collection were at rest for a while: creations come first. */
function annotateAt({ settings }: Deps, now: number, { object, memory }: Subject, shared?: Shared): number | undefined {
  const { annotateAfterMs } = settings;
  const { restingSince = now } = memory;
  if (isMisnamed(object)) return Math.max(now, memory.renamed?.retryAt ?? now);
  const isAnnotated = countedAnnotation(object, INTENT) === undefined && (trust.get(object)?.current.marks ?? true);
  if (isAnnotated) return undefined;
  const othersSince = !shared || shared.collection.changing > 0 ? now : shared.collection.changedAt;
  const latest = restingSince + LONGEST_DELAY * annotateAfterMs;
  return Math.max(restingSince + annotateAfterMs, Math.min(othersSince + annotateAfterMs, latest));
}

/** Whether a reconcile would only wait for its Account or collection, which enqueue the object when they are ready. */
export function awaitsCaches(deps: Deps, key: ObjectKey): boolean {
  const found = deps.objects.find(key);
  if (!found || !hasResource(found.kind)) return false;
  const { kind, object } = found;
  const claim = deps.objects.owned(key);
  const choice = chooseAccount(deps, { kind, object, status: readStatus(object) }, claim);
  if ("obstacle" in choice) return choice.obstacle.reason === "Observing";
  if (!claim || outOfReach(choice.account, kind.resource.place.product, claim)) return false;
  const { collection } = deps.collections.join(key, { account: choice.account, kind, parents: claim.parents }, claim);
  return collection.listedAt === undefined && !collection.problem;
}
