import type { IncomingMessage } from "node:http";
import { createFairPool } from "../kube/client/fair-pool.ts";
import { Refused } from "./refused.ts";

/** A body that is held in memory until its call cannot be retried any more. */
export interface Held {
  bytes: Buffer;
  release(): void;
}

/** Reads the bodies of all calls, within a limit per call and per namespace. */
export interface Bodies {
  /** Calls `begin` right before it reads the body. */
  read(request: IncomingMessage, namespace: string, begin: () => void): Promise<Held>;
  readonly held: number;
}

const MIB = 1_048_576;
/** A prompt of 128,000 tokens has half a megabyte; prompts with images have more. */
const MOST = 8 * MIB;
/** The first bytes of each body come from a separate pool, so that small bodies do not wait for large ones. */
const BEGINNING = 65_536;
const BEGINNINGS = 16 * MIB;
const REST = 48 * MIB;

/** Reads all chunks by events: an async iterator would cost more time than all other work on a call. */
function eachChunk(request: IncomingMessage, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: unknown) => {
      request.removeListener("data", next);
      if (error === undefined) resolve();
      else reject(error);
    };
    const next = (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        settle(error);
      }
    };
    request.on("data", next);
    request.once("end", () => settle());
    request.once("error", settle);
    request.once("close", () => {
      if (!request.complete) settle(new Error("the client left"));
    });
  });
}

function checkHeaders({ headers }: IncomingMessage): void {
  const { "content-type": type = "", "content-encoding": encoding, "content-length": length } = headers;
  if (encoding !== undefined || !/^application\/json\s*(;|$)/i.test(type)) {
    throw new Refused(415, "unsupported_media_type", "send the body as application/json, not compressed");
  }
  if (Number(length) > MOST) throw tooLarge();
}

const tooLarge = () => new Refused(413, "body_too_large", `the body is larger than ${MOST} bytes`);

export function createBodies(): Bodies {
  const beginnings = createFairPool(BEGINNINGS);
  const rests = createFairPool(REST);

  /** The memory for the body of one call. */
  function memoryOf(namespace: string) {
    let [beginning, rest] = [0, 0];
    return {
      grow(bytes: number): void {
        const first = Math.min(bytes, BEGINNING - beginning);
        if (beginning + rest + bytes > MOST) throw tooLarge();
        if (first > 0 && !beginnings.take(namespace, first)) throw full(namespace);
        beginning += first;
        if (bytes > first && !rests.take(namespace, bytes - first)) throw full(namespace);
        rest += bytes - first;
      },
      release(): void {
        beginnings.giveBack(namespace, beginning);
        rests.giveBack(namespace, rest);
        [beginning, rest] = [0, 0];
      },
    };
  }

  return {
    get held() {
      return beginnings.held + rests.held;
    },
    async read(request, namespace, begin) {
      checkHeaders(request);
      begin();
      const chunks: Buffer[] = [];
      const { grow, release } = memoryOf(namespace);
      try {
        await eachChunk(request, (chunk) => {
          grow(chunk.length);
          chunks.push(chunk);
        });
      } catch (error) {
        release();
        throw error;
      }
      const [only] = chunks;
      return { bytes: only && chunks.length === 1 ? only : Buffer.concat(chunks), release };
    },
  };
}

const full = (namespace: string) =>
  new Refused(503, "overloaded", `too many large calls of namespace ${namespace} at once`, { retryAfter: 2 });
