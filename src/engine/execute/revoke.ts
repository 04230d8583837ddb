import type { Requeue } from "../../kube/queue/work.ts";
import { NotFound } from "../../platform/answers/errors.ts";
import { urlOf } from "../accounts/accounts.ts";
import { inProgress } from "../decide/waiting.ts";
import type { Deps } from "../observe/deps.ts";
import type { Context } from "../observe/view.ts";
import { record } from "../write/record.ts";

const LOOK_MS = 2000;

/** Deletes the former resource: the replacement is in use, or the object is being deleted. */
export async function revoke(deps: Deps, context: Context): Promise<Requeue> {
  const { kind, account, shared, status, view, key: object } = context;
  const { previous, parents = {} } = status;
  if (!account || !previous) return "now";
  const { collection, product } = kind.resource.place;
  const url = urlOf(account, product, `${collection(parents)}/${encodeURIComponent(previous.id)}`);
  try {
    await account.connection.send({ method: "DELETE", url, object, product, priority: "people", guard: deps.guard });
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    // One 404 proves nothing while the list still has it.
    if (!shared || shared.collection.read(previous.id).item) {
      shared?.collection.refresh([context.identity]);
      return { inMs: LOOK_MS };
    }
  }
  const { reason, message } = inProgress(kind, view.deleting ? "delete" : "revoke the previous one");
  await record(deps, context, { mode: "reconciling", reason, message }, { previous: undefined });
  return "now";
}
