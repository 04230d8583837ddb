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
 * What went wrong with one call to the apiserver.
 * `status` is the HTTP status, or 0 when no answer came; `reason` is the Status' reason (`Conflict`, `NotFound` …),
 * or for 0 one of `Timeout`, `Aborted`, `Network`. The message never holds what was sent.
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
 * Somebody wrote first, a precondition (uid, resourceVersion) failed, or the object exists already.
 * To a write with the uid of a former object of the same name the apiserver answers 422: `metadata.uid` is immutable.
 */
export const isConflict = (error: unknown): error is KubeError =>
  hasStatus(error, 409) || (hasStatus(error, 422) && error.causes.some(({ field }) => field === "metadata.uid"));
/** POST of a name that is taken. */
export const isAlreadyExists = (error: unknown): error is KubeError =>
  isConflict(error) && error.reason === "AlreadyExists";
export const isNotFound = (error: unknown): error is KubeError => hasStatus(error, 404);
/** The resourceVersion asked for is no longer known: list again. */
export const isGone = (error: unknown): error is KubeError => hasStatus(error, 410);
export const isTooManyRequests = (error: unknown): error is KubeError => hasStatus(error, 429);
export const isForbidden = (error: unknown): error is KubeError => hasStatus(error, 403);
/** Refused as it stands, by a quota, a policy or a missing right: trying again does not help. */
export const isRefused = (error: unknown): error is KubeError =>
  error instanceof KubeError &&
  error.status >= 400 &&
  error.status < 500 &&
  error.status !== 409 &&
  error.status !== 429;
/** The namespace goes away: nothing new can be created in it, and nothing has to be. */
export const isNamespaceTerminating = (error: unknown): error is KubeError =>
  error instanceof KubeError && error.causes.some(({ reason }) => reason === "NamespaceTerminating");
