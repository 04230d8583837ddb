import type { LookupFunction } from "node:net";
import { type EndpointName, endpointUrl, spellingOf } from "./endpoints.ts";

type Endpoints = Readonly<Partial<Record<EndpointName, string | undefined>>>;

/** The administrator's settings for addresses. */
export interface Sites {
  /** The operator's own, for Accounts that name none. */
  endpoints: Endpoints;
  /** Whether credentials may be sent to another address that an Account names. */
  isAllowed(url: string): boolean;
  /** Resolves the name of an allowed address to what a connection may use; by default to all that it has. */
  lookup?: (url: URL) => LookupFunction;
}

/** Why an address may not be used. */
interface Obstacle {
  reason: "EndpointInvalid" | "EndpointNotAllowed";
  message: string;
}
type Found = { readonly url: string } | { readonly obstacle: Obstacle };

/** The addresses of an Account: its own where it names one, else the operator's. `obstacle`: why nothing may be sent. */
export function addressesOf(
  { endpoints = {}, region }: { endpoints?: Endpoints | undefined; region?: string | undefined },
  sites: Sites,
  names: readonly EndpointName[],
) {
  const invalid = (message: string) => ({ reason: "EndpointInvalid", message }) as const;
  const judge = (name: EndpointName): Found => {
    const [own, given] = [endpoints[name], sites.endpoints[name]];
    const template = own ?? given;
    if (template === undefined) {
      const message = `no endpoint for ${name}: set spec.endpoints.${name} of the Account, or start the operator with --endpoint ${name}=URL`;
      return { obstacle: invalid(message) };
    }
    try {
      const url = endpointUrl(template, region);
      if (own === undefined || spellingOf(own) === spellingOf(given ?? "") || sites.isAllowed(url)) return { url };
      const message = `spec.endpoints.${name}: the operator does not allow ${url}: remove the field to use the operator's own address, or ask the administrator to allow it (--allow-endpoint)`;
      return { obstacle: { reason: "EndpointNotAllowed", message } };
    } catch (error) {
      return { obstacle: invalid(error instanceof Error ? error.message : String(error)) };
    }
  };
  // Cached, because every pass asks.
  const known = new Map<EndpointName, Found>();
  const find = (name: EndpointName): Found => {
    const found = known.get(name) ?? judge(name);
    known.set(name, found);
    return found;
  };
  const needed = names.filter((name) => name === "api" || endpoints[name] !== undefined).map(find);
  const refused = needed.find((each) => "obstacle" in each);
  return {
    /** The address of a host, with the region filled in. Throws with the field's name when there is none. */
    endpoint(name: EndpointName): string {
      const found = find(name);
      if ("url" in found) return found.url;
      throw new Error(found.obstacle.message);
    },
    obstacle: refused && "obstacle" in refused ? refused.obstacle : undefined,
  };
}
