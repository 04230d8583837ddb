import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { fault } from "../fault.ts";
import { checksumHeader, checksumNames, startChecksum } from "./checksums.ts";
import { dechunked, type Trailers } from "./dechunk.ts";
import type { Signed } from "./signature.ts";

/** A checksum that a client sent with an object and that matches it. */
export interface Checksum {
  name: string;
  value: string;
}

export interface Body {
  /** The content without framing. Throws at its end when it does not match the length and digests of the request. */
  content: AsyncIterable<Buffer>;
  /** Known once the content was read. */
  checksum(): Checksum | undefined;
}

const largestContent = 5 * 1024 ** 3;

/** The body of a signed request: framing taken off, and compared with every length and digest the client gave. */
export function bodyOf(request: IncomingMessage, signed: Signed): Body {
  const { headers } = request;
  const { payload } = signed;
  const chunked = /^STREAMING-(UNSIGNED|AWS4-HMAC-SHA256)-PAYLOAD(-TRAILER)?$/.exec(payload);
  if (chunked === null && payload !== "UNSIGNED-PAYLOAD" && !/^[0-9a-f]{64}$/.test(payload)) {
    throw fault("InvalidArgument", `x-amz-content-sha256 is not a digest and not a known way to sign: ${payload}`);
  }
  const announcedLength = headers[chunked === null ? "content-length" : "x-amz-decoded-content-length"];
  const bodyless = chunked === null && headers["transfer-encoding"] === undefined;
  const length = Number(announcedLength ?? (bodyless ? 0 : Number.NaN));
  if (!Number.isSafeInteger(length) || length < 0) {
    throw fault("MissingContentLength", "The length of the content has to be sent with it");
  }
  if (length > largestContent) {
    throw fault("EntityTooLarge", `The content is larger than ${largestContent} bytes: upload it in parts`);
  }
  const md5 = md5In(headers["content-md5"]);
  const announced = String(headers["x-amz-trailer"] ?? "")
    .trim()
    .toLowerCase();
  const name = checksumNames.find((each) => checksumHeader(each) in headers || checksumHeader(each) === announced);
  const trailers: Trailers = new Map();
  let found: Checksum | undefined;

  async function* content(): AsyncGenerator<Buffer> {
    const source = request.iterator({ destroyOnReturn: false });
    const plain =
      chunked === null ? source : dechunked(source, trailers, chunked[1] === "UNSIGNED" ? undefined : signed);
    const sha = chunked === null && payload !== "UNSIGNED-PAYLOAD" ? createHash("sha256") : undefined;
    const checksum = name === undefined ? undefined : startChecksum(name);
    const digest = createHash("md5");
    let size = 0;
    for await (const part of plain) {
      size += part.length;
      sha?.update(part);
      checksum?.update(part);
      if (md5 !== undefined) digest.update(part);
      yield part;
    }
    if (size !== length) throw fault("IncompleteBody", `The content has ${size} bytes, ${length} were announced`);
    if (sha !== undefined && sha.digest("hex") !== payload) {
      throw fault("XAmzContentSHA256Mismatch", "The content is not the one that x-amz-content-sha256 was made of");
    }
    if (md5 !== undefined && digest.digest("base64") !== md5) throw fault("BadDigest", "Content-MD5 does not match");
    if (name === undefined || checksum === undefined) return;
    const header = checksumHeader(name);
    const value = checksum.digest().toString("base64");
    if ((headers[header] ?? trailers.get(header)) !== value) {
      throw fault("BadDigest", `The content does not match ${header}`);
    }
    found = { name, value };
  }
  return { content: content(), checksum: () => found };
}

function md5In(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const text = String(header);
  // The platform's own clients send hexadecimal digits with object lock.
  if (/^[0-9a-f]{32}$/i.test(text)) return Buffer.from(text, "hex").toString("base64");
  if (!/^[A-Za-z0-9+/]{22}==$/.test(text)) throw fault("InvalidDigest", "Content-MD5 is not an MD5 digest");
  return text;
}

const largestDocument = 1024 * 1024;

/** A small body as text: the XML documents that S3 takes. */
export async function textIn(request: IncomingMessage, signed: Signed): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of bodyOf(request, signed).content) {
    size += part.length;
    if (size > largestDocument) throw fault("MalformedXML", "The document is too large");
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
