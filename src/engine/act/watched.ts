import type { Again } from "../../kube/queue/work.ts";
import type { Deps } from "../look/deps.ts";
import { track } from "../look/pending.ts";
import type { Scene } from "../look/view.ts";
import type { RequestAddress } from "../objects/memory.ts";
import { refreshed } from "../record/record.ts";

/**
 * Has the collection watch a write that was taken and is on record, as the next pass would. Where the platform works on it for
 * a while, that spares the pass: the collection wakes the object when there is something to see.
 */
export function watched(deps: Deps, scene: Scene, request: RequestAddress | undefined): Again {
  const { key, kind, account } = scene;
  const claim = deps.objects.owned(key);
  if (!request || !account || !claim) return "now";
  const shared = deps.collections.join(key, account, kind, claim.parents, claim);
  track(shared, shared.identify(claim), refreshed(deps, scene).status);
  return "never";
}
