import type { Connection } from "../../platform/calls/transport.ts";
import type { PlatformReader } from "../reader.ts";

/** A connection that only reads. */
export function readOnlyConnection(key: string, reader: PlatformReader, signal: AbortSignal): Connection {
  return {
    id: key,
    async send(call) {
      const { method, url, headers, answers, product, maxBytes } = call;
      if (method !== "GET" && method !== "HEAD") throw new Error(`${method} is not sent: this connection only reads`);
      return reader.read({
        method,
        url,
        signal: call.signal ? AbortSignal.any([signal, call.signal]) : signal,
        ...(headers && { headers }),
        ...(answers && { answers }),
        ...(product !== undefined && { product }),
        ...(maxBytes !== undefined && { maxBytes }),
      });
    },
    setCredentials: () => {},
    identity: reader.identity,
    contractNumber: reader.contractNumber,
    close: async () => {},
  };
}
