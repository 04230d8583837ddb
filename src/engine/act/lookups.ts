import type { Inputs, Lookup, Product } from "../../kinds/kind.ts";
import type { AccountHandle } from "../accounts/accounts.ts";
import { products } from "../accounts/products.ts";
import type { Deps } from "../look/deps.ts";
import type { Resolved } from "../look/references.ts";

/** Catalogues change rarely; many objects that are created together ask the same. */
const FRESH_MS = 60_000;

/** Values out of the platform's catalogues, in the order they are asked for: a later one may build on an earlier one. */
export async function lookUp(
  { clock, catalogues }: Deps,
  { connection, endpoint }: AccountHandle,
  product: Product,
  lookups: readonly Lookup[],
): Promise<Resolved<Inputs["found"]>> {
  const access = products[product];
  const found: Record<string, string> = {};
  for (const { field, path, pick } of lookups) {
    const url = access.url(endpoint(access.endpoint), path);
    const key = `${connection.id} ${url}`;
    let entry = catalogues.get(key);
    if (!entry || clock.monotonic() - entry.asOf >= FRESH_MS) {
      const { body } = await connection.send({ method: "GET", url });
      entry = { asOf: clock.monotonic(), body };
      catalogues.set(key, entry);
    }
    const picked = pick(entry.body, found);
    if ("problem" in picked) {
      return { obstacle: { reason: "InvalidSpec", message: `${field}: ${picked.problem}`, stalled: true } };
    }
    found[field] = picked.value;
  }
  return { value: found };
}
