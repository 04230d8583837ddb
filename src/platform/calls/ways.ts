import { getCACertificates } from "node:tls";
import { Agent, type Dispatcher, Pool, ProxyAgent } from "undici";
import { type AllowedEndpoints, guardedLookup } from "../addresses/allowed-endpoints.ts";
import { proxyFor } from "../addresses/proxies.ts";
import type { TransportOptions } from "./call.ts";

/** The sockets that calls leave by: keep-alive, shared by all who call the same host. */
export interface Ways {
  to(endpoint: URL): Dispatcher;
  /** Ends all of them, whatever is under way. */
  close(): Promise<void>;
}

const connectMs = 10_000;
/** To one host. More than one credential may have under way: what hangs for one leaves some to the others. */
const SOCKETS = 256;

/** Straight to an address that is checked, or through a proxy, which chooses the address itself. */
export function createWays(options: TransportOptions, allowed: AllowedEndpoints | undefined): Ways {
  const { ca, lookup, proxies = {} } = options;
  const tls = ca === undefined ? {} : { ca: [...getCACertificates("default"), ca] };
  const common = {
    allowH2: false,
    connections: SOCKETS,
    connectTimeout: connectMs,
    // The deadline of the call covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const direct = new Agent({
    ...common,
    factory: (origin, pool) => {
      const guarded = allowed ? guardedLookup(allowed, new URL(origin), lookup) : lookup;
      return new Pool(origin, { ...pool, connect: { ...tls, ...(guarded && { lookup: guarded }) } });
    },
  });
  const through = new Map<string, ProxyAgent>();
  const proxyAt = (uri: string): ProxyAgent => {
    const known = through.get(uri);
    if (known) return known;
    const agent = new ProxyAgent({
      ...common,
      uri,
      requestTls: tls,
      proxyTls: tls,
      // A proxy that takes the connection and then says nothing.
      clientFactory: (origin, client) => new Pool(origin, { ...client, headersTimeout: connectMs }),
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
