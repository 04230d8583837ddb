import type { Desired, Related } from "../../kinds/desired.ts";
import { hasResource, type ResourceKind } from "../../kinds/kind.ts";
import type { AccountHandle } from "../accounts/accounts.ts";
import type { Claim } from "../state/intent.ts";
import type { ObjectKey } from "../state/object.ts";
import type { Deps } from "./deps.ts";

/**
 * What is known of the members of another collection that the resource names, where spec asks for an output that shows
 * them. Whatever is in the way of reading them is in the way of nothing else: they are not known then.
 */
export function relatedMembers(
  { collections, objects }: Pick<Deps, "collections" | "objects">,
  key: ObjectKey,
  { resource: { output } }: ResourceKind,
  desired: Desired | undefined,
  account: AccountHandle,
  { parents }: Claim,
  item: unknown,
): Related | undefined {
  const { related } = output ?? {};
  const kind = related && objects.kinds.filter(hasResource).find((each) => each.kind === related.kind);
  if (!kind) return undefined;
  const found = new Map<string, unknown>();
  try {
    const ids = desired?.output ? related.ids(item) : [];
    const collection = collections.related(key, account, kind, parents, ids);
    for (const id of ids) {
      const { item, asOf } = collection?.read(id) ?? {};
      if (asOf !== undefined) found.set(id, item?.raw);
      if (!item) collection?.expect(id);
    }
  } catch {
    // An Account without an address of that product, or an answer that its kind cannot read, which is told elsewhere.
  }
  return desired?.output && found;
}
