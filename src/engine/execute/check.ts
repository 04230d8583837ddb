import type { Requeue } from "../../kube/queue/work.ts";
import { regionalUrl } from "../../platform/products/regional.ts";
import type { Deps } from "../observe/deps.ts";
import { checkedAs } from "../observe/fixed-fields.ts";
import { notUnderstood } from "../observe/obstacles.ts";
import type { Context } from "../observe/view.ts";
import { recordFailure } from "../write/record.ts";

/** Looks up in a catalogue of the platform what spec names. Many objects ask the same: one answer serves them all. */
export async function check(deps: Deps, context: Context): Promise<Requeue> {
  const { account, desired, memory, kind } = context;
  const what = desired && checkedAs(desired);
  if (!account || !desired?.check || what === undefined) return "now";
  const { field, endpoint, path, judge } = desired.check;
  const url = regionalUrl(account.endpoint(endpoint), path);
  const answer = await deps.catalogues.read(account.connection, url, endpoint);
  let judged: ReturnType<typeof judge>;
  try {
    judged = judge(answer);
  } catch (error) {
    return recordFailure(deps, context, notUnderstood(kind, error));
  }
  if ("problem" in judged) {
    return recordFailure(deps, context, { reason: "InvalidSpec", message: `${field}: ${judged.problem}` });
  }
  memory.checked = { what, facts: judged.facts };
  return "now";
}
