import { lookup as lookupAddress } from "node:dns";
import { type BlockList, isIP, type LookupFunction } from "node:net";
import { contains, defaultPort, hostOf, rangeOf } from "./ranges.ts";

/**
 * Which endpoints an Account may set, and which addresses a connection to them may use.
 *
 * A pattern is scheme, host and port: `https://*.example.com`, `http://127.0.0.1:*`, `https://10.20.0.0/16:8443`.
 * - `*` in a host matches one label, or a part of one, without dots; as a port, it matches any port. Without a port, the
 *   scheme's default port counts.
 * - http is allowed only by a pattern with http.
 * - A host may be an address or a range of addresses (`[fd00::/8]`).
 *
 * A connection goes to a public address only, whatever the name resolves to. Exceptions: a matching pattern names the host
 * without `*`, or a pattern of the same scheme and port names the address or its range.
 */
export interface AllowedEndpoints {
  /** Whether an Account may use this endpoint. Its host may contain `{region}`. */
  allows(endpoint: string): boolean;
  /** Whether a connection to this allowed endpoint may use this address. */
  allowsAddress(endpoint: URL, address: string): boolean;
}

interface Pattern {
  readonly protocol: string;
  /** undefined: any. */
  readonly port: string | undefined;
  /** An address range, or a name; `exact` when the name has no `*`. */
  readonly host: { readonly range: BlockList } | { readonly name: RegExp; readonly exact: boolean };
}

/** Throws when a pattern is invalid; the message names it. */
export function allowedEndpoints(patterns: readonly string[]): AllowedEndpoints {
  const known = patterns.map(readPattern);
  /** Whether a pattern names the address, its range, or the exact host of the endpoint. */
  const names = (pattern: Pattern, endpoint: URL, address: string) => {
    if ("range" in pattern.host)
      return matchesSchemeAndPort(pattern, endpoint) && contains(pattern.host.range, address);
    return pattern.host.exact && matches(pattern, endpoint);
  };
  const allowsAddress = (endpoint: URL, address: string) =>
    isPublic(address) || known.some((pattern) => names(pattern, endpoint, address));
  return {
    allows(endpoint) {
      const text = endpoint.replaceAll("{region}", PLACEHOLDER);
      const url = URL.canParse(text) ? new URL(text) : undefined;
      if (url === undefined || url.username !== "" || url.password !== "") return false;
      const host = hostOf(url);
      return known.some((pattern) => matches(pattern, url)) && (isIP(host) === 0 || allowsAddress(url, host));
    },
    allowsAddress,
  };
}

/** The pattern that allows one of the operator's own endpoints, in every region. Throws when it is not a URL. */
export function patternOf(endpoint: string): string {
  const { protocol, host } = new URL(endpoint.replaceAll("{region}", PLACEHOLDER));
  return `${protocol}//${host.replaceAll(PLACEHOLDER, "*")}`;
}

const PLACEHOLDER = "region-placeholder";

/** Resolves the name of an endpoint to its allowed addresses only, so that no other address is connected to. */
export function guardedLookup(
  allowed: AllowedEndpoints,
  endpoint: URL,
  lookup: LookupFunction = lookupAddress,
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const all = typeof found === "string" ? [{ address: found, family: isIP(found) }] : found;
      const usable = error ? [] : all.filter(({ address }) => allowed.allowsAddress(endpoint, address));
      const [first] = usable;
      if (first === undefined) callback(error ?? new Error(`${hostname} has no allowed address`), "");
      else if (options.all) callback(null, usable);
      else callback(null, first.address, first.family);
    });
  };
}

const patternForm = /^(https?):\/\/(\[[0-9a-f:.]+(?:\/\d+)?\]|[\w.*-]+(?:\/\d+)?)(?::(\*|\d+))?\/?$/i;

function readPattern(text: string): Pattern {
  const [, scheme = "", host = "", port] = patternForm.exec(text.trim()) ?? [];
  const pattern = host === "" ? undefined : readHost(host.toLowerCase().replace(/^\[|\]$|\.$/g, ""));
  if (pattern === undefined) {
    throw new Error(`"${text}" is not a pattern for endpoints, such as https://*.example.com or http://127.0.0.1:*`);
  }
  const protocol = `${scheme.toLowerCase()}:`;
  return { protocol, port: port === "*" ? undefined : (port ?? defaultPort(protocol)), host: pattern };
}

function readHost(text: string): Pattern["host"] | undefined {
  const [address = "", bits] = text.split("/");
  const version = isIP(address);
  if (version === 0) {
    if (bits !== undefined || !/[a-z*]/.test(address)) return undefined;
    const name = address.replaceAll(".", "\\.").replaceAll("*", "[^.]+");
    return { name: new RegExp(`^${name}$`), exact: !address.includes("*") };
  }
  const width = version === 4 ? 32 : 128;
  const prefix = bits === undefined ? width : Number(bits);
  return prefix > width ? undefined : { range: rangeOf(`${address}/${prefix}`) };
}

const matchesSchemeAndPort = ({ protocol, port }: Pattern, url: URL): boolean =>
  protocol === url.protocol && (port === undefined || port === (url.port || defaultPort(protocol)));

function matches(pattern: Pattern, url: URL): boolean {
  const host = hostOf(url);
  const { host: allowed } = pattern;
  const matchesHost = "range" in allowed ? contains(allowed.range, host) : allowed.name.test(host);
  return matchesHost && matchesSchemeAndPort(pattern, url);
}

/** Addresses of this machine, this cluster, its network or the cloud around it, and addresses that are not routed. */
const notPublic = rangeOf(
  // This host, loopback, private, carrier-grade NAT, link-local with the metadata service.
  ...["0.0.0.0/8", "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16"],
  // Protocols, documentation, benchmarks, multicast, reserved and broadcast.
  ...["192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"],
  ...["224.0.0.0/4", "240.0.0.0/4"],
  // Unspecified, loopback, unique local, link-local, site-local, multicast, discard, documentation.
  ...["::/128", "::1/128", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "100::/64", "2001:db8::/32", "3fff::/20"],
  // IPv4 in IPv6: compatible, translated, NAT64, 6to4, Teredo.
  ...["::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"],
);

const isPublic = (address: string): boolean => isIP(address) !== 0 && !contains(notPublic, address);
