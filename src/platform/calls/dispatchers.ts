import { getCACertificates } from "node:tls";
import { Agent, type Dispatcher, Pool, ProxyAgent } from "undici";
import { type AllowedEndpoints, guardedLookup } from "../addresses/allowed-endpoints.ts";
import { proxyFor } from "../addresses/proxies.ts";
import type { TransportOptions } from "./call.ts";
import { createConnector } from "./connector.ts";

/** The sockets that calls leave by: keep-alive, shared by all who call the same host. */
export interface Dispatchers {
  to(endpoint: URL): Dispatcher;
  /** Ends all of them, whatever is under way. */
  close(): Promise<void>;
}

/** To one host. More than one credential may have under way: what hangs for one leaves some to the others. */
const SOCKETS = 256;
/** A proxy that takes the connection and then says nothing. */
const PROXY_MS = 10_000;

/** Straight to an address that is checked, or through a proxy, which chooses the address itself. */
export function createDispatchers(options: TransportOptions, allowed: AllowedEndpoints | undefined): Dispatchers {
  const { ca, lookup, proxies = {} } = options;
  const tls = ca === undefined ? {} : { ca: [...getCACertificates("default"), ca] };
  const common = {
    allowH2: false,
    connections: SOCKETS,
    // The deadline of the call covers both.
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
  const through = new Map<string, ProxyAgent>();
  const toProxy = createConnector({ tls });
  const proxyAt = (uri: string): ProxyAgent => {
    const known = through.get(uri);
    if (known) return known;
    const agent = new ProxyAgent({
      ...common,
      uri,
      requestTls: tls,
      clientFactory: (origin) => new Pool(origin, { connect: toProxy, headersTimeout: PROXY_MS }),
      // Calls without TLS go to the proxy itself; those with TLS go through a tunnel, which has a connection of the client above.
      factory: (origin, pool) =>
        new Pool(origin, new URL(origin).href === new URL(uri).href ? { ...common, connect: toProxy } : pool),
    });
    through.set(uri, agent);
    return agent;
  };
  return {
    to(endpoint) {
      const proxy = proxyFor(proxies, endpoint);
      return proxy === undefined ? direct : proxyAt(proxy);
    },
    async close() {
      // Not close(): that would wait for answers which nobody reads any more.
      await Promise.all([direct, ...through.values()].map((each) => each.destroy()));
    },
  };
}
