import { type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import type { Credentials } from "../access/access.ts";
import { type Secrets, secretsIn } from "../answer/redact.ts";

export interface UpstreamCall {
  method: "GET" | "POST";
  /** One of the known paths, never text from a client. */
  path: string;
  body?: string;
}

/** An answer, with the credentials that must be removed from it. */
export type UpstreamAnswer = Dispatcher.ResponseData<{ secrets: Secrets }>;

/** The platform's inference API. */
export interface Upstream {
  send(call: UpstreamCall, signal: AbortSignal, refused: boolean): Promise<UpstreamAnswer>;
  close(): Promise<void>;
}

/** Maximum open calls. Each has its own connection, and the list of models has one more. */
export const MOST_CALLS = 512;

/** A large model may pause this long before its first token and between two tokens. */
const SILENCE_MS = 180_000;

const isProxied = (): boolean =>
  ["http_proxy", "https_proxy"].some((name) => process.env[name] ?? process.env[name.toUpperCase()]);

/** Only the parsed body of a client's request reaches the platform: no header, no path, no query. */
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
  // Without a proxy, a plain pool is cheaper: it does not check the proxy rules at each call.
  const agent = isProxied() ? new EnvHttpProxyAgent({ ...limits, ...tls }) : new Pool(origin, { ...limits, ...tls });
  const secretsOf = lastOf(secretsIn);
  return {
    async send({ method, path, body }, signal, refused) {
      const credentials = await options.credentials(refused);
      return agent.request({
        origin,
        opaque: { secrets: secretsOf(Object.values(credentials)) },
        path: `${prefix}${path}`,
        method,
        headers: {
          ...credentials,
          "user-agent": "mooring-gateway",
          accept: "application/json, text/event-stream",
          // Without this, a proxy may compress the answer.
          "accept-encoding": "identity",
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        body: body ?? null,
        signal,
      });
    },
    close: () => agent.destroy(),
  };
}

/** Keeps the last result: the same words give the same one. */
function lastOf<V>(make: (words: readonly string[]) => V): (words: readonly string[]) => V {
  let last: { key: string; value: V } | undefined;
  return (words) => {
    const key = JSON.stringify(words);
    if (last?.key !== key) last = { key, value: make(words) };
    return last.value;
  };
}
