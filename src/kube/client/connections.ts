import { Agent, type Dispatcher, ProxyAgent } from "undici";

export interface ClientTls {
  ca?: string | Buffer;
  cert?: string | Buffer;
  key?: string | Buffer;
  servername?: string;
  insecure?: boolean;
}

/**
 * A pool of keep-alive connections without timeouts of its own: calls have deadlines, and a watch may be quiet. At most
 * `connections` connections to the server; unlimited without it.
 */
export function connectionPool(options: { tls?: ClientTls; proxy?: string }, connections?: number): Dispatcher {
  const { tls = {}, proxy } = options;
  const trust = {
    ...(tls.ca !== undefined && { ca: tls.ca }),
    ...(tls.cert !== undefined && { cert: tls.cert }),
    ...(tls.key !== undefined && { key: tls.key }),
    ...(tls.servername !== undefined && { servername: tls.servername }),
    ...(tls.insecure && { rejectUnauthorized: false }),
  };
  const pool = {
    allowH2: false,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 30_000,
    ...(connections !== undefined && { connections }),
  };
  if (proxy !== undefined) return new ProxyAgent({ ...pool, uri: proxy, requestTls: trust });
  return new Agent({ ...pool, connect: { ...trust, timeout: 10_000 } });
}
