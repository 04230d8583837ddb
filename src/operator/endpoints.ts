import { endpointNames, endpointSchema } from "../kinds/identity/account.ts";
import type { EndpointName } from "../platform/products.ts";
import { UsageError } from "./usage-error.ts";

export type Endpoints = Partial<Record<EndpointName, string>>;

const isName = (text: string): text is EndpointName => endpointNames.some((name) => name === text);

/** The operator's endpoints: `--endpoint NAME=URL`, over MOORING_ENDPOINTS, a JSON object of the same names. */
export function readEndpoints(flags: readonly string[], json: string | undefined): Endpoints {
  const endpoints: Endpoints = {};
  const put = (from: string, name: string, url: unknown) => {
    if (!isName(name)) throw new UsageError(`${from}: "${name}" is none of ${endpointNames.join(", ")}`);
    const { data, error } = endpointSchema[name].safeParse(url);
    if (data === undefined) throw new UsageError(`${from}: ${name} ${error?.issues[0]?.message ?? "must be a URL"}`);
    endpoints[name] = data;
  };
  for (const [name, url] of Object.entries(objectIn(json))) put("MOORING_ENDPOINTS", name, url);
  for (const flag of flags) {
    const [, name = "", url = ""] = /^([^=]*)=(.*)$/.exec(flag) ?? [];
    if (url === "") throw new UsageError(`--endpoint: "${flag}" is not NAME=URL; write api=https://api.example.com`);
    put("--endpoint", name, url);
  }
  return endpoints;
}

function objectIn(json: string | undefined): object {
  if (json === undefined || json === "") return {};
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {}
  throw new UsageError('MOORING_ENDPOINTS has to be a JSON object such as {"api": "https://api.example.com"}');
}

/**
 * What Accounts may name as endpoints of their own. `*` stands for a part of the host, or for the port. Without a
 * pattern nothing, unless the operator has no endpoints either: then Accounts are all that leads anywhere.
 */
export function allowing(patterns: readonly string[], endpoints: Endpoints): (url: string) => boolean {
  if (patterns.length === 0 && Object.keys(endpoints).length === 0) return () => true;
  const allowed = patterns.map((pattern) => {
    const [, scheme = "", host = "", port] =
      /^(https?):\/\/([A-Za-z0-9.*-]+|\[[0-9A-Fa-f:]+\])(?::(\d+|\*))?$/.exec(pattern) ?? [];
    if (host === "") throw new UsageError(`--allow-endpoint: "${pattern}" is not like https://*.example.com:8443`);
    const hosts = new RegExp(
      `^${host
        .toLowerCase()
        .replace(/[.[\]]/g, "\\$&")
        .replaceAll("*", "[a-z0-9.-]+")}$`,
    );
    return (url: URL) =>
      url.protocol === `${scheme}:` && hosts.test(url.hostname) && (port === "*" || url.port === portOf(scheme, port));
  });
  return (text) => {
    const url = URL.parse(text);
    return url !== null && url.username === "" && url.password === "" && allowed.some((matches) => matches(url));
  };
}

/** As a URL has it: the usual port is not written. */
const portOf = (scheme: string, port = ""): string => (port === (scheme === "https" ? "443" : "80") ? "" : port);
