import { isIP } from "node:net";
import { contains, defaultPort, hostOf, rangeOf } from "./ranges.ts";

/** The values of HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
export interface Proxies {
  readonly http?: string | undefined;
  readonly https?: string | undefined;
  readonly no?: string | undefined;
}

const loopback = rangeOf("127.0.0.0/8", "::1/128");

/**
 * The proxy to an endpoint, chosen as curl and Go do; undefined for none. Loopback addresses never use a proxy. NO_PROXY has
 * names, which also match their subdomains, `.name` for subdomains, addresses, ranges (10.0.0.0/8) and `*`; each except ranges
 * may have a port.
 */
export function proxyFor({ http, https, no = "" }: Proxies, endpoint: URL): string | undefined {
  const host = hostOf(endpoint);
  const proxy = (endpoint.protocol === "https:" ? https : http) || undefined;
  const isLocal = host === "localhost" || contains(loopback, host);
  const port = endpoint.port || defaultPort(endpoint.protocol);
  const entries = no.toLowerCase().split(/[\s,]+/);
  return isLocal || entries.some((entry) => matches(entry, host, port)) ? undefined : proxy;
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === "" || entry === "*") return entry === "*";
  const [address = "", bits] = entry.split("/");
  if (bits !== undefined) {
    const width = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    return /^\d+$/.test(bits) && Number(bits) <= width && contains(rangeOf(entry), host);
  }
  const [, bracketed, plain, entryPort] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
  const name = bracketed ?? plain ?? entry;
  if (entryPort !== undefined && entryPort !== port) return false;
  const suffix = name.replace(/^\*?\.?/, ".");
  return name === "*" || host === name || (isIP(host) === 0 && host.endsWith(suffix));
}
