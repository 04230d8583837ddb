import { z } from "zod";
import type { Desired, Kind, ResourceMapping } from "../kinds/kind.ts";
import type { KubeObject } from "../kube/resource.ts";
import type { AccountHandle } from "./accounts.ts";
import type { Shared } from "./collections.ts";
import type { Contents, Observation, Obstacle, PendingRequest, Search, View } from "./decision.ts";
import type { Deps } from "./deps.ts";
import { type Claim, hashFields, type Intent } from "./intent.ts";
import type { Memory } from "./memory.ts";
import { ALLOW_DATA_LOSS, ALLOW_NON_EMPTY_DELETE, FINALIZER, PAUSED } from "./names.ts";
import { claimOf, type ObjectKey, observes, openIntent } from "./objects.ts";
import { obstacleOf } from "./problems.ts";
import { type Resolved, resolveParents } from "./references.ts";
import { SKEW_MS } from "./search.ts";
import { readStatus } from "./status.ts";
import type { ResourceStatus } from "./status-schema.ts";

export type ResourceKind = Kind & { resource: ResourceMapping };

/** One object at one moment: the view that is decided on, and the handles that the step is performed with. */
export interface Scene {
  key: ObjectKey;
  kind: ResourceKind;
  object: KubeObject;
  status: ResourceStatus;
  view: View;
  memory: Memory;
  desired: Desired | undefined;
  account: AccountHandle | undefined;
  parents: Readonly<Record<string, string>> | undefined;
  shared: Shared | undefined;
}

/** The engine's part of spec. Each field is read by itself: a wrong one must not change what another says. */
const ours = z.object({
  accountRef: z.object({ name: z.string() }).optional().catch(undefined),
  deletionPolicy: z.enum(["Delete", "Retain"]).catch("Delete"),
  replacePolicy: z.enum(["Never", "WhenNeeded"]).catch("Never"),
  externalId: z.string().optional().catch(undefined),
});

/** Takes from both caches what a decision needs. Calls nobody; joins the collection that holds the resource. */
export function look(deps: Deps, key: ObjectKey, kind: ResourceKind, object: KubeObject): Scene {
  const { clock, settings, objects } = deps;
  const now = clock.now();
  const memory = deps.memories.of(key);
  const status = readStatus(object);
  const intent = openIntent(object);
  const claim = claimOf(object);
  const { accountRef, deletionPolicy, replacePolicy, externalId } = ours.catch(ours.parse({})).parse(object.spec);
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
  const resolved: Resolved<Readonly<Record<string, string>>> = stored
    ? { value: stored }
    : "value" in desired
      ? resolveParents(objects, object, desired.value)
      : desired;
  const parents = "value" in resolved ? resolved.value : undefined;

  let accountObstacle = "obstacle" in choice ? choice.obstacle : account && claim && foreign(account, claim);
  let specObstacle = "obstacle" in desired ? desired.obstacle : "obstacle" in resolved ? resolved.obstacle : undefined;
  let shared: Shared | undefined;
  if (account && parents && (claim || intent)) {
    try {
      shared = deps.collections.join(key, account, kind, parents, claim?.id);
    } catch (error) {
      accountObstacle = { reason: "EndpointInvalid", message: messageOf(error), stalled: true };
    }
  }

  const request = pendingRequest(status, shared);
  if (shared && claim) {
    const { url } = status.request ?? {};
    const leaving = request?.action === "delete" || request?.action === "replace";
    if (request) shared.collection.track(claim.id, { since: request.since, leaving, ...(url && { url }) });
    else shared.collection.untrack(claim.id);
  }
  let observation: Observation = { seen: "unknown" };
  if (shared && claim) {
    const seen = observe(shared, claim.id, memory, settings.settleMs);
    observation = seen;
    if (seen.seen === "present" && !seen.busy && "value" in desired && parents) {
      const inputs = { name: object.metadata.name, parents, secrets: {}, observed };
      try {
        observation = {
          ...seen,
          comparison: desired.value.compare(shared.collection.read(claim.id).item?.raw, inputs),
        };
      } catch (error) {
        specObstacle = notUnderstood(kind, error);
      }
    }
    const { problem } = shared.collection;
    if (seen.seen === "unknown" && problem) accountObstacle ??= obstacleOf(problem);
  }

  const { failure } = memory;
  const unsettledMs = settings.createDeadlineMs + settings.settleMs;
  const view: View = {
    now,
    noun: kind.resource.noun,
    deleting: object.metadata.deletionTimestamp !== undefined,
    paused: annotations[PAUSED] === "true",
    hasFinalizer: object.metadata.finalizers?.includes(FINALIZER) ?? false,
    deletionPolicy,
    observed,
    adopt: claim || intent || externalId === status.left ? undefined : externalId,
    replacement: replacement(kind, object, status, replacePolicy),
    contents: kind.resource.contents && claim && contentsOf(deps, claim.id, memory, object),
    intent,
    unsent: intent !== undefined && memory.unsent === intent.nonce,
    claim,
    request,
    accountObstacle,
    specObstacle,
    observation,
    search: intent && findings(deps, key, kind, intent),
    failure: failure && failure.generation === object.metadata.generation ? failure : undefined,
    unsettledMs,
    settledAt: begunAt(intent, memory) + unsettledMs,
  };
  const wanted = "value" in desired ? desired.value : undefined;
  return { key, kind, object, status, view, memory, desired: wanted, account, parents, shared };
}

/**
 * When an open intent counts as sent. The clock that wrote it may not be ours, and may be somebody's joke: the window is
 * never shorter than by what this process has seen of it, and not much longer.
 */
function begunAt(intent: Intent | undefined, { seen }: Memory): number {
  const seenAt = seen?.at ?? 0;
  return Math.max(seenAt, Math.min(Date.parse(intent?.at ?? "") || 0, seenAt + SKEW_MS));
}

/** A resource of another contract cannot be seen, and must not be taken for gone. */
function foreign(account: AccountHandle, { contract, id }: Claim): Obstacle | undefined {
  const { contractNumber } = account.connection;
  if (contract === undefined || contractNumber === undefined || contract === contractNumber) return undefined;
  const message = `${id} belongs to contract ${contract}, but Account ${account.key} works in ${contractNumber}: give it a token of the former`;
  return { reason: "ContractChanged", message, stalled: true };
}

/** Fields that the platform cannot change and that are not what the resource was made from; what may be done then. */
function replacement(
  kind: ResourceKind,
  object: KubeObject,
  { fixed = {} }: ResourceStatus,
  policy: "Never" | "WhenNeeded",
): View["replacement"] {
  const wanted = fixedFields(kind, object);
  // A field that was not fixed when the resource was made cannot be judged.
  const fields = Object.keys(wanted).filter((field) => fixed[field] !== undefined && fixed[field] !== wanted[field]);
  if (fields.length === 0) return undefined;
  if (policy === "Never") return { fields, verdict: "forbidden" };
  const lossAllowed = object.metadata.annotations?.[ALLOW_DATA_LOSS] === "true";
  return { fields, verdict: kind.resource.holdsData && !lossAllowed ? "losesData" : "allowed" };
}

/** Stands in `status.fixed` for what a resource was created from. */
export const fixedFields = (kind: Kind, { spec }: KubeObject): Record<string, string> =>
  hashFields(spec, Object.keys(kind.immutable));

const CONTENTS_MS = 5000;

function contentsOf(deps: Deps, id: string, { contents }: Memory, { metadata }: KubeObject): Contents {
  const inside = deps.objects.inhabitants(id);
  const leaving = inside.filter((key) => deps.objects.find(key)?.object.metadata.deletionTimestamp);
  return {
    leaving,
    staying: inside.filter((key) => !leaving.includes(key)),
    found: contents && deps.clock.now() - contents.asOf < CONTENTS_MS ? contents.found : undefined,
    ignored: metadata.annotations?.[ALLOW_NON_EMPTY_DELETE] === "true",
  };
}

/** Spec as its kind understands it. The API server has checked it before; what it could not see is said here. */
function read(kind: ResourceKind, object: KubeObject): Resolved<Desired> {
  try {
    return { value: kind.resource.desire(object.spec) };
  } catch (error) {
    return { obstacle: { reason: "InvalidSpec", message: messageOf(error), stalled: true } };
  }
}

function notUnderstood(kind: ResourceKind, error: unknown): Obstacle {
  const message = `the platform's answer about the ${kind.resource.noun} is not understood: ${messageOf(error)}`;
  return { reason: "PlatformUnavailable", message, stalled: false };
}

/** One line that names the field; of several problems the first three. */
function messageOf(error: unknown): string {
  if (!(error instanceof z.ZodError)) return error instanceof Error ? error.message : String(error);
  const issues = error.issues.map(({ path, message }) => `spec.${path.map(String).join(".")}: ${message}`);
  return issues.slice(0, 3).join("; ");
}

function pendingRequest(status: ResourceStatus, shared: Shared | undefined): PendingRequest | undefined {
  const { request, id } = status;
  if (request?.status !== "BUSY" || id === undefined) return undefined;
  const known = shared?.collection.read(id).request;
  // A request whose address is not known cannot be asked: what the resource shows has to do.
  const outcome = request.url === undefined ? "DONE" : (known?.status ?? "unknown");
  return {
    action: request.action,
    since: Date.parse(request.since),
    outcome,
    ...(known?.message !== undefined && { message: known.message }),
  };
}

function observe({ collection, source }: Shared, id: string, memory: Memory, settleMs: number): Observation {
  const { item, asOf } = collection.read(id);
  if (item && asOf !== undefined) {
    memory.absence = undefined;
    return { seen: "present", asOf, busy: source.isBusy(item), state: item.state ?? "", comparison: undefined };
  }
  if (asOf === undefined && !collection.gone) return { seen: "unknown" };
  // One 404 proves nothing: it may mean "not ready" or pass by itself. The same answer over a while does.
  const { absence } = memory;
  const confirmed = absence !== undefined && absence.last - absence.since >= settleMs;
  return { seen: "absent", asOf: absence?.last ?? asOf ?? 0, confirmed };
}

/** What the last search found, in the light of what every object owns or is about to own by now. */
function findings(deps: Deps, key: ObjectKey, kind: Kind, intent: Intent): Search | undefined {
  const { unclaimed, search } = deps.memories.of(key);
  const pending = search?.pending ?? false;
  if (unclaimed?.nonce === intent.nonce) {
    const now = deps.clock.now();
    return { lookedAt: now, endedAt: now, matches: [unclaimed.id], pending, rivals: 1, rank: 0, inFlight: false };
  }
  if (search?.nonce !== intent.nonce) return undefined;
  const equals = deps.objects
    .rivals(kind.kind, intent)
    .filter((rival) => rival === key || sameContract(deps, intent.account, rival));
  /** The id that another object is claiming at this moment. */
  const taking = (rival: ObjectKey): string | undefined => {
    const { unclaimed: held } = deps.memories.of(rival);
    const object = deps.objects.find(rival)?.object;
    return rival !== key && object && held && held.nonce === openIntent(object)?.nonce ? held.id : undefined;
  };
  const rivals = equals.filter((rival) => taking(rival) === undefined);
  const taken = new Set(equals.map(taking));
  const matches = Object.keys(search.requests).filter(
    (id) => !taken.has(id) && !deps.objects.wasClaimed(kind.kind, { id, parents: intent.parents }),
  );
  // With one more that cannot be seen yet there would be too many: what can be seen may be somebody else's twin.
  const crowded = pending && matches.length >= rivals.length;
  return {
    lookedAt: search.lookedAt,
    endedAt: search.endedAt,
    pending,
    matches,
    rivals: rivals.length,
    rank: rivals.indexOf(key),
    inFlight:
      crowded || equals.some((rival) => deps.memories.of(rival).posting === true || taking(rival) !== undefined),
  };
}

/** Whether an equal creation of another object can be mistaken for one of ours. */
function sameContract(deps: Deps, account: string, rival: ObjectKey): boolean {
  const object = deps.objects.find(rival)?.object;
  const other = object && openIntent(object)?.account;
  const contract = (key: string | undefined) => key && deps.accounts.get(key)?.connection.contractNumber;
  const [ours, theirs] = [contract(account), contract(other)];
  // Who does not say its contract may work in any.
  return other === account || ours === undefined || theirs === undefined || ours === theirs;
}
