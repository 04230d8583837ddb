import { type KubeCause, KubeError } from "./errors.ts";

/** The parts of a `Status` object that this client reads. All are optional, because proxies and webhooks may answer anything. */
interface Status {
  kind?: unknown;
  code?: unknown;
  reason?: unknown;
  message?: unknown;
  details?: { retryAfterSeconds?: unknown; causes?: unknown } | null;
}

const REASONS: Record<number, string> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** Validation messages may repeat the request body: for a Secret they must not be shown. */
const isSecretWrite = (method: string, path: string) => method !== "GET" && /\/secrets(\/|$)/.test(path);

export interface Answer {
  method: string;
  path: string;
  status: number;
  retryAfter?: string | undefined;
  /** The body: a Status, or any text from a proxy in between. */
  text: string;
}

/** The error for an answer with a status of 400 or more. */
export function errorOf(answer: Answer, now: number): KubeError {
  const status = parse(answer.text);
  const message = status ? text(status.message) : shorten(answer.text);
  return build(status ?? {}, answer.status, message, `${answer.method} ${answer.path}`, {
    retryAfterMs: retryAfter(answer.retryAfter, now),
    secret: isSecretWrite(answer.method, answer.path),
  });
}

/** The error inside an ERROR event of a watch stream. */
export function errorOfEvent(object: unknown, path: string): KubeError {
  const status = isStatus(object) ? object : {};
  const code = typeof status.code === "number" ? status.code : 500;
  return build(status, code, text(status.message), `GET ${path}`, { secret: false });
}

function build(
  status: Status,
  code: number,
  message: string,
  call: string,
  options: { retryAfterMs?: number | undefined; secret: boolean },
): KubeError {
  const reason = text(status.reason) || REASONS[code] || "Unknown";
  const causes = causesOf(status.details?.causes);
  const fields = causes.flatMap(({ field }) => field ?? []).join(", ");
  const said = options.secret ? fields : message;
  const seconds = status.details?.retryAfterSeconds;
  return new KubeError({
    status: code,
    reason,
    message: `${call}: ${code} ${reason}${said ? `: ${said}` : ""}`,
    causes: options.secret ? causes.map(({ message: _, ...rest }) => rest) : causes,
    retryAfterMs: options.retryAfterMs ?? (typeof seconds === "number" && seconds > 0 ? seconds * 1000 : undefined),
  });
}

function isStatus(value: unknown): value is Status {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "Status";
}

function parse(body: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isStatus(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const shorten = (body: string): string => {
  const line = body.replace(/\s+/g, " ").trim();
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
};

function causesOf(value: unknown): KubeCause[] {
  if (!Array.isArray(value)) return [];
  return value.map((cause: Record<string, unknown> | null) => ({
    ...(typeof cause?.reason === "string" && { reason: cause.reason }),
    ...(typeof cause?.message === "string" && { message: cause.message }),
    ...(typeof cause?.field === "string" && { field: cause.field }),
  }));
}

/** Milliseconds of a Retry-After header: seconds or an HTTP date. */
function retryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  if (header.trim() !== "" && Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
