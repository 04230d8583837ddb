import type { IncomingMessage } from "node:http";
import { Refused } from "./refused.ts";

/** A body that is kept until its call can no longer be sent again. */
export interface Held {
  bytes: Buffer;
  release(): void;
}

/** Reads the bodies of all calls, within a limit for each and one for all of them. */
export interface Bodies {
  read(request: IncomingMessage): Promise<Held>;
  readonly held: number;
}

/** All pieces of a request, by its events: an iterator costs a call more time than all else that is done with it. */
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

export function createBodies({ most, mostOfAll }: { most: number; mostOfAll: number }): Bodies {
  let held = 0;
  return {
    get held() {
      return held;
    },
    async read(request) {
      const { "content-type": type = "", "content-encoding": encoding, "content-length": length } = request.headers;
      if (encoding !== undefined || !/^application\/json\s*(;|$)/i.test(type)) {
        throw new Refused(415, "unsupported_media_type", "send the body as application/json, not compressed");
      }
      const tooLarge = () => new Refused(413, "body_too_large", `the body is larger than ${most} bytes`);
      if (Number(length) > most) throw tooLarge();
      const chunks: Buffer[] = [];
      let size = 0;
      const release = () => {
        held -= size;
        size = 0;
      };
      const take = (chunk: Buffer) => {
        size += chunk.length;
        held += chunk.length;
        if (size > most) throw tooLarge();
        if (held > mostOfAll) throw new Refused(503, "overloaded", "too many large calls at once", { retryAfter: 2 });
        chunks.push(chunk);
      };
      try {
        await eachChunk(request, take);
      } catch (error) {
        release();
        throw error;
      }
      const [only] = chunks;
      return { bytes: only && chunks.length === 1 ? only : Buffer.concat(chunks), release };
    },
  };
}
