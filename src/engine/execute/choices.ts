import { PlatformError, Terminal } from "../../platform/answers/errors.ts";
import { urlOf } from "../accounts/accounts.ts";
import type { Deps } from "../observe/deps.ts";
import type { Context } from "../observe/view.ts";

/** So many values are listed. */
const MOST = 30;

/**
 * After a refusal: the values that the platform has for a field of spec, if the one that was sent is none of them. Read only
 * then, and what cannot be read is left out.
 */
export async function choicesFor(
  { catalogues }: Pick<Deps, "catalogues">,
  { account, desired }: Pick<Context, "account" | "desired">,
  error: PlatformError,
): Promise<string> {
  const { choice } = desired ?? {};
  if (!choice || !account || !(error instanceof Terminal) || error.quota || error.busy) return "";
  try {
    const { field, asked, path, valid } = choice;
    const all = valid(await catalogues.read(account.connection, urlOf(account, "core", path), "core")).sort();
    if (all.length === 0 || all.includes(asked)) return "";
    const more = all.length > MOST ? ` and ${all.length - MOST} more` : "";
    return `; valid for spec.${field}: ${all.slice(0, MOST).join(", ")}${more}`;
  } catch (trouble) {
    if (trouble instanceof PlatformError || trouble instanceof TypeError) return "";
    throw trouble;
  }
}
