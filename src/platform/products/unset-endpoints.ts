import type { EndpointName } from "../addresses/endpoints.ts";
import { type Product, products } from "./products.ts";

/** The part of a kind that says which endpoints its objects need. */
interface Caller {
  kind: string;
  resource?: { place: { product: Product; hosts?: readonly EndpointName[] } } | undefined;
  task?: { hosts?: readonly EndpointName[] } | undefined;
}

export interface UnsetEndpoint {
  endpoint: EndpointName;
  /** Kinds whose objects cannot be reconciled without it, unless their Account sets it. */
  kinds: string[];
}

export function unsetEndpoints(
  kinds: readonly Caller[],
  endpoints: Partial<Record<EndpointName, string>>,
): UnsetEndpoint[] {
  const needs = kinds.flatMap((kind) => neededBy(kind).map((endpoint) => ({ endpoint, kind: kind.kind })));
  const unset = needs.filter(({ endpoint }) => endpoints[endpoint] === undefined);
  return [...Map.groupBy(unset, ({ endpoint }) => endpoint)].map(([endpoint, all]) => ({
    endpoint,
    kinds: all.map(({ kind }) => kind),
  }));
}

function neededBy({ resource, task }: Caller): EndpointName[] {
  const { product, hosts = [] } = resource?.place ?? {};
  return [...(product ? [products[product].endpoint] : []), ...hosts, ...(task?.hosts ?? [])];
}

/** The missing endpoints, and the way out, in one line. */
export const unsetInWords = (unset: readonly UnsetEndpoint[]): string =>
  `no endpoint is set for ${unset.map(({ endpoint, kinds }) => `${endpoint} (${kinds.join(", ")})`).join(", ")}: objects of these kinds need it in spec.endpoints of their Account; set it with --endpoint NAME=URL, or all with --platform`;
