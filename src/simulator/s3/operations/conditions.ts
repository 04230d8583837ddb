import type { StoredObject } from "../buckets/records.ts";
import type { S3Call } from "../call.ts";
import { fault } from "../fault.ts";

const failed = (header: string) =>
  fault("PreconditionFailed", "A precondition of the request does not hold", { Condition: header });

/** Checks the conditions of a read: true when the caller's copy is current. Throws 412. */
export function isUnchanged({ header }: Pick<S3Call, "header">, { etag, modifiedAt }: StoredObject): boolean {
  const [match, noneMatch] = [header("if-match"), header("if-none-match")];
  // Dates on the wire have no milliseconds.
  const modified = Math.floor(modifiedAt / 1000) * 1000;
  const since = Date.parse(header("if-modified-since") ?? "");
  const unlessSince = Date.parse(header("if-unmodified-since") ?? "");
  if (match !== undefined && !names(match, etag)) throw failed("If-Match");
  if (match === undefined && modified > unlessSince) throw failed("If-Unmodified-Since");
  if (noneMatch !== undefined) return names(noneMatch, etag);
  return modified <= since;
}

/** Checks the conditions on the source of a copy. Throws 412. */
export function checkSource({ header }: S3Call, source: StoredObject): void {
  const unchanged = isUnchanged({ header: (name) => header(`x-amz-copy-source-${name}`) }, source);
  if (unchanged) throw failed("x-amz-copy-source-If-None-Match");
}

/** Checks the conditions of a write, inside its transaction. Throws 412. */
export function checkWrite({ header }: S3Call, before: StoredObject | undefined): void {
  const [match, noneMatch] = [header("if-match"), header("if-none-match")];
  if (noneMatch !== undefined && before !== undefined && names(noneMatch, before.etag)) throw failed("If-None-Match");
  if (match !== undefined && (before === undefined || !names(match, before.etag))) throw failed("If-Match");
}

const names = (header: string, etag: string) =>
  header.split(",").some((each) => ["*", etag, `"${etag}"`].includes(each.trim()));
