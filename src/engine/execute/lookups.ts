import type { Desired, Inputs, Lookup } from "../../kinds/desired.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { PlatformError, Terminal } from "../../platform/answers/errors.ts";
import { regionalUrl } from "../../platform/products/regional.ts";
import { several } from "../../runtime/text.ts";
import { type AccountHandle, urlOf } from "../accounts/accounts.ts";
import type { Deps } from "../observe/deps.ts";
import { notUnderstood } from "../observe/platform-errors.ts";
import { checkedAs } from "../observe/spec/fixed-fields.ts";
import { shownTo } from "../observe/spec/ownership.ts";
import { type Resolved, readSecrets } from "../observe/spec/references.ts";
import { unfit } from "../observe/spec/spec.ts";
import type { Context } from "../observe/view.ts";
import { recordFailure } from "../write/record.ts";

const readCore = ({ catalogues }: Pick<Deps, "catalogues">, account: AccountHandle, path: string): Promise<unknown> =>
  catalogues.read(account.connection, urlOf(account, "core", path), "core");

/** Values from catalogues of the platform, in order: a later one may depend on an earlier one. */
export async function lookUp(
  deps: Deps,
  account: AccountHandle,
  lookups: readonly Lookup[],
): Promise<Resolved<Inputs["found"]>> {
  const found: Record<string, string> = {};
  for (const { field, path, pick } of lookups) {
    const picked = pick(shownTo(account, await readCore(deps, account, path)), found);
    if ("problem" in picked) {
      return { obstacle: { reason: "InvalidSpec", message: `${field}: ${picked.problem}` } };
    }
    found[field] = picked.value;
  }
  return { value: found };
}

/** All inputs of a body, with the values of Secrets and lookups, or why they are invalid. */
export async function complete(
  deps: Deps,
  object: KubeObject,
  { account, desired }: { account: AccountHandle; desired: Desired },
  known: Inputs,
): Promise<Resolved<Inputs>> {
  const secrets = await readSecrets(deps.client, object, desired);
  if ("obstacle" in secrets) return secrets;
  const opened = { ...known, secrets: secrets.value };
  const found = await lookUp(deps, account, desired.lookups(opened));
  if ("obstacle" in found) return found;
  const inputs = { ...opened, found: found.value };
  const obstacle = unfit(desired, inputs);
  return obstacle ? { obstacle } : { value: inputs };
}

/** Looks up the catalogue entry that spec names. Objects that ask for the same share one answer. */
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

/** How many valid values a message lists. */
const MOST = 30;

/** After a refusal: the valid values for a field of spec, if the value that was sent is not one of them. */
export async function choicesFor(
  deps: Pick<Deps, "catalogues">,
  { account, desired }: Pick<Context, "account" | "desired">,
  error: PlatformError,
): Promise<string> {
  const { choice } = desired ?? {};
  if (!choice || !account || !(error instanceof Terminal) || error.quota || error.busy) return "";
  try {
    const { field, asked, path, valid } = choice;
    const all = valid(await readCore(deps, account, path)).sort();
    if (all.length === 0 || all.includes(asked)) return "";
    return `; valid for spec.${field}: ${several(all, MOST)}`;
  } catch (problem) {
    if (problem instanceof PlatformError || problem instanceof TypeError) return "";
    throw problem;
  }
}
