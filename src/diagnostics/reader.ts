import type { EndpointName } from "../platform/addresses/endpoints.ts";
import type { PlatformCall, Reply } from "../platform/calls/call.ts";
import { withoutDoubt } from "../platform/calls/platform-time.ts";
import type { Connection } from "../platform/calls/transport.ts";
import type { StorageKeys } from "./storage-keys.ts";

/** A read-only call. This room and tools/ have no other access to the platform. */
export interface ReadCall extends Pick<PlatformCall, "url" | "headers" | "answers" | "product" | "maxBytes"> {
  method: "GET" | "HEAD";
  signal: AbortSignal;
}

/** Read access to the platform. If something is missing, the first use fails with a message that says what to set. */
export interface PlatformReader {
  read(call: ReadCall): Promise<Reply>;
  endpoint(name: EndpointName): string;
  has(name: EndpointName): boolean;
  readonly identity: Connection["identity"];
  readonly contractNumber: number | undefined;
  /** The platform's time, as far as it is known. */
  now(): number;
  storageKeys(signal: AbortSignal): Promise<StorageKeys>;
  /** The region for signatures of object storage calls, if it is set. */
  readonly storageRegion: string | undefined;
}

/** Patient with rate limits, because nothing else waits for this call. */
const patience = { priority: "normal", patienceMs: 20_000, deadlineMs: 60_000 } as const;

/** The platform creates tokens by GET, so this path counts as a write. */
const createsToken = /\/tokens\/generate$/;

/** Sends reads over a connection, and refuses every other call. */
export function readOver(connection: Connection): PlatformReader["read"] {
  return async ({ method, url, headers, answers, product, maxBytes, signal }) => {
    if ((method !== "GET" && method !== "HEAD") || createsToken.test(new URL(url).pathname)) {
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
