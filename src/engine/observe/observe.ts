import type { Desired, Inputs } from "../../kinds/desired.ts";
import { isSuccessive, isWanted, type ResourceKind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { platformTime } from "../../platform/calls/platform-time.ts";
import { type AccountChoice, addressOf, type User, userOf } from "../accounts/accounts.ts";
import { isPaused } from "../state/annotations.ts";
import type { Claim, Intent } from "../state/intent.ts";
import type { Memory } from "../state/memory.ts";
import { FINALIZER, RECREATE } from "../state/names.ts";
import { claimOf, type ObjectKey, observes, openIntent } from "../state/object.ts";
import { policiesOf, recreatePolicyOf } from "../state/policies.ts";
import { settledAt } from "../status/author.ts";
import type { Obstacle } from "../status/reasons.ts";
import type { ResourceStatus } from "../status/schema.ts";
import { readFacts, readStatus } from "../status/status.ts";
import { unknownKey } from "../status/trust.ts";
import type { Shared } from "./collections.ts";
import { contentsOf } from "./contents.ts";
import { believedFor, type Deps } from "./deps.ts";
import { checkedAs, isUnchecked, outdatedSources, replacement } from "./fixed-fields.ts";
import { isDoubted, isUnlisted } from "./lookalike.ts";
import { observeResource } from "./observation.ts";
import { messageOf, notUnderstood, outOfReach, taken, unfit, unreachable } from "./obstacles.ts";
import { outputState, outputWork } from "./output-state.ts";
import { notYours } from "./ownership.ts";
import { acceptedOf, isAgain, pendingRequest, track } from "./pending-request.ts";
import { obstacleFrom } from "./platform-errors.ts";
import { notGranted, type References, type Resolved, resolveReferences } from "./references.ts";
import { relatedMembers } from "./related-members.ts";
import { creationOf, findings } from "./search-results.ts";
import { previousOf, secretOf } from "./secret-state.ts";
import { annotateAt, graceUntil, isKept } from "./timing.ts";
import { meansAnother, namedResource } from "./unowned.ts";
import type { Contents, Context, Observation, View } from "./view.ts";

/** Takes from both caches what a decision needs. Calls nobody; joins the collection that holds the resource. */
export function observe(deps: Deps, key: ObjectKey, kind: ResourceKind, object: KubeObject): Context {
  const { clock, settings, objects } = deps;
  const now = clock.monotonic();
  const memory = deps.memories.of(key);
  const status = readStatus(object);
  const { place, identity: known } = kind.resource;
  const recorded = openIntent(object);
  const owned = objects.owned(key);
  const foreign = unknownKey(object);
  const intent = foreign ? undefined : (recorded ?? erasedIntent(status, memory, owned));
  const { deletionPolicy, replacePolicy, externalId } = policiesOf(object);
  const observed = observes(object);
  const desired = readDesired(kind, object);
  // What it names and does not own, it observed, or another object has it: it gets it as any other resource that exists.
  const named = namedResource(object, claimOf(object), status.left);
  const isAnother =
    owned && meansAnother(objects, object, "value" in desired ? desired.value : undefined, owned, named);
  const claim = intent || isAnother ? undefined : owned;
  const adopt = claim || intent ? undefined : named;
  const namespace = object.metadata.namespace ?? "";

  const unwanted = "value" in desired && !isWanted(kind, desired.value, object.metadata.name);
  const choice = chooseAccount(deps, userOf(kind, object), object, status, claim ?? intent);
  const account = "account" in choice ? choice.account : undefined;

  const stored = claim?.parents ?? intent?.parents;
  const resolved = "value" in desired ? resolveReferences(objects, object, desired.value, stored) : desired;
  const parents = stored ?? ("value" in resolved ? resolved.value.parents : undefined);
  let inputs = "value" in resolved ? inputsOf(object, resolved.value) : undefined;
  if (inputs && adopt !== undefined) inputs = { ...inputs, adopted: true };
  if (inputs && "value" in desired && !observed) {
    inputs = { ...inputs, outdated: outdatedSources(kind, desired.value, inputs, status) };
    const checked = memory.checked?.what === checkedAs(desired.value) ? memory.checked?.facts : {};
    inputs = { ...inputs, shown: { ...inputs.shown, ...checked, ...deps.spending.of(key) } };
  }

  let accountObstacle = "obstacle" in choice ? choice.obstacle : undefined;
  if (accountObstacle?.reason === "AccountNotAllowed") deps.collections.leave(key);
  let shared: Shared | undefined;
  if (account) {
    try {
      // Throws when the Account has no address of the product, which is told before anything is begun.
      addressOf(account, place.product);
      const begun = claim ?? intent;
      accountObstacle = begun && outOfReach(account, place.product, begun);
      if (parents && (begun || status.previous || isDoubted(kind, memory)) && !accountObstacle)
        shared = deps.collections.join(key, account, kind, parents, claim);
    } catch (error) {
      accountObstacle = { reason: "EndpointInvalid", message: messageOf(error) };
    }
  }

  const identity = claim ? (shared?.identify(claim) ?? claim.id) : "";
  // Who only observes has no request of its own, and leaves the owner's alone.
  if (shared && claim && !observed) track(shared, identity, status);
  let request = pendingRequest(deps, status, memory, shared?.collection.read(identity).request);
  const { marks } = status.request ?? {};
  if (inputs && marks && request?.outcome === "DONE") inputs = { ...inputs, shown: { ...inputs.shown, ...marks } };
  let specObstacle: Obstacle | undefined;
  if ("obstacle" in desired) specObstacle = desired.obstacle;
  else if ("obstacle" in resolved) specObstacle = resolved.obstacle;
  else if (inputs) {
    const asking = { object, desired: desired.value, account };
    const others = notYours(objects, kind, asking, inputs, claim ?? intent, observed ? externalId : adopt);
    // What was reached while that was allowed is neither looked at nor kept up any more; only its deletion goes on.
    if (claim && !object.metadata.deletionTimestamp) accountObstacle ??= others;
    specObstacle =
      others ??
      unfit(desired.value, inputs) ??
      unreachable(desired.value, account) ??
      taken(deps, key, kind, inputs.parents, claim ?? intent, account);
  }
  let observation: Observation = { seen: "unknown" };
  if (shared && claim) {
    const seen = observeResource(shared, identity, memory, settings);
    observation = seen;
    // Whatever it was that was sent to a resource that is gone, it is gone with it.
    if (seen.seen === "absent" && request?.outcome === "unanswered") request = undefined;
    if (seen.seen === "present" && !seen.busy && "value" in desired) {
      const raw = shared.collection.read(identity).item?.raw;
      try {
        const preDelete = desired.value.preDelete(raw, { parents: claim.parents, shown: readFacts(object) });
        const failed = seen.broken !== undefined;
        const comparison = specObstacle || !inputs ? undefined : desired.value.compare(raw, { ...inputs, failed });
        observation = { ...seen, comparison, ...(preDelete && { preDelete }) };
        if (request && isAgain(comparison?.next, status)) request = { ...request, unseen: true };
      } catch (error) {
        specObstacle = notUnderstood(kind, error);
        observation = { ...seen, unclear: specObstacle.message };
      }
    }
    const { problem, isTooLarge } = shared.collection;
    if (seen.seen === "unknown" && problem && !isTooLarge) accountObstacle ??= obstacleFrom(problem, kind);
  }

  const unlisted = !!shared && !claim && isDoubted(kind, memory) && isUnlisted(memory, shared);
  if (unlisted && shared?.collection.problem) accountObstacle ??= obstacleFrom(shared.collection.problem, kind);
  const { failure } = memory;
  const platformNow = platformTime(clock, account?.connection);
  const wanted = "value" in desired ? desired.value : undefined;
  const keeping =
    claim && !observed
      ? secretOf(deps, kind, object, wanted, claim, { shared, account }, memory, platformNow)
      : undefined;
  const item = shared?.collection.read(identity).item;
  const related =
    account && claim && item ? relatedMembers(deps, key, kind, wanted, account, claim, item.raw) : undefined;
  const output = outputState(outputWork(deps, { kind, object, desired: wanted, related }, claim, item), memory, now);
  let inside: Contents | undefined;
  const view: View = {
    now,
    kind: kind.kind,
    deleting: object.metadata.deletionTimestamp !== undefined,
    desiredSince: memory.desired?.at ?? now,
    graceUntil: graceUntil(object, memory, now, deps),
    annotateAt: isKept(object) ? undefined : annotateAt(memory, shared, now, settings),
    paused: isPaused(object),
    terminating: deps.namespaces.isTerminating(namespace),
    hasFinalizer: object.metadata.finalizers?.includes(FINALIZER) ?? false,
    recorded: recorded !== undefined,
    deletionPolicy,
    recreatePolicy: recreatePolicyOf(kind, object),
    recreateAsked: claim !== undefined && object.metadata.annotations?.[RECREATE] === claim.id,
    observed,
    adopt,
    replacement: replacement(kind, object, status, replacePolicy),
    get contents() {
      inside ??= claim && contentsOf(deps, key, kind, claim, memory, object);
      return inside;
    },
    intent,
    unsent: creationOf(memory, intent)?.phase === "unsent",
    claim,
    unknownKey: foreign,
    request,
    unfinished: status.request?.action === "create" && status.request.status === "FAILED",
    accountObstacle,
    specObstacle,
    ungranted: "value" in desired ? notGranted(objects, object, desired.value) : undefined,
    observation,
    search: intent && findings(deps, key, kind, intent),
    failure: failure && failure.generation === object.metadata.generation ? failure : undefined,
    accepted: acceptedOf(deps, object, memory),
    permanent: known.permanent ?? false,
    unwanted,
    unlisted,
    unchecked: !!wanted && isUnchecked(wanted, inputs?.outdated, memory),
    secret: keeping?.secret,
    repair: keeping?.repair,
    output,
    keyDueAt: keeping?.dueAt,
    renewal: keeping?.renewal,
    successive: isSuccessive(kind),
    previous: previousOf(status, shared, platformNow),
    othersKey: kind.resource.secret?.key !== undefined && status.nonce === undefined && status.key === undefined,
    platformNow,
    believedMs: believedFor(settings),
    settledAt: intent ? settledAt(deps, intent.by, memory.begun?.at ?? now) : Number.POSITIVE_INFINITY,
  };
  return {
    key,
    kind,
    object,
    status,
    view,
    memory,
    desired: wanted,
    account,
    accountKey: choice.key,
    identity,
    inputs,
    shared,
    related,
    note: keeping?.note,
  };
}

/** An intent whose annotation somebody has taken away while its creation was under way. */
function erasedIntent({ nonce }: ResourceStatus, { creation }: Memory, owned: Claim | undefined): Intent | undefined {
  const open = creation && creation.phase !== "claimed" && creation.phase !== "unsent";
  return open && creation.intent.nonce !== nonce && creation.intent.succeeds === owned?.id
    ? creation.intent
    : undefined;
}

/**
 * Which Account an object means is settled when it is first seen, and changes only with spec. What it owns or has begun
 * stays with the Account it was begun with.
 */
export function chooseAccount(
  { accounts }: Deps,
  user: User,
  object: KubeObject,
  status: ResourceStatus,
  begun: Claim | Intent | undefined,
): AccountChoice {
  const { accountRef } = policiesOf(object);
  const settled = status.observedGeneration === object.metadata.generation ? status.account : undefined;
  return (
    (begun && accounts.keep(user, begun.account)) ?? accounts.choose(user, accountRef, begun ? undefined : settled)
  );
}

/** What a comparison is made of, and a creation apart from what has to be asked for first. */
export function inputsOf(object: KubeObject, references: Omit<References, "abroad">): Inputs {
  return {
    ...references,
    name: object.metadata.name,
    observed: observes(object),
    adopted: claimOf(object)?.adoptedAt !== undefined,
    secrets: {},
    found: {},
    shown: readFacts(object),
    annotations: object.metadata.annotations ?? {},
  };
}

/** Spec as its kind understands it. The API server has checked it before; what it could not see is said here. */
function readDesired(kind: ResourceKind, object: KubeObject): Resolved<Desired> {
  try {
    return { value: kind.resource.desire(object.spec) };
  } catch (error) {
    return { obstacle: { reason: "InvalidSpec", message: messageOf(error) } };
  }
}
