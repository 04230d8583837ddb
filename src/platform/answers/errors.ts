import { plainText } from "./plain-text.ts";

/**
 * Errors of calls to the platform. The type says what to do next:
 *
 * | class          | meaning                                              | what to do                                      |
 * |----------------|------------------------------------------------------|-------------------------------------------------|
 * | `Retry`        | temporary: 429, 5xx, timeout, reset, refused         | retry after `afterMs` or a backoff              |
 * | `Terminal`     | a definite rejection of this request                 | wait for the spec (or `busy`, `quota`) to change |
 * | `Unauthorized` | the credential is missing, wrong or expired          | wait for other credentials                      |
 * | `Forbidden`    | the credential may not do this                       | wait for other permissions                      |
 * | `NotFound`     | 404: does not exist, or is not visible yet           | the caller knows which of the two it is         |
 *
 * `executed` says whether the request can have had an effect, which exactly-once creation depends on: "no" is certain,
 * "unknown" means read before a retry. No message contains a token, a header, a query or a body.
 */
export type Executed = "no" | "unknown";

export interface Failure {
  /** Method and path, without the query: "POST /cloudapi/v6/datacenters". */
  readonly call: string;
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  /** The reason why there is no usable answer, if the platform did not explain it. */
  readonly detail?: string | undefined;
  /** The platform's message: `messages[].message`, joined and shortened. */
  readonly platformMessage?: string | undefined;
  readonly errorCode?: string | undefined;
  /** The id of the call in the log, which was sent as X-Request-Id. */
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

export abstract class PlatformError extends Error {
  abstract readonly kind: "Retry" | "Terminal" | "Unauthorized" | "Forbidden" | "NotFound";
  readonly executed: Executed;
  readonly call: string;
  readonly status: number;
  readonly platformMessage: string | undefined;
  readonly errorCode: string | undefined;
  readonly requestId: string | undefined;

  constructor(given: Failure, executed: Executed) {
    const failure = plainly(given);
    super(describe(failure), failure.cause === undefined ? undefined : { cause: failure.cause });
    this.name = new.target.name;
    this.executed = executed;
    this.call = failure.call;
    this.status = failure.status;
    this.platformMessage = failure.platformMessage;
    this.errorCode = failure.errorCode;
    this.requestId = failure.requestId;
  }
}

/** A temporary failure. Retry later, but after `executed: "unknown"` only when a read shows that it is needed. */
export class Retry extends PlatformError {
  readonly kind = "Retry";
  /** The platform's Retry-After, if any. */
  readonly afterMs: number | undefined;

  constructor(failure: Failure, executed: Executed, afterMs?: number) {
    super(failure, executed);
    this.afterMs = afterMs;
  }
}

/** A definite rejection: nothing was done, and the same request fails again until the cause changes. */
export class Terminal extends PlatformError {
  readonly kind = "Terminal";
  /** A limit of the contract or the account is used up. */
  readonly quota: boolean;
  /** The resource or its parent is being changed: the same request succeeds a little later. Retry soon, do not stall. */
  readonly busy: boolean;

  constructor(failure: Failure, why: { quota?: boolean; busy?: boolean } = {}) {
    super(failure, "no");
    this.quota = why.quota ?? false;
    this.busy = why.busy ?? false;
  }
}

/** 401: the credential is missing, wrong, expired or revoked. */
export class Unauthorized extends PlatformError {
  readonly kind = "Unauthorized";
  constructor(failure: Failure) {
    super(failure, "no");
  }
}

/** 403: the credential is valid, but has no permission for this. */
export class Forbidden extends PlatformError {
  readonly kind = "Forbidden";
  constructor(failure: Failure) {
    super(failure, "no");
  }
}

/** 404. Shortly after a creation it means "not visible yet", later "gone": the caller decides. */
export class NotFound extends PlatformError {
  readonly kind = "NotFound";
  constructor(failure: Failure) {
    super(failure, "no");
  }
}

/** Whether the platform's message says that a limit of the contract is reached. */
export function saysQuota(words: string): boolean {
  return /\bquotas?\b|\blimits?\b.*\b(exceeded|reached|exhausted)\b|\bexceed\w*\b.*\b(limits?|contract)\b/i.test(words);
}

/** Makes all text from outside fit for one line of status. Done here, so that it holds for every error. */
function plainly(failure: Failure): Failure {
  const { call, detail, platformMessage, errorCode } = failure;
  return {
    ...failure,
    call: plainText(call, 512),
    detail: detail && plainText(detail),
    platformMessage: platformMessage && plainText(platformMessage),
    errorCode: errorCode && plainText(errorCode, 64),
  };
}

function describe({ call, status, detail, platformMessage, errorCode }: Failure): string {
  const outcome = status === 0 ? "got no answer" : `answered ${status}`;
  const code = errorCode === undefined ? "" : ` (code ${errorCode})`;
  const why = platformMessage ?? detail;
  return why === undefined ? `${call} ${outcome}${code}` : `${call} ${outcome}: ${why}${code}`;
}
