/** One entry of a Status' `details.causes`. */
export interface KubeCause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface KubeErrorDetails {
  status: number;
  reason: string;
  message: string;
  retryAfterMs?: number | undefined;
  causes?: readonly KubeCause[] | undefined;
  cause?: unknown;
}

/**
 * The error of one call to the API server. `status` is the HTTP status, or 0 when there was no answer; `reason` is the reason
 * of the Status (`Conflict`, `NotFound` …), or for 0 one of `Timeout`, `Aborted`, `Network`. The message never contains the
 * request body.
 */
export class KubeError extends Error {
  override readonly name = "KubeError";
  readonly status: number;
  readonly reason: string;
  readonly causes: readonly KubeCause[];
  declare readonly retryAfterMs?: number;

  constructor(details: KubeErrorDetails) {
    super(details.message, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = details.status;
    this.reason = details.reason;
    this.causes = details.causes ?? [];
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs;
  }
}

const hasStatus = (error: unknown, status: number): error is KubeError =>
  error instanceof KubeError && error.status === status;

/**
 * Another client wrote first, a precondition (uid, resourceVersion) failed, or the object already exists. A write with the uid
 * of a deleted object of the same name gets 422, because `metadata.uid` is immutable.
 */
export const isConflict = (error: unknown): error is KubeError =>
  hasStatus(error, 409) || (hasStatus(error, 422) && error.causes.some(({ field }) => field === "metadata.uid"));
/** POST of a name that already exists. */
export const isAlreadyExists = (error: unknown): error is KubeError =>
  isConflict(error) && error.reason === "AlreadyExists";
export const isNotFound = (error: unknown): error is KubeError => hasStatus(error, 404);
/** The resourceVersion is too old: relist. */
export const isGone = (error: unknown): error is KubeError => hasStatus(error, 410);
export const isTooManyRequests = (error: unknown): error is KubeError => hasStatus(error, 429);
export const isForbidden = (error: unknown): error is KubeError => hasStatus(error, 403);
/** Any 4xx but a conflict and a rate limit, for example by a quota, a policy or missing RBAC: a retry does not help. */
export const isPermanent = (error: unknown): error is KubeError =>
  error instanceof KubeError &&
  error.status >= 400 &&
  error.status < 500 &&
  error.status !== 409 &&
  error.status !== 429;
/** The API server refuses to write an object as it is. The message names the way out. */
export class NotWritable extends KubeError {
  readonly why: string;
  constructor({ status, reason, message, causes }: KubeError, way: string) {
    super({ status, reason, message, causes });
    this.why = `the API server refuses this object: ${message}${way}`;
  }
}
/** The error of a refused write; undefined where another attempt may succeed. */
export function refusalOf(error: unknown): NotWritable | undefined {
  if (!(error instanceof KubeError)) return undefined;
  const { status, message } = error;
  // The limit of etcd is reported as 500, that of annotations as 422.
  const isTooLarge =
    status === 413 ||
    (status === 500 && message.includes("request is too large")) ||
    (status === 422 && message.includes("annotations: Too long"));
  if (isTooLarge) return new NotWritable(error, ": make spec and annotations smaller");
  return isPermanent(error) && status !== 404 && !isConflict(error) ? new NotWritable(error, "") : undefined;
}
/** The namespace is being deleted: nothing can be created in it, and nothing needs to be. */
export const isNamespaceTerminating = (error: unknown): error is KubeError =>
  error instanceof KubeError && error.causes.some(({ reason }) => reason === "NamespaceTerminating");
