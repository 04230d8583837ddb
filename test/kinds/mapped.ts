import type { Inputs, Operation } from "../../src/kinds/desired.ts";
import type { Kind, ResourceMapping } from "../../src/kinds/kind.ts";

/** The mapping of a kind that has one. */
export function mapped({ kind, resource }: Kind): ResourceMapping {
  if (!resource) throw new Error(`${kind} has no resource on the platform`);
  return resource;
}

/** The JSON that is sent: without the fields that JSON leaves out. */
export const sent = (body: unknown): unknown => JSON.parse(JSON.stringify(body));

/** The content of a write. */
export const bodyOf = (next: Operation | undefined, given: Inputs): unknown => next?.resolve?.(given) ?? next?.body;

export const inputs = (given: Partial<Inputs> = {}): Inputs => ({
  name: "web",
  parents: { datacenter: "dc-1" },
  refs: {},
  secrets: {},
  found: {},
  shown: {},
  annotations: {},
  ...given,
});

/** The facts get nothing but the item. */
export const nothing = { shown: {}, annotations: {}, refs: {} };

/** The key of a resource, with the ways to a new one. */
export function renewableKey({ secret }: ResourceMapping) {
  const key = secret?.key;
  if (!key || !("renewal" in key)) throw new Error("it has no key that can be renewed");
  return key;
}
