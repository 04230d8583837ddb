import { type Content, contentsBy, type Elsewhere } from "../../kinds/contents.ts";
import type { Product } from "../../kinds/desired.ts";
import type { ResourceKind } from "../../kinds/kind.ts";
import { Forbidden, Unauthorized } from "../../platform/answers/errors.ts";
import { limits } from "../../platform/answers/limits.ts";
import { isWrongAddress } from "../../platform/calls/region.ts";
import { type AccountHandle, addressOf, lackOfAddress, urlOf } from "../accounts/accounts.ts";
import type { Deps } from "../observe/deps.ts";
import type { Context } from "../observe/view.ts";
import type { Claim } from "../state/intent.ts";

type Where = Pick<Claim, "id" | "parents">;

/** The platform has answered: the user has no rights there, or the region no such product. Silence says nothing. */
const isClosed = (error: unknown): boolean =>
  error instanceof Unauthorized || error instanceof Forbidden || isWrongAddress(error);

/** The path of one resource below the address of its product. */
export const memberPath = ({ resource }: ResourceKind, { id, parents }: Where): string =>
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

async function readOf(account: AccountHandle, product: Product, path: string): Promise<unknown> {
  const url = urlOf(account, product, path);
  return (await account.connection.send({ method: "GET", url, product, maxBytes: limits.contentsBytes })).body;
}

/** Resources of another product that need this one. A closed list keeps nothing where no object uses that product. */
async function neededBy(
  { objects }: Pick<Deps, "objects">,
  account: AccountHandle,
  { product, path, needing }: Elsewhere,
  claim: Where,
): Promise<Content[]> {
  if (lackOfAddress(() => addressOf(account, product))) return [];
  const isUsed = objects.users(account.key).some((key) => objects.find(key)?.kind.resource?.place.product === product);
  try {
    return needing(await readOf(account, product, path), claim);
  } catch (error) {
    if (isUsed || !isClosed(error)) throw error;
    return [];
  }
}
