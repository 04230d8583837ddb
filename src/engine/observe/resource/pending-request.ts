import { isDeepStrictEqual } from "node:util";
import type { Operation } from "../../../kinds/desired.ts";
import type { KubeObject } from "../../../kube/resource.ts";
import type { KnownRequest } from "../../../platform/collections/collection.ts";
import { writeKeyOf } from "../../state/intent.ts";
import { type Accepted, type Memory, MOST_ACCEPTED } from "../../state/memory.ts";
import { settledAt, type Waiting } from "../../status/author.ts";
import type { ResourceStatus } from "../../status/schema.ts";
import { readStatus, readyOf } from "../../status/status.ts";
import { backoffMs, type Deps } from "../deps.ts";
import type { PendingRequest } from "../view.ts";
import type { Shared } from "./collections.ts";

/** The request in status, unless it failed. */
const openRequest = ({ request, id }: ResourceStatus) =>
  request && request.status !== "FAILED" && id !== undefined ? request : undefined;

/** Makes the collection track the request in status. Until then it may know the outcome of an earlier one. */
export function track({ collection }: Shared, identity: string, status: ResourceStatus): void {
  const request = openRequest(status);
  if (!request) return void collection.untrack(identity);
  const { action, url, since } = request;
  const leaving = isLeaving(action);
  collection.track(identity, { since: Date.parse(since), leaving, ...(url !== undefined && { url }) });
}

const isLeaving = (action: string): boolean => action === "delete" || action === "replace";

/** The request in status with its outcome. Its time is when this process first saw it: clocks of processes may differ. */
export function pendingRequest(
  waiting: Waiting,
  status: ResourceStatus,
  { begun, recalledAt, unwritten }: Memory,
  known: Pick<KnownRequest, "status" | "message" | "knownAt"> | undefined,
): PendingRequest | undefined {
  const request = openRequest(status);
  if (!request) return undefined;
  const { action } = request;
  const seenAt = (unwritten ?? begun)?.at ?? 0;
  if (request.by) {
    const unanswered = { action, since: seenAt, outcome: "unanswered" } as const;
    const recalled = recalledAt === undefined ? {} : { recalledAt };
    return { ...unanswered, settledAt: settledAt(waiting, request.by, seenAt), ...recalled };
  }
  // Only a read that began after the request was DONE shows its effect.
  const since = known?.status === "DONE" ? Math.max(seenAt, known.knownAt - INSTANT_MS) : seenAt;
  // A request without an address has no outcome of its own: the resource shows it.
  const unasked = request.url !== undefined ? "unknown" : isLeaving(action) ? "accepted" : "DONE";
  const outcome = known?.status ?? unasked;
  const marks = outcome === "FAILED" ? undefined : request.marks;
  return {
    action,
    since,
    outcome,
    ...(marks && { marks }),
    ...(known?.message !== undefined && { message: known.message }),
  };
}

/** Status fields that are known to be in effect: their request is DONE. */
export const effectOf = (request: PendingRequest | undefined) =>
  request?.outcome === "DONE" ? request.marks : undefined;

/** The last accepted write without a visible effect. One that only status reports counts from when it was seen here. */
export function acceptedOf({ settings }: Deps, object: KubeObject, memory: Memory): Accepted | undefined {
  const { generation = 1, deletionTimestamp } = object.metadata;
  if (memory.accepted) return memory.accepted.generation === generation ? memory.accepted : undefined;
  const isReported = readyOf(object)?.reason === "NotApplied" && readStatus(object).observedGeneration === generation;
  // A deletion sends other writes.
  if (!isReported || deletionTimestamp !== undefined) return undefined;
  const at = memory.desired?.at ?? 0;
  return { generation, times: MOST_ACCEPTED, at, retryAt: at + backoffMs(settings, MOST_ACCEPTED - 1) };
}

/** A read that begins at the moment of the answer counts as later. */
const INSTANT_MS = 0.001;

/** Whether the next write must not happen twice and is the one of the request in status. */
export function isAgain(next: Operation | undefined, { request }: ResourceStatus): boolean {
  if (!next?.once || request?.call === undefined) return false;
  const { call, hash, marks } = request;
  return isDeepStrictEqual({ ...writeKeyOf(next), marks: next.marks }, { call, hash, marks });
}
