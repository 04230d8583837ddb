import { fault } from "../fault.ts";
import type { Target } from "./target.ts";

/** The parts of a request that a signature covers. */
export interface Signable {
  method: string;
  target: Target;
  headers: Readonly<Record<string, readonly string[] | undefined>>;
}

/** The signature of a request as the request states it, not checked yet. */
export interface Claim {
  accessKey: string;
  /** date, region, `s3`, `aws4_request` */
  scope: readonly string[];
  /** `20150830T123600Z` */
  date: string;
  at: number;
  signedHeaders: string[];
  signature: string;
  payload: string;
  /** Seconds that a presigned request is good for. */
  lasts?: number;
}

const algorithm = "AWS4-HMAC-SHA256";
const longestLifeSeconds = 7 * 86_400;

/** Reads the signature from the Authorization header or from the query; refuses a request without one. */
export function claimIn(request: Signable): Claim {
  const authorization = request.headers.authorization?.[0];
  if (authorization !== undefined) return fromHeader(request, authorization);
  const query = new Map(request.target.query);
  if (query.has("X-Amz-Algorithm") || query.has("X-Amz-Signature")) return fromQuery(request, query);
  throw fault("AccessDenied", "The request is not signed: sign it with an S3 key of the contract");
}

function fromHeader({ headers }: Signable, authorization: string): Claim {
  const [scheme, ...rest] = authorization.split(" ");
  if (scheme !== algorithm) {
    throw fault("InvalidRequest", `The authorization mechanism is not supported: use ${algorithm}`);
  }
  const parts = new Map(
    rest
      .join(" ")
      .split(",")
      .map((part) => {
        const equals = part.indexOf("=");
        return [part.slice(0, equals).trim(), part.slice(equals + 1).trim()];
      }),
  );
  const refuse = (message: string) => fault("AuthorizationHeaderMalformed", `The Authorization header is ${message}`);
  const part = (name: string) => {
    const value = parts.get(name);
    if (!value) throw refuse(`incomplete: ${name} is missing`);
    return value;
  };
  const [text, signedHeaders, signature] = [part("Credential"), part("SignedHeaders").split(";"), part("Signature")];
  const date = headers["x-amz-date"]?.[0] ?? fromHttpDate(headers.date?.[0]);
  if (date === undefined) throw fault("AccessDenied", "A signed request needs a valid Date or x-amz-date header");
  const payload = headers["x-amz-content-sha256"]?.[0];
  if (payload === undefined) throw fault("InvalidRequest", "The header x-amz-content-sha256 is missing");
  return { ...credential(text, date, refuse), signedHeaders, signature, payload };
}

function fromQuery({ headers }: Signable, query: Map<string, string>): Claim {
  const refuse = (message: string) => fault("AuthorizationQueryParametersError", `The presigned query is ${message}`);
  const part = (name: string) => {
    const value = query.get(name);
    if (!value) throw refuse(`incomplete: ${name} is missing`);
    return value;
  };
  if (part("X-Amz-Algorithm") !== algorithm) throw refuse(`not signed with ${algorithm}`);
  const lasts = Number(part("X-Amz-Expires"));
  if (!Number.isInteger(lasts) || lasts < 1 || lasts > longestLifeSeconds) {
    throw refuse(`not valid: X-Amz-Expires must be from 1 to ${longestLifeSeconds} seconds`);
  }
  return {
    ...credential(part("X-Amz-Credential"), part("X-Amz-Date"), refuse),
    signedHeaders: part("X-Amz-SignedHeaders").split(";"),
    signature: part("X-Amz-Signature"),
    payload: headers["x-amz-content-sha256"]?.[0] ?? query.get("X-Amz-Content-Sha256") ?? "UNSIGNED-PAYLOAD",
    lasts,
  };
}

function credential(text: string, date: string, refuse: (message: string) => Error) {
  const parts = text.split("/");
  const scope = parts.slice(-4);
  const [day, , service, end] = scope;
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (parts.length < 5 || service !== "s3" || end !== "aws4_request") {
    throw refuse("not valid: Credential must be ACCESSKEY/YYYYMMDD/REGION/s3/aws4_request");
  }
  if (Number.isNaN(at) || !date.startsWith(`${day}T`)) throw refuse("not valid: its dates do not agree");
  return { accessKey: parts.slice(0, -4).join("/"), scope, date, at };
}

/** The date of a request as signatures spell it. */
function fromHttpDate(text: string | undefined): string | undefined {
  const at = Date.parse(text ?? "");
  return Number.isNaN(at) ? undefined : new Date(at).toISOString().replace(/[-:]|\.\d+/g, "");
}
