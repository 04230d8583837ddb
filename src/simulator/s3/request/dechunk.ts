import { createHash } from "node:crypto";
import { fault } from "../fault.ts";
import { type Signed, same, sha256 } from "./signature.ts";

/** The trailers after the last chunk: names in lower case. */
export type Trailers = Map<string, string>;

const longestLine = 16 * 1024;
const emptyDigest = sha256("");

/**
 * Removes the aws-chunked framing from a body and puts the trailers into `trailers`. With `signed`, every chunk and the
 * trailers must have a signature, which includes the one before it. The content is valid only once this ends without an
 * error.
 */
export async function* dechunked(
  source: AsyncIterator<Buffer>,
  trailers: Trailers,
  signed: Signed | undefined,
): AsyncGenerator<Buffer> {
  const reader = createReader(source);
  let previous = signed?.signature ?? "";
  const check = (algorithm: string, given: string | undefined, ...digests: string[]) => {
    if (signed === undefined) return;
    if (given === undefined || !same(signed.sign(algorithm, previous, ...digests), given)) {
      throw fault("SignatureDoesNotMatch", "The signature of a chunk is not the one that the secret key gives for it");
    }
    previous = given;
  };

  for (;;) {
    const [, size, signature] =
      /^([0-9a-f]{1,8})(?:;chunk-signature=([0-9a-f]{64}))?$/i.exec(await reader.line()) ?? [];
    if (size === undefined) throw fault("InvalidRequest", "The body is not in chunks as Content-Encoding says");
    const hash = createHash("sha256");
    let left = Number.parseInt(size, 16);
    const last = left === 0;
    while (left > 0) {
      const part = await reader.take(left);
      left -= part.length;
      if (signed !== undefined) hash.update(part);
      yield part;
    }
    check("AWS4-HMAC-SHA256-PAYLOAD", signature, emptyDigest, hash.digest("hex"));
    if (last) break;
    if ((await reader.line()) !== "") throw fault("InvalidRequest", "A chunk is longer than it says");
  }
  for (let line = await reader.line(); line !== ""; line = await reader.line()) {
    const colon = line.indexOf(":");
    trailers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const trailerSignature = trailers.get("x-amz-trailer-signature");
  trailers.delete("x-amz-trailer-signature");
  if (trailers.size > 0) {
    const text = Array.from(trailers, ([name, value]) => `${name}:${value}\n`).join("");
    check("AWS4-HMAC-SHA256-TRAILER", trailerSignature, sha256(text));
  }
}

/** Takes lines and bytes from a stream, whatever pieces it comes in. */
function createReader(source: AsyncIterator<Buffer>) {
  let rest: Buffer = Buffer.alloc(0);
  async function more() {
    const { done, value } = await source.next();
    if (done) throw fault("IncompleteBody", "The body ends in the middle of a chunk");
    rest = rest.length === 0 ? value : Buffer.concat([rest, value]);
  }
  return {
    async line(): Promise<string> {
      for (;;) {
        const end = rest.indexOf("\r\n");
        if (end >= 0) {
          const line = rest.toString("latin1", 0, end);
          rest = rest.subarray(end + 2);
          return line;
        }
        if (rest.length > longestLine) throw fault("InvalidRequest", "The body is not in chunks");
        await more();
      }
    },
    /** At least one byte, at most `most`. */
    async take(most: number): Promise<Buffer> {
      if (rest.length === 0) await more();
      const part = rest.subarray(0, most);
      rest = rest.subarray(part.length);
      return part;
    },
  };
}
