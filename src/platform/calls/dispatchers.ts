import { getCACertificates } from "node:tls";
import { Agent, type Dispatcher, Pool, ProxyAgent } from "undici";
import { type AllowedEndpoints, guardedLookup } from "../addresses/allowed-endpoints.ts";
import { proxyFor } from "../addresses/proxies.ts";
import type { TransportOptions } from "./call.ts";
import { createConnector } from "./connector.ts";

/** Keep-alive sockets, shared by all connections to the same host. */
export interface Dispatchers {
  to(endpoint: URL): Dispatcher;
  /** Closes all sockets and aborts their calls. */
  close(): Promise<void>;
}

/** Sockets per host: more than one credential may use at once, so that its hanging calls leave some for others. */
const SOCKETS = 256;
/** Timeout for a proxy that accepts the connection and does not answer. */
const PROXY_MS = 10_000;

/** Connects directly to a checked address, or through a proxy, which resolves the address itself. */
export function createDispatchers(options: TransportOptions, allowed: AllowedEndpoints | undefined): Dispatchers {
  const { ca, lookup, proxies = {} } = options;
  const tls = ca === undefined ? {} : { ca: [...getCACertificates("default"), ca] };
  const common = {
    allowH2: false,
    connections: SOCKETS,
    // The call's deadline covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const direct = new Agent({
    ...common,
    factory: (origin, pool) => {
      const guarded = allowed ? guardedLookup(allowed, new URL(origin), lookup) : lookup;
      return new Pool(origin, { ...pool, connect: createConnector({ tls, lookup: guarded }) });
    },
  });
  const proxyAgents = new Map<string, ProxyAgent>();
  const toProxy = createConnector({ tls });
  const proxyAt = (uri: string): ProxyAgent => {
    const known = proxyAgents.get(uri);
    if (known) return known;
    const agent = new ProxyAgent({
      ...common,
      uri,
      requestTls: tls,
      clientFactory: (origin) => new Pool(origin, { connect: toProxy, headersTimeout: PROXY_MS }),
      // Calls without TLS are sent to the proxy. Calls with TLS use a tunnel, over a connection of `clientFactory`.
      factory: (origin, pool) =>
        new Pool(origin, new URL(origin).href === new URL(uri).href ? { ...common, connect: toProxy } : pool),
    });
    proxyAgents.set(uri, agent);
    return agent;
  };
  return {
    to(endpoint) {
      const proxy = proxyFor(proxies, endpoint);
      return proxy === undefined ? direct : proxyAt(proxy);
    },
    async close() {
      // Not close(): it would wait for answers that nobody reads.
      await Promise.all([direct, ...proxyAgents.values()].map((each) => each.destroy()));
    },
  };
}
