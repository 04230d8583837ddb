interface More {
  /** Seconds. */
  retryAfter?: number;
  /** False: the same call will not do better for a long time; clients obey `x-should-retry`. */
  retry?: false;
}

/** A call that the gateway itself ends, in the form that clients of chat-completion APIs know. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Record<string, string>;

  constructor(status: number, code: string, message: string, { retryAfter, retry }: More = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = {
      ...(retryAfter !== undefined && { "retry-after": String(Math.max(1, Math.ceil(retryAfter))) }),
      ...(retry === false && { "x-should-retry": "false" }),
    };
  }

  get body(): string {
    const type = this.status >= 500 ? "server_error" : "invalid_request_error";
    return JSON.stringify({ error: { message: this.message, type, param: null, code: this.code } });
  }
}

/** A model that a namespace may not use, with some of those that it may. */
export const notAllowed = (namespace: string, model: string, allowed: readonly string[]): Refused =>
  new Refused(
    403,
    "model_not_allowed",
    `namespace ${namespace} may not use ${model}; it may use ${allowed.slice(0, 20).join(", ") || "none"}`,
  );
