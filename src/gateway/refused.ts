interface More {
  /** Seconds until a retry. */
  retryAfter?: number;
  /** False: a retry will fail for a long time. Clients obey `x-should-retry`. */
  retry?: false;
}

/** An error answer of the gateway itself, in the format of chat completion APIs. */
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

/** The error for a model that a namespace may not use; it lists some that it may use. */
export const notAllowed = (namespace: string, model: string, allowed: readonly string[]): Refused =>
  new Refused(
    403,
    "model_not_allowed",
    `namespace ${namespace} may not use ${model}; it may use ${allowed.slice(0, 20).join(", ") || "none"}`,
  );
