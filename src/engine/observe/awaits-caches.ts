import { hasResource } from "../../kinds/kind.ts";
import { userOf } from "../accounts/accounts.ts";
import type { ObjectKey } from "../state/object.ts";
import { readStatus } from "../status/status.ts";
import type { Deps } from "./deps.ts";
import { chooseAccount } from "./observe.ts";
import { outOfReach } from "./obstacles.ts";

/**
 * Whether a look at an object would come to nothing, because its Account was not checked yet or its collection not listed:
 * either wakes it when it is done, whatever comes of it. The collection is joined for that.
 */
export function awaitsCaches(deps: Deps, key: ObjectKey): boolean {
  const found = deps.objects.find(key);
  if (!found || !hasResource(found.kind)) return false;
  const { kind, object } = found;
  const claim = deps.objects.owned(key);
  const choice = chooseAccount(deps, userOf(kind, object), object, readStatus(object), claim);
  if ("obstacle" in choice) return choice.obstacle.reason === "Observing";
  const { account } = choice;
  try {
    if (!claim || outOfReach(account, kind.resource.place.product, claim)) return false;
  } catch {
    // The Account has no address of the product, and the look says so.
    return false;
  }
  const { collection } = deps.collections.join(key, account, kind, claim.parents, claim);
  return collection.listedAt === undefined && !collection.problem;
}
