import type { Desired, Inputs, Kind, ResourceKind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { products } from "../accounts/products.ts";
import { isClaimed } from "../objects/birth.ts";
import { type Claim, hashFields, type Intent, SKEW_MS } from "../objects/intent.ts";
import type { Memory } from "../objects/memory.ts";
import { ALLOW_DATA_LOSS, FINALIZER, PAUSED } from "../objects/names.ts";
import { claimOf, type ObjectKey, observes, openIntent } from "../objects/objects.ts";
import { policiesOf } from "../objects/policies.ts";
import type { Obstacle } from "../schema/reasons.ts";
import { readFacts, readStatus } from "../schema/status.ts";
import type { ResourceStatus } from "../schema/status-schema.ts";
import type { Shared } from "./collections.ts";
import { contentsOf } from "./contents.ts";
import type { Deps } from "./deps.ts";
import { findings } from "./findings.ts";
import { foreign, messageOf, notUnderstood, taken, unfit } from "./obstacles.ts";
import { isAgain, pendingRequest, track } from "./pending.ts";
import { obstacleOf } from "./problems.ts";
import { type References, type Resolved, resolveReferences } from "./references.ts";
import { secretOf } from "./secret-state.ts";
import type { Observation, Scene, View } from "./view.ts";

/** Takes from both caches what a decision needs. Calls nobody; joins the collection that holds the resource. */
export function look(deps: Deps, key: ObjectKey, kind: ResourceKind, object: KubeObject): Scene {
  const { clock, settings, objects } = deps;
  const now = clock.now();
  const memory = deps.memories.of(key);
  const status = readStatus(object);
  const intent = openIntent(object);
  const claim = claimOf(object);
  const { accountRef, deletionPolicy, replacePolicy, externalId } = policiesOf(object);
  const observed = observes(object);
  const annotations = object.metadata.annotations ?? {};
  const namespace = object.metadata.namespace ?? "";

  const desired = read(kind, object);
  const used = claim?.account ?? intent?.account;
  // Status is written by Mooring alone. Annotations come with the object: they open no Account of another namespace.
  const trusted = (claim && status.id !== undefined) || (used && deps.accounts.isOpenTo(namespace, used));
  const before = used && trusted ? deps.accounts.byKey(used) : undefined;
  const lost = before && "obstacle" in before && before.obstacle.reason === "AccountNotFound";
  const choice = before && !lost ? before : deps.accounts.choose(namespace, accountRef?.name);
  const account = "account" in choice ? choice.account : undefined;
  if (intent && memory.seen?.nonce !== intent.nonce) memory.seen = { nonce: intent.nonce, at: now };

  const stored = claim?.parents ?? intent?.parents;
  const resolved = "value" in desired ? resolveReferences(objects, object, desired.value, stored) : desired;
  const parents = stored ?? ("value" in resolved ? resolved.value.parents : undefined);
  let inputs = "value" in resolved ? inputsOf(object, resolved.value) : undefined;

  let accountObstacle = "obstacle" in choice ? choice.obstacle : account && claim && foreign(account, claim);
  let shared: Shared | undefined;
  if (account) {
    try {
      // Throws when the Account has no address of the product, which is told before anything is begun.
      account.endpoint(products[kind.resource.place.product].endpoint);
      if (parents && (claim || intent)) shared = deps.collections.join(key, account, kind, parents, claim?.id);
    } catch (error) {
      accountObstacle = { reason: "EndpointInvalid", message: messageOf(error), stalled: true };
    }
  }

  const { reusesIds = false } = kind.resource.identity;
  if (shared && claim) track(shared, claim, status, reusesIds);
  const told = memory.told?.url === status.request?.url ? memory.told : undefined;
  let request = pendingRequest(status, reusesIds ? told : shared?.collection.read(status.id ?? "").request);
  const { marks } = status.request ?? {};
  if (inputs && marks && request?.outcome === "DONE") inputs = { ...inputs, shown: { ...inputs.shown, ...marks } };
  let specObstacle: Obstacle | undefined;
  if ("obstacle" in desired) specObstacle = desired.obstacle;
  else if ("obstacle" in resolved) specObstacle = resolved.obstacle;
  else if (inputs)
    specObstacle = unfit(desired.value, inputs) ?? taken(deps, key, kind, inputs.parents, claim ?? intent, account);
  let observation: Observation = { seen: "unknown" };
  if (shared && claim) {
    const seen = observe(shared, claim, memory, settings.settleMs);
    observation = seen;
    // Whatever it was that was sent to a resource that is gone, it is gone with it.
    if (seen.seen === "absent" && request?.outcome === "unanswered") request = undefined;
    if (seen.seen === "present" && !seen.busy && "value" in desired) {
      const raw = shared.collection.read(claim.id).item?.raw;
      try {
        const farewell = desired.value.farewell(raw, { parents: claim.parents, shown: readFacts(object) });
        const failed = seen.broken !== undefined;
        const comparison = specObstacle || !inputs ? undefined : desired.value.compare(raw, { ...inputs, failed });
        observation = { ...seen, comparison, ...(farewell && { farewell }) };
        if (request && isAgain(comparison?.next, status)) request = { ...request, unseen: true };
      } catch (error) {
        specObstacle = notUnderstood(kind, error);
      }
    }
    const { problem } = shared.collection;
    if (seen.seen === "unknown" && problem) accountObstacle ??= obstacleOf(problem, kind.resource.place.privilege);
  }

  const { failure } = memory;
  const platformNow = now + Math.max(0, account?.connection.aheadMs ?? 0);
  const keeping =
    claim && !observed && "value" in desired
      ? secretOf(deps, object, desired.value, claim, shared, memory, platformNow)
      : undefined;
  const unsettledMs = settings.createDeadlineMs + settings.settleMs;
  const view: View = {
    now,
    noun: kind.resource.names.noun,
    deleting: object.metadata.deletionTimestamp !== undefined,
    paused: annotations[PAUSED] === "true",
    hasFinalizer: object.metadata.finalizers?.includes(FINALIZER) ?? false,
    deletionPolicy,
    observed,
    adopt: claim || intent || externalId === status.left ? undefined : externalId,
    replacement: replacement(kind, object, status, replacePolicy),
    contents: claim && contentsOf(deps, key, kind, claim, memory, object),
    intent,
    unsent: intent !== undefined && memory.unsent === intent.nonce,
    claim,
    request,
    unfinished: status.request?.action === "create" && status.request.status === "FAILED",
    accountObstacle,
    specObstacle,
    observation,
    search: intent && findings(deps, key, kind, intent),
    failure: failure && failure.generation === object.metadata.generation ? failure : undefined,
    permanent: kind.resource.identity.permanent ?? false,
    reusesIds: kind.resource.identity.reusesIds ?? false,
    secret: keeping?.secret,
    keyDue: keeping?.due ?? false,
    othersKey: kind.resource.secret?.key !== undefined && status.nonce === undefined && status.key === undefined,
    platformNow,
    unsettledMs,
    settledAt: begunAt(intent, memory) + unsettledMs,
  };
  const wanted = "value" in desired ? desired.value : undefined;
  return { key, kind, object, status, view, memory, desired: wanted, account, inputs, shared };
}

/** What a comparison is made of, and a creation apart from what has to be asked for first. */
export function inputsOf(object: KubeObject, references: References): Inputs {
  return {
    ...references,
    name: object.metadata.name,
    observed: observes(object),
    secrets: {},
    found: {},
    shown: readFacts(object),
    annotations: object.metadata.annotations ?? {},
  };
}

/**
 * When an open intent counts as sent. The clock that wrote it may not be ours, and may be somebody's joke: the window is
 * never shorter than by what this process has seen of it, and not much longer.
 */
function begunAt(intent: Intent | undefined, { seen }: Memory): number {
  const seenAt = seen?.at ?? 0;
  return Math.max(seenAt, Math.min(Date.parse(intent?.at ?? "") || 0, seenAt + SKEW_MS));
}

/** Fields that the platform cannot change and that are not what the resource was made from; what may be done then. */
function replacement(
  kind: ResourceKind,
  object: KubeObject,
  { fixed, nonce }: ResourceStatus,
  policy: "Never" | "WhenNeeded",
): View["replacement"] {
  // What a resource was made from is on record where Mooring has made it; of one that was taken over, what spec said then.
  if (!fixed) return undefined;
  const recorded = nonce === undefined ? Object.keys(fixed) : Object.keys(kind.immutable);
  const wanted = fixedFields(kind, object);
  const fields = recorded.filter((field) => fixed[field] !== wanted[field]);
  if (fields.length === 0) return undefined;
  const why = [...new Set(fields.map((field) => kind.immutable[field] ?? ""))];
  if (policy === "Never") return { fields, why, verdict: "forbidden" };
  const lossAllowed = object.metadata.annotations?.[ALLOW_DATA_LOSS] === "true";
  return { fields, why, verdict: kind.resource.destruction.holdsData && !lossAllowed ? "losesData" : "allowed" };
}

/** Stands in `status.fixed` for what a resource was created from. */
export const fixedFields = (kind: Kind, { spec }: KubeObject): Record<string, string> =>
  hashFields(spec, Object.keys(kind.immutable));

/** Spec as its kind understands it. The API server has checked it before; what it could not see is said here. */
function read(kind: ResourceKind, object: KubeObject): Resolved<Desired> {
  try {
    return { value: kind.resource.desire(object.spec) };
  } catch (error) {
    return { obstacle: { reason: "InvalidSpec", message: messageOf(error), stalled: true } };
  }
}

function observe({ collection, source }: Shared, claim: Claim, memory: Memory, settleMs: number): Observation {
  const { item, asOf } = collection.read(claim.id);
  if (item && asOf !== undefined && isClaimed(claim, item.raw)) {
    memory.absence = undefined;
    const busy = source.isBusy(item);
    const broken = source.failure?.(item);
    const found = { asOf, busy, state: item.state ?? "", comparison: undefined };
    return { seen: "present", ...found, ...(broken !== undefined && !busy && { broken }) };
  }
  if (asOf === undefined && !collection.gone) return { seen: "unknown" };
  // One 404 proves nothing: it may mean "not ready" or pass by itself. The same answer over a while does.
  const { absence } = memory;
  const confirmed = absence !== undefined && absence.last - absence.since >= settleMs;
  return { seen: "absent", asOf: absence?.last ?? asOf ?? 0, confirmed };
}
