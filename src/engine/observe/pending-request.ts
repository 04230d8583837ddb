import { isDeepStrictEqual } from "node:util";
import type { Operation } from "../../kinds/desired.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { KnownRequest } from "../../platform/collections/collection.ts";
import { markOf } from "../state/intent.ts";
import { type Accepted, type Memory, MOST_ACCEPTED } from "../state/memory.ts";
import { settledAt, type Waiting } from "../status/author.ts";
import type { ResourceStatus } from "../status/schema.ts";
import { readStatus, readyOf } from "../status/status.ts";
import type { Shared } from "./collections.ts";
import { backoffMs, type Deps } from "./deps.ts";
import type { PendingRequest } from "./view.ts";

/** The request in status, unless it is over. */
const openRequest = ({ request, id }: ResourceStatus) =>
  request && request.status !== "FAILED" && id !== undefined ? request : undefined;

/** Lets the collection watch what status tells of, before it is asked how that stands: it may still know the one before. */
export function track({ collection }: Shared, identity: string, status: ResourceStatus): void {
  const request = openRequest(status);
  if (!request) {
    collection.untrack(identity);
    return;
  }
  const { action, url } = request;
  const leaving = isLeaving(action);
  collection.track(identity, { since: Date.parse(request.since), leaving, ...(url !== undefined && { url }) });
}

const isLeaving = (action: string): boolean => action === "delete" || action === "replace";

/**
 * The request that status speaks of, with what the platform has told of it. It counts from when this process first saw it:
 * who wrote it down may have had another clock.
 */
export function pendingRequest(
  waiting: Waiting,
  status: ResourceStatus,
  { begun, recalledAt }: Memory,
  known: Pick<KnownRequest, "status" | "message" | "knownAt"> | undefined,
): PendingRequest | undefined {
  const request = openRequest(status);
  if (!request) return undefined;
  const { action } = request;
  const seenAt = begun?.at ?? 0;
  if (request.by) {
    const known = recalledAt === undefined ? {} : { recalledAt };
    return {
      action,
      since: seenAt,
      outcome: "unanswered",
      settledAt: settledAt(waiting, request.by, seenAt),
      ...known,
    };
  }
  // What was read after it was sent and before it was done does not show what it did.
  const since = known?.status === "DONE" ? Math.max(seenAt, known.knownAt - INSTANT_MS) : seenAt;
  // A request whose address is not known cannot be asked: what the resource shows has to do.
  const unasked = request.url !== undefined ? "unknown" : isLeaving(action) ? "accepted" : "DONE";
  const outcome = known?.status ?? unasked;
  return { action, since, outcome, ...(known?.message !== undefined && { message: known.message }) };
}

/**
 * The write that was last accepted and whose effect has not been seen, for this generation. What a process before has told of in
 * status counts from when this one first saw the object.
 */
export function acceptedOf(
  { settings }: Pick<Deps, "settings">,
  object: KubeObject,
  memory: Memory,
): Accepted | undefined {
  const { generation = 1, deletionTimestamp } = object.metadata;
  if (memory.accepted) return memory.accepted.generation === generation ? memory.accepted : undefined;
  const isTold = readyOf(object)?.reason === "NotApplied" && readStatus(object).observedGeneration === generation;
  // What a deletion sends is another write.
  if (!isTold || deletionTimestamp !== undefined) return undefined;
  const at = memory.desired?.at ?? 0;
  return { generation, times: MOST_ACCEPTED, at, retryAt: at + backoffMs(settings, MOST_ACCEPTED - 1) };
}

/** A read that follows a word at once does not begin before it. */
const INSTANT_MS = 0.001;

/** Whether a write that must not happen twice is what the request in status was. */
export function isAgain(next: Operation | undefined, { request }: ResourceStatus): boolean {
  if (!next?.once || request?.call === undefined) return false;
  const { call, hash, marks } = request;
  return isDeepStrictEqual({ ...markOf(next), marks: next.marks }, { call, hash, marks });
}
