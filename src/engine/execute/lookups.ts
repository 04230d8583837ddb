import type { Desired, Inputs, Lookup } from "../../kinds/desired.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { type AccountHandle, urlOf } from "../accounts/accounts.ts";
import type { Deps } from "../observe/deps.ts";
import { unfit } from "../observe/obstacles.ts";
import { shownTo } from "../observe/ownership.ts";
import { type Resolved, readSecrets } from "../observe/references.ts";

/** Values out of the platform's catalogues, in the order they are asked for: a later one may build on an earlier one. */
export async function lookUp(
  { catalogues }: Deps,
  account: AccountHandle,
  lookups: readonly Lookup[],
): Promise<Resolved<Inputs["found"]>> {
  const found: Record<string, string> = {};
  for (const { field, path, pick } of lookups) {
    const answer = await catalogues.read(account.connection, urlOf(account, "core", path), "core");
    const picked = pick(shownTo(account, answer), found);
    if ("problem" in picked) {
      return { obstacle: { reason: "InvalidSpec", message: `${field}: ${picked.problem}` } };
    }
    found[field] = picked.value;
  }
  return { value: found };
}

/** All that a body is made of: with the values of Secrets and lookups, and found to be fit. */
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

/** A refusal may quote what was sent; what came out of a Secret goes nowhere else. */
export function redact(text: string, inputs: Pick<Inputs, "secrets">): string {
  const secrets = Object.values(inputs.secrets);
  const lines = secrets.flatMap((secret) => secret.split("\n").map((line) => line.trim()));
  const forms = secrets.flatMap((secret) => [secret, Buffer.from(secret).toString("base64")]);
  // A short line is a word that any text may have.
  return [...forms, ...lines.filter(({ length }) => length >= 8)]
    .filter(Boolean)
    .reduce((left, form) => left.replaceAll(form, "[redacted]"), text);
}
