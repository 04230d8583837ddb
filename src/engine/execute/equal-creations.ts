import type { ResourceKind } from "../../kinds/kind.ts";
import type { Item } from "../../platform/collections/reading.ts";
import { roomy } from "../../platform/products/auth.ts";
import { products } from "../../platform/products/products.ts";
import { hashBody } from "../../runtime/hash.ts";
import { type AccountHandle, addressOf } from "../accounts/accounts.ts";
import { type Deps, readLimit } from "../observe/deps.ts";
import type { Resolved } from "../observe/references.ts";
import type { Context } from "../observe/view.ts";
import type { Intent } from "../state/intent.ts";

/** What there is already, with room for one more. */
export async function neighboursOf(
  deps: Deps,
  { key, kind }: Context,
  account: AccountHandle,
  parents: Intent["parents"],
): Promise<Resolved<readonly Item[]>> {
  const { source } = deps.collections.join(key, account, kind, parents, undefined);
  const { product } = kind.resource.place;
  const { most = Number.POSITIVE_INFINITY, makeRoom } = products[product].capacity ?? {};
  const { items, isFull } = await roomy({
    most,
    list: () => source.list(readLimit(), "people"),
    makeRoom: async () => makeRoom?.(account.connection, addressOf(account, product), deps.guard),
  });
  const message = `the user of the Account has ${items.length} ${kind.resource.names.type}s and the platform allows ${most}: delete those that nobody uses: a deleted one stops working at once`;
  return isFull ? { obstacle: { reason: "QuotaExceeded", message } } : { value: items };
}

/** Which of them look like what is to be made. */
export function equalsOf({ resource }: ResourceKind, items: readonly Item[], hash: string): string[] {
  const { echo = (raw: unknown) => raw } = resource.identity;
  return items.filter(({ raw }) => hashBody(echo(raw)) === hash).map(({ id }) => id);
}
