import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { fault } from "../fault.ts";
import { type Claim, claimIn, type Signable } from "./claim.ts";
import { encoded, encodedPath } from "./target.ts";

/** A request with a valid signature. The signatures of its chunks continue from it. */
export interface Signed {
  accessKey: string;
  /** As sent in x-amz-content-sha256: a digest, or how the body is signed. */
  payload: string;
  signature: string;
  /** Signs with the same key, date and scope: `AWS4-HMAC-SHA256-PAYLOAD` and the like. */
  sign(algorithm: string, ...lines: string[]): string;
}

const longestSkewMs = 15 * 60 * 1000;

/**
 * Checks the AWS Signature V4 of a request, in its header or presigned in its query. `now` is the machine's time, which
 * clients sign with. Every region is accepted: one endpoint serves all.
 */
export function verified(request: Signable, secretOf: (accessKey: string) => string | undefined, now: number): Signed {
  const claim = claimIn(request);
  const secret = secretOf(claim.accessKey);
  if (secret === undefined) {
    throw fault("InvalidAccessKeyId", "The access key does not exist or is not active", {
      AWSAccessKeyId: claim.accessKey,
    });
  }
  checkTime(claim, now);
  checkHeaders(request, claim);
  const key = signingKey(secret, claim.scope);
  const scope = claim.scope.join("/");
  const sign = (algorithm: string, ...lines: string[]) =>
    createHmac("sha256", key)
      .update([algorithm, claim.date, scope, ...lines].join("\n"))
      .digest("hex");
  const canonical = canonicalRequest(request, claim);
  if (!same(sign("AWS4-HMAC-SHA256", sha256(canonical)), claim.signature)) {
    throw fault("SignatureDoesNotMatch", "The signature is not the one that the secret key gives for this request", {
      AWSAccessKeyId: claim.accessKey,
      StringToSign: ["AWS4-HMAC-SHA256", claim.date, scope, sha256(canonical)].join("\n"),
      SignatureProvided: claim.signature,
      CanonicalRequest: canonical,
    });
  }
  return { accessKey: claim.accessKey, payload: claim.payload, signature: claim.signature, sign };
}

function checkTime({ date, at, lasts }: Claim, now: number): void {
  if (lasts !== undefined && now > at + lasts * 1000) {
    throw fault("AccessDenied", "The presigned request has expired", {
      Expires: new Date(at + lasts * 1000).toISOString(),
      ServerTime: new Date(now).toISOString(),
    });
  }
  const tooEarly = at > now + longestSkewMs;
  if (tooEarly || (lasts === undefined && at < now - longestSkewMs)) {
    throw fault("RequestTimeTooSkewed", "The time of the request differs too much from the time of the server", {
      RequestTime: date,
      ServerTime: new Date(now).toISOString(),
      MaxAllowedSkewMilliseconds: String(longestSkewMs),
    });
  }
}

/** A header that S3 acts on must be signed, or anybody between client and server could have set it. */
function checkHeaders({ headers }: Signable, { signedHeaders }: Claim): void {
  const unsigned = Object.keys(headers).filter(
    (name) => (name === "host" || name.startsWith("x-amz-")) && !signedHeaders.includes(name),
  );
  if (unsigned.length > 0) {
    throw fault("AccessDenied", "There were headers present in the request which were not signed", {
      HeadersNotSigned: unsigned.join(", "),
    });
  }
}

function canonicalRequest({ method, target, headers }: Signable, { signedHeaders, payload }: Claim): string {
  const query = target.query
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => [encoded(name), encoded(value)] as const)
    .sort(([a, x], [b, y]) => ordered(a, b) || ordered(x, y))
    .map((pair) => pair.join("="));
  const lines = signedHeaders.map((name) => {
    const values = (headers[name] ?? []).map((value) => value.trim().replace(/\s+/g, " "));
    return `${name}:${values.join(",")}\n`;
  });
  return [method, encodedPath(target.path), query.join("&"), lines.join(""), signedHeaders.join(";"), payload].join(
    "\n",
  );
}

const ordered = (a: string, b: string) => (a < b ? -1 : Number(a > b));

const signingKey = (secret: string, scope: readonly string[]) =>
  scope.reduce<Buffer>((key, part) => createHmac("sha256", key).update(part).digest(), Buffer.from(`AWS4${secret}`));

export const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");

/** Compares in constant time. */
export function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
