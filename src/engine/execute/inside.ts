import { type Content, contentsBy, type Elsewhere } from "../../kinds/contents.ts";
import type { Product } from "../../kinds/desired.ts";
import type { ResourceKind } from "../../kinds/kind.ts";
import { PlatformError } from "../../platform/answers/errors.ts";
import { limits } from "../../platform/answers/limits.ts";
import { type AccountHandle, addressOf, lackOfAddress, urlOf } from "../accounts/accounts.ts";
import type { Deps } from "../observe/deps.ts";
import type { Context } from "../observe/view.ts";
import type { Claim } from "../state/intent.ts";

type Where = Pick<Claim, "id" | "parents">;

/** No answer, no rights, or no such product there. */
const OUT_OF_REACH: readonly number[] = [0, 401, 403, 404];

/** How long a list of another product may take that no object uses. */
const UNUSED_MS = 5000;

/** The path of one resource below the address of its product. */
export const memberPath = ({ resource }: ResourceKind, { id, parents }: Pick<Claim, "id" | "parents">): string =>
  `${resource.place.collection(parents)}/${encodeURIComponent(id)}`;

/** All that a resource holds, and what needs it elsewhere, as the platform shows it. */
export async function insideOf(deps: Pick<Deps, "objects">, context: Context, claim: Where): Promise<Content[]> {
  const { kind, account } = context;
  const { contents } = kind.resource.destruction;
  if (!contents || !account) return [];
  const { product } = kind.resource.place;
  const read = (path: string) => readOf(account, product, `${memberPath(kind, claim)}${path}`);
  const { reads, elsewhere = [] } = contents;
  const own = await contentsBy({ reads }, read);
  const mayBeNeeded = Object.keys(reads).length === 0 || own.some(({ isEmpty }) => isEmpty);
  const others = (mayBeNeeded ? elsewhere : []).map((each) => neededBy(deps, account, each, claim));
  return [...own.filter(({ isEmpty }) => !isEmpty), ...(await Promise.all(others)).flat()];
}

const readOf = async (account: AccountHandle, product: Product, path: string, signal?: AbortSignal) =>
  (
    await account.connection.send({
      method: "GET",
      url: urlOf(account, product, path),
      product,
      maxBytes: limits.contentsBytes,
      ...(signal && { signal }),
    })
  ).body;

/**
 * Resources of another product that need this one. Where no object uses that product, a list that cannot be had keeps
 * nothing: the user may have no rights there, or the region no such product.
 */
async function neededBy(
  { objects }: Pick<Deps, "objects">,
  account: AccountHandle,
  { product, path, needing }: Elsewhere,
  claim: Where,
): Promise<Content[]> {
  if (lackOfAddress(() => addressOf(account, product))) return [];
  const isUsed = objects.users(account.key).some((key) => objects.find(key)?.kind.resource?.place.product === product);
  try {
    return needing(await readOf(account, product, path, isUsed ? undefined : AbortSignal.timeout(UNUSED_MS)), claim);
  } catch (error) {
    if (isUsed || !(error instanceof PlatformError && OUT_OF_REACH.includes(error.status))) throw error;
    return [];
  }
}
