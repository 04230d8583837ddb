import { endpointNames, endpointSchema } from "../kinds/identity/account.ts";
import { allowedEndpoints } from "../platform/addresses/allowed-endpoints.ts";
import type { EndpointName } from "../platform/addresses/endpoints.ts";
import { endpointsOfPlatform } from "../platform/addresses/platforms.ts";
import type { Proxies } from "../platform/addresses/proxies.ts";
import { UsageError } from "../server/usage-error.ts";

export type Endpoints = Partial<Record<EndpointName, string>>;

const isName = (text: string): text is EndpointName => endpointNames.some((name) => name === text);

/**
 * The operator's endpoints. `--endpoint NAME=URL` overrides MOORING_ENDPOINTS, a JSON object with the same names, which overrides
 * `--platform`.
 */
export function readEndpoints(flags: readonly string[], json: string | undefined, platform?: string): Endpoints {
  const endpoints: Endpoints = { ...ofPlatform(platform) };
  const put = (from: string, name: string, url: unknown) => {
    if (!isName(name)) throw new UsageError(`${from}: "${name}" is unknown; valid: ${endpointNames.join(", ")}`);
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

function ofPlatform(name: string | undefined): Endpoints {
  try {
    return endpointsOfPlatform(name);
  } catch (error) {
    throw new UsageError(`--platform: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function objectIn(json: string | undefined): object {
  if (json === undefined || json === "") return {};
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {}
  throw new UsageError('MOORING_ENDPOINTS must be a JSON object such as {"api": "https://api.example.com"}');
}

/** Patterns of the endpoints that Accounts may set; without a pattern they may set none. */
export function readPatterns(patterns: readonly string[]): readonly string[] {
  try {
    allowedEndpoints(patterns);
    return patterns;
  } catch (error) {
    throw new UsageError(`--allow-endpoint: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Proxies to the platform. Their URLs may hold a password, so no message shows them. */
export function readProxies(env: Record<string, string | undefined>): Proxies {
  const given = (name: string) => env[name] || env[name.toLowerCase()] || undefined;
  const urlOf = (name: string) => {
    const url = given(name);
    if (url === undefined || (URL.canParse(url) && /^https?:/.test(url))) return url;
    throw new UsageError(`${name} must be an http or https URL such as http://proxy.example.com:3128`);
  };
  return { http: urlOf("HTTP_PROXY"), https: urlOf("HTTPS_PROXY"), no: given("NO_PROXY") };
}

/** There is no default platform: the platform, its endpoints, or the endpoints that Accounts may set must be configured. */
export function requirePlatform({
  endpoints,
  allowEndpoints,
}: {
  endpoints: Endpoints;
  allowEndpoints: readonly string[];
}): void {
  if (Object.keys(endpoints).length > 0 || allowEndpoints.length > 0) return;
  throw new UsageError(
    "no platform is set: start with --platform ionos, or with --endpoint api=URL for a platform with the same interface; with --allow-endpoint PATTERN alone, Accounts name their endpoints themselves",
  );
}
