import type { Inputs, Lookup, Product } from "../../kinds/kind.ts";
import { type AccountHandle, urlOf } from "../accounts/accounts.ts";
import type { Deps } from "../look/deps.ts";
import { shownTo } from "../look/ownership.ts";
import type { Resolved } from "../look/references.ts";

/** Values out of the platform's catalogues, in the order they are asked for: a later one may build on an earlier one. */
export async function lookUp(
  { catalogues }: Deps,
  account: AccountHandle,
  product: Product,
  lookups: readonly Lookup[],
): Promise<Resolved<Inputs["found"]>> {
  const found: Record<string, string> = {};
  for (const { field, path, pick } of lookups) {
    const answer = await catalogues.read(account.connection, urlOf(account, product, path), product);
    const picked = pick(shownTo(account, answer), found);
    if ("problem" in picked) {
      return { obstacle: { reason: "InvalidSpec", message: `${field}: ${picked.problem}` } };
    }
    found[field] = picked.value;
  }
  return { value: found };
}
