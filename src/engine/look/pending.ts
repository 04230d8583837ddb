import { isDeepStrictEqual } from "node:util";
import type { Operation } from "../../kinds/kind.ts";
import type { KnownRequest } from "../../platform/collection.ts";
import { type Claim, markOf } from "../objects/intent.ts";
import type { ResourceStatus } from "../schema/status-schema.ts";
import type { Shared } from "./collections.ts";
import type { PendingRequest } from "./view.ts";

/** The request in status, unless it is over. */
const openRequest = ({ request, id }: ResourceStatus) =>
  request && request.status !== "FAILED" && id !== undefined ? request : undefined;

/** Lets the collection watch what status tells of, before it is asked how that stands: it may still know the one before. */
export function track({ collection }: Shared, { id }: Claim, status: ResourceStatus, reusesIds: boolean): void {
  const request = openRequest(status);
  if (!request) {
    collection.untrack(id);
    return;
  }
  const { action, url } = request;
  const leaving = action === "delete" || action === "replace";
  // Two objects may speak of one id: each asks for its own request.
  const asked = reusesIds ? {} : url && { url };
  collection.track(id, { since: Date.parse(request.since), leaving, ...asked });
}

/** The request that status speaks of, with what the platform has told of it. */
export function pendingRequest(
  status: ResourceStatus,
  known: Pick<KnownRequest, "status" | "message" | "knownAt"> | undefined,
): PendingRequest | undefined {
  const request = openRequest(status);
  if (!request) return undefined;
  const { action } = request;
  // What was read after it was sent and before it was done does not show what it did.
  const knownAt = known?.status === "DONE" ? known.knownAt - 1 : 0;
  const since = Math.max(Date.parse(request.since), knownAt);
  if (request.status === "SENDING") return { action, since, outcome: "unanswered" };
  // A request whose address is not known cannot be asked: what the resource shows has to do.
  const outcome = request.url === undefined ? "DONE" : (known?.status ?? "unknown");
  return {
    action,
    since,
    outcome,
    ...(known?.message !== undefined && { message: known.message }),
  };
}

/** Whether a write that must not happen twice is what the request in status was. */
export function isAgain(next: Operation | undefined, { request }: ResourceStatus): boolean {
  if (!next?.once || request?.call === undefined) return false;
  const { call, hash, marks } = request;
  return isDeepStrictEqual({ ...markOf(next), marks: next.marks }, { call, hash, marks });
}
