import type { PlatformCall, Reply } from "../platform/calls/call.ts";
import { withoutDoubt } from "../platform/calls/platform-time.ts";
import type { Connection } from "../platform/calls/transport.ts";
import type { EndpointName } from "../platform/products/products.ts";
import type { StorageKeys } from "./storage-keys.ts";

/** A call that changes nothing. There is no other way to the platform in this room and in tools/. */
export interface ReadCall extends Pick<PlatformCall, "url" | "headers" | "answers" | "product" | "maxBytes"> {
  method: "GET" | "HEAD";
  signal: AbortSignal;
}

/** The platform, for reading. What is missing on the way to it is told, with what to set, when it is first needed. */
export interface PlatformReader {
  read(call: ReadCall): Promise<Reply>;
  endpoint(name: EndpointName): string;
  /** Whether an endpoint is set. */
  has(name: EndpointName): boolean;
  readonly identity: Connection["identity"];
  readonly contractNumber: number | undefined;
  /** By the platform's clock, as far as it is known. */
  now(): number;
  storageKeys(signal: AbortSignal): Promise<StorageKeys>;
  /** The region that calls to object storage are signed for, where it is set. */
  readonly storageRegion: string | undefined;
}

/** Somebody waits for the answer and nobody else is kept waiting: a rate limit may take its time. */
const patience = { priority: "normal", patienceMs: 20_000, deadlineMs: 60_000 } as const;

/** The platform makes tokens by GET: those are writes, too. */
const makes = /\/tokens\/generate$/;

/** Sends reads over a connection, and refuses whatever else it may be given. */
export function readOver(connection: Connection): PlatformReader["read"] {
  return async ({ method, url, headers, answers, product, maxBytes, signal }) => {
    if ((method !== "GET" && method !== "HEAD") || makes.test(new URL(url).pathname)) {
      throw new Error(`${method} is not sent: tools only read`);
    }
    const call = {
      ...patience,
      method,
      url,
      signal,
      ...(headers && { headers }),
      ...(answers && { answers }),
      ...(product !== undefined && { product }),
      ...(maxBytes !== undefined && { maxBytes }),
    };
    return withoutDoubt(connection, () => connection.send(call));
  };
}
