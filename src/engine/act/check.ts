import type { Again } from "../../kube/queue/work.ts";
import { regionalUrl } from "../../platform/products/regional.ts";
import type { Deps } from "../look/deps.ts";
import { checkedAs } from "../look/fixed.ts";
import { notUnderstood } from "../look/obstacles.ts";
import type { Scene } from "../look/view.ts";
import { reject } from "../record/record.ts";

/** Looks up in a catalogue of the platform what spec names. Many objects ask the same: one answer serves them all. */
export async function check(deps: Deps, scene: Scene): Promise<Again> {
  const { account, desired, memory, kind } = scene;
  const what = desired && checkedAs(desired);
  if (!account || !desired?.check || what === undefined) return "now";
  const { field, endpoint, path, judge } = desired.check;
  const url = regionalUrl(account.endpoint(endpoint), path);
  const answer = await deps.catalogues.read(account.connection, url, endpoint);
  let judged: ReturnType<typeof judge>;
  try {
    judged = judge(answer);
  } catch (error) {
    return reject(deps, scene, notUnderstood(kind, error));
  }
  if ("problem" in judged) {
    return reject(deps, scene, { reason: "InvalidSpec", message: `${field}: ${judged.problem}` });
  }
  memory.checked = { what, facts: judged.facts };
  return "now";
}
