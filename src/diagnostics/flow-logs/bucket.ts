import type { Readable } from "node:stream";
import { AwsV4Signer } from "aws4fetch";
import { Agent, type Dispatcher, request } from "undici";
import { redactor } from "../../platform/calls/credentials.ts";
import { encodePath, regionOf } from "../../platform/products/s3.ts";
import { type Clock, sleep, systemClock } from "../../runtime/clock.ts";
import type { StorageKeys } from "../storage-keys.ts";
import { type ListPage, readListPage, readStorageError, type StoredObject } from "./listing.ts";
import { visible } from "./records/visible.ts";

/** Read access to a bucket. */
export interface Bucket extends AsyncDisposable {
  /** All objects with a prefix in the order of keys, read page by page on demand. */
  list(prefix: string, signal: AbortSignal): AsyncIterable<StoredObject>;
  /** The content of an object as a stream. */
  open(key: string, signal: AbortSignal): Promise<Readable>;
}

export interface BucketOptions {
  /** Address of object storage. The bucket is part of the path. */
  endpoint: string;
  bucket: string;
  keys: StorageKeys;
  /** Default: the region in the host name, as in s3.eu-central-3.example.com. */
  region?: string | undefined;
  clock?: Clock;
}

const ATTEMPTS = 4;
const FIRST_DELAY_MS = 250;

/** Reads a bucket with signed requests. Temporary errors (429, 5xx, a lost connection) are retried a few times. */
export function openBucket({ endpoint, bucket, keys, region, clock = systemClock }: BucketOptions): Bucket {
  const base = `${endpoint.replace(/\/+$/, "")}/${encodePath(bucket)}`;
  const agent = new Agent({ allowH2: false, connectTimeout: 10_000, headersTimeout: 30_000, bodyTimeout: 60_000 });
  const signing = {
    accessKeyId: keys.accessKey,
    secretAccessKey: keys.secretKey,
    service: "s3",
    region: region ?? regionOf(endpoint),
    // Cache of the day's signing keys.
    cache: new Map<string, ArrayBuffer>(),
  };
  const redact = redactor(keys.secretKey);

  async function attempt(url: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const signed = await new AwsV4Signer({ method: "GET", url, ...signing }).sign();
    const headers = Object.fromEntries(signed.headers.entries());
    return request(signed.url, { method: "GET", headers, dispatcher: agent, signal });
  }

  async function get(url: string, what: string, signal: AbortSignal): Promise<Readable> {
    for (let left = ATTEMPTS - 1, delayMs = FIRST_DELAY_MS; ; left--, delayMs *= 2) {
      let failure: unknown;
      try {
        const { statusCode, body } = await attempt(url, signal);
        if (statusCode === 200) return body;
        failure = new StorageError(`${what}: ${redact(refusal(statusCode, await readText(body)))}`);
        if (statusCode < 500 && statusCode !== 429) throw failure;
      } catch (error) {
        if (signal.aborted || error instanceof StorageError) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        failure = new StorageError(`${what} gave no answer: ${reason}`, { cause: error });
      }
      if (left === 0) throw failure;
      await sleep(clock, delayMs, signal);
    }
  }

  async function page(prefix: string, token: string | undefined, signal: AbortSignal): Promise<ListPage> {
    const query = new URLSearchParams({ "list-type": "2", ...(prefix && { prefix }) });
    if (token !== undefined) query.set("continuation-token", token);
    // Signatures require %20 for spaces; URLSearchParams writes "+".
    const url = `${base}?${query.toString().replaceAll("+", "%20")}`;
    return readListPage(await readText(await get(url, `bucket ${bucket}`, signal)));
  }

  return {
    async *list(prefix, signal) {
      let token: string | undefined;
      do {
        const { objects, next } = await page(prefix, token, signal);
        yield* objects;
        token = next;
      } while (token !== undefined);
    },
    open: async (key, signal) => get(`${base}/${encodePath(key)}`, "object storage", signal),
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

class StorageError extends Error {
  override readonly name = "StorageError";
}

/** The message for an answer other than 200, with the way out if there is one. */
function refusal(status: number, xml: string): string {
  const { code = "", message = "" } = readStorageError(xml) ?? {};
  const details = [code, message].filter((words) => words !== "").map((words) => visible(words, 200));
  const answer = [`answered ${status}`, ...details].join(": ");
  return status === 403 ? `${answer} (is the key active, and may its user read the bucket?)` : answer;
}

const LONGEST_TEXT = 16 * 1024 * 1024;

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > LONGEST_TEXT) throw new StorageError(`object storage sent a text of more than ${LONGEST_TEXT} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
