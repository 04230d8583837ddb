import type { Requeue } from "../../kube/queue/work.ts";
import { limits } from "../../platform/answers/limits.ts";
import { urlOf } from "../accounts/accounts.ts";
import type { Deps } from "../observe/deps.ts";
import { notUnderstood } from "../observe/obstacles.ts";
import type { Context } from "../observe/view.ts";
import { recordFailure } from "../write/record.ts";

/** Looks inside a resource before it is deleted with all that it holds. */
export async function inspect(deps: Deps, context: Context): Promise<Requeue> {
  const { kind, account, view, memory } = context;
  const { place, destruction } = kind.resource;
  const { contents } = destruction;
  if (!contents || !account || !view.claim) return "now";
  const asOf = deps.clock.monotonic();
  const path = `${place.collection(view.claim.parents)}/${encodeURIComponent(view.claim.id)}?depth=${contents.depth}`;
  const url = urlOf(account, place.product, path);
  const { body } = await account.connection.send({
    method: "GET",
    url,
    product: place.product,
    maxBytes: limits.contentsBytes,
  });
  try {
    memory.contents = { asOf, names: contents.list(body) };
    return "now";
  } catch (error) {
    return recordFailure(deps, context, notUnderstood(kind, error));
  }
}
