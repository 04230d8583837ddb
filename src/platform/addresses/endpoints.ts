import { recalled } from "../../runtime/lru.ts";
import { withoutTrailing } from "../../runtime/text.ts";

/** The endpoints of the platform, as `Account.spec.endpoints` names them. */
export type EndpointName =
  | "api"
  | "monitoring"
  | "logging"
  | "streaming"
  | "inference"
  | "objectStorage"
  | "objectStorageManagement"
  | "dns"
  | "certificates";

/**
 * The canonical form of an endpoint: two endpoints are the same if this text is equal. Everything that compares, claims or allows
 * endpoints uses it. The origin is as a URL parser writes it, without a dot after the host, and an IPv4 address in IPv6 form is
 * written as IPv4. The path has no empty parts and no needless escapes. The base path of the core API is removed, because calls
 * add it. Text that is not a URL loses only its trailing slashes. Every version of an object names an endpoint, and there are few.
 */
export const spellingOf = recalled((endpoint: string): string => {
  const text = endpoint.trim();
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return withoutTrailing(text, "/");
  url.hostname = mappedIPv4(url.hostname) ?? url.hostname.replace(/\.$/, "");
  url.pathname = url.pathname
    .replace(/%[0-9a-f]{2}/gi, unescaped)
    .replace(/\/{2,}/g, "/")
    .replace(/(\/cloudapi\/v6)*\/?$/, "");
  return url.href.replace(/\/$/, "");
});

/** An escaped character as itself, unless it needs the escape. */
function unescaped(escaped: string): string {
  const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
  return /[\w.~-]/.test(character) ? character : escaped.toUpperCase();
}

/** The IPv4 address in a host such as [::ffff:7f00:1]. */
function mappedIPv4(host: string): string | undefined {
  const words = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(host)?.slice(1);
  return words?.map((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 255].join(".")).join(".");
}

/**
 * The URL of a product: an Account's endpoint with `{region}` replaced, in its canonical form. A region is a location ("de/fra",
 * "de/fra/2") or a slug ("de-fra"). The second site of a location uses the services of the first.
 */
export function endpointUrl(template: string, region: string | undefined): string {
  if (!template.includes("{region}")) return spellingOf(template);
  if (region === undefined || region.trim() === "") {
    throw new Error(`the endpoint ${template} needs a region: set spec.region, for example "de/fra"`);
  }
  return spellingOf(template.replaceAll("{region}", slugOf(region)));
}

/** "de/fra/2" → "de-fra". */
export function slugOf(location: string): string {
  const slug = location.trim().toLowerCase().split("/").slice(0, 2).join("-");
  // The slug becomes part of a host name that credentials are sent to, so it must not contain anything else.
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug)) throw new Error(`"${location}" is not a location like "de/fra"`);
  return slug;
}
