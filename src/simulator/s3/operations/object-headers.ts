import type { StoredObject } from "../buckets/records.ts";
import { httpDate, type S3Call } from "../call.ts";
import { fault } from "../fault.ts";
import { checksumHeader } from "../request/checksums.ts";

const kept = ["content-type", "content-disposition", "content-language", "cache-control", "expires"];
const longestMeta = 2048;

/** The headers of an upload that are given back with the object. */
export function keptHeaders({ request, header }: S3Call): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of kept) {
    const value = header(name);
    if (value !== undefined) headers[name] = value;
  }
  headers["content-type"] ??= "binary/octet-stream";
  // aws-chunked describes the transfer, not the object.
  const encodings = (header("content-encoding") ?? "").split(",").map((each) => each.trim());
  const own = encodings.filter((each) => each !== "" && each !== "aws-chunked");
  if (own.length > 0) headers["content-encoding"] = own.join(",");
  let size = 0;
  for (const [name, value] of Object.entries(request.headers)) {
    if (!name.startsWith("x-amz-meta-")) continue;
    headers[name] = String(value);
    size += name.length - "x-amz-meta-".length + String(value).length;
  }
  if (size > longestMeta) throw fault("InvalidArgument", `The metadata is longer than ${longestMeta} bytes`);
  return headers;
}

/** The headers that show an object, with what the query of a presigned link overrides. */
export function shownHeaders({ query, header }: S3Call, object: StoredObject, whole: boolean): Record<string, string> {
  const headers: Record<string, string> = {
    ...object.headers,
    etag: `"${object.etag}"`,
    "last-modified": httpDate(object.modifiedAt),
    "accept-ranges": "bytes",
  };
  const { checksum } = object;
  // The checksum is of the whole object; a client would compare it with the range it got.
  if (checksum !== undefined && whole && header("x-amz-checksum-mode")?.toUpperCase() === "ENABLED") {
    headers[checksumHeader(checksum.name)] = checksum.value;
    headers["x-amz-checksum-type"] = "FULL_OBJECT";
  }
  for (const name of [...kept, "content-encoding"]) {
    const override = query(`response-${name}`);
    if (override === undefined) continue;
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(override))
      throw fault("InvalidArgument", `response-${name} is no header value`);
    headers[name] = override;
  }
  return headers;
}
