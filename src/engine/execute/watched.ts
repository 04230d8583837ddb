import type { Requeue } from "../../kube/queue/work.ts";
import type { Deps } from "../observe/deps.ts";
import { track } from "../observe/pending-request.ts";
import type { Context } from "../observe/view.ts";
import type { RequestAddress } from "../state/memory.ts";
import { refreshed } from "../write/record.ts";

/**
 * Has the collection watch a write that was taken and is on record, as the next pass would. Where the platform works on it for
 * a while, that spares the pass: the collection wakes the object when there is something to see.
 */
export function watched(deps: Deps, context: Context, request: RequestAddress | undefined): Requeue {
  const { key, kind, account } = context;
  const claim = deps.objects.owned(key);
  if (!request || !account || !claim) return "now";
  const shared = deps.collections.join(key, account, kind, claim.parents, claim);
  track(shared, shared.identify(claim), refreshed(deps, context).status);
  return "never";
}
