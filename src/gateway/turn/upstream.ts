import { type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import type { Credentials } from "../access/access.ts";
import { secretsIn } from "../answer/redact.ts";

export interface UpstreamCall {
  method: "GET" | "POST";
  /** One of the paths that are known: never what a client has written. */
  path: string;
  body?: string;
}

/** An answer, with what of the gateway's own credentials must not leave with it. */
export type UpstreamAnswer = Dispatcher.ResponseData<{ secrets: readonly string[] }>;

/** The platform's inference API. */
export interface Upstream {
  send(call: UpstreamCall, signal: AbortSignal, refused: boolean): Promise<UpstreamAnswer>;
  close(): Promise<void>;
}

/** So many calls may be open at the same time. Each has a connection of its own, and the list of models has one. */
export const MOST_CALLS = 512;

/** A large model thinks for a while before its first word, and between two of them. */
const SILENCE_MS = 180_000;

const isProxied = (): boolean =>
  ["http_proxy", "https_proxy"].some((name) => process.env[name] ?? process.env[name.toUpperCase()]);

/** Nothing of a client's request goes there but the body that was read: no header, no path, no query. */
export function createUpstream(options: { url: string; credentials: Credentials; ca?: string | undefined }): Upstream {
  const { origin, pathname } = new URL(options.url);
  const prefix = pathname.replace(/\/$/, "");
  const tls = options.ca === undefined ? {} : { connect: { ca: options.ca }, requestTls: { ca: options.ca } };
  const limits = {
    connections: MOST_CALLS + 1,
    connectTimeout: 10_000,
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
  };
  // Where there is no proxy, nobody has to be asked for each call whether it goes through one.
  const agent = isProxied() ? new EnvHttpProxyAgent({ ...limits, ...tls }) : new Pool(origin, { ...limits, ...tls });
  return {
    async send({ method, path, body }, signal, refused) {
      const credentials = await options.credentials(refused);
      return agent.request({
        origin,
        opaque: { secrets: secretsIn(Object.values(credentials)) },
        path: `${prefix}${path}`,
        method,
        headers: {
          ...credentials,
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
