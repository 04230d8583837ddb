import { type Dispatcher, EnvHttpProxyAgent } from "undici";
import type { Credentials } from "./access.ts";

export interface UpstreamCall {
  method: "GET" | "POST";
  /** One of the paths that are known: never what a client has written. */
  path: string;
  body?: string;
}

/** The platform's inference API. */
export interface Upstream {
  send(call: UpstreamCall, signal: AbortSignal, refused: boolean): Promise<Dispatcher.ResponseData>;
  close(): Promise<void>;
}

/** A large model thinks for a while before its first word, and between two of them. */
const SILENCE_MS = 180_000;

/** Nothing of a client's request goes there but the body that was read: no header, no path, no query. */
export function createUpstream(options: { url: string; credentials: Credentials; ca?: string | undefined }): Upstream {
  const { origin, pathname } = new URL(options.url);
  const prefix = pathname.replace(/\/$/, "");
  const agent = new EnvHttpProxyAgent({
    connections: 256,
    connectTimeout: 10_000,
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
    ...(options.ca !== undefined && { connect: { ca: options.ca }, requestTls: { ca: options.ca } }),
  });
  return {
    async send({ method, path, body }, signal, refused) {
      return agent.request({
        origin,
        path: `${prefix}${path}`,
        method,
        headers: {
          ...(await options.credentials(refused)),
          "user-agent": "mooring-gateway",
          accept: "application/json, text/event-stream",
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        body: body ?? null,
        signal,
      });
    },
    close: () => agent.destroy(),
  };
}
