import type { Product } from "../../kinds/desired.ts";
import { products } from "../../platform/products/products.ts";
import { unlessThrown } from "../../runtime/unless-thrown.ts";
import {
  type AccountChoice,
  type AccountHandle,
  accountTitle,
  addressOf,
  lackOfAddress,
  userOf,
} from "../accounts/accounts.ts";
import type { Claim, Intent } from "../state/intent.ts";
import { ACCEPT_USER } from "../state/names.ts";
import { policiesOf } from "../state/policies.ts";
import type { Obstacle } from "../status/reasons.ts";
import type { Deps } from "./deps.ts";
import type { AccountView, Subject } from "./view.ts";

/** The Account of an object, and why the platform cannot be used through it. */
export function observeAccount(deps: Deps, subject: Subject): AccountView & { handle: AccountHandle | undefined } {
  const { key, kind, claim, intent } = subject;
  const begun = claim ?? intent;
  const choice = chooseAccount(deps, subject, begun);
  if ("account" in choice) {
    const obstacle = outOfReach(choice.account, kind.resource.place.product, begun);
    return { key: choice.key, handle: choice.account, obstacle };
  }
  if (choice.obstacle.reason === "AccountNotAllowed") deps.collections.leave(key);
  return { key: choice.key, handle: undefined, obstacle: choice.obstacle };
}

/** An object keeps the Account of its claim or intent; without one, that in its status until spec changes. */
export function chooseAccount(
  { accounts }: Deps,
  { kind, object, status }: Pick<Subject, "kind" | "object" | "status">,
  begun: Claim | Intent | undefined,
): AccountChoice {
  const user = userOf(kind, object);
  const { accountRef } = policiesOf(object);
  const settled = status.observedGeneration === object.metadata.generation ? status.account : undefined;
  return (
    (begun && accounts.keep(user, begun.account)) ?? accounts.choose(user, accountRef, begun ? undefined : settled)
  );
}

/** Why the Account does not lead to the product, or to what was begun there. What is out of reach never counts as gone. */
export function outOfReach(
  account: AccountHandle,
  product: Product,
  begun: ((Claim | Intent) & Pick<Claim, "contract">) | undefined,
): Obstacle | undefined {
  const lacking = lackOfAddress(() => addressOf(account, product));
  if (lacking || !begun) return lacking;
  const address = addressOf(account, product);
  const { contract, endpoint, userId } = begun;
  const what = "id" in begun ? begun.id : "the creation in progress";
  const leave = "or set deletionPolicy: Retain and delete this object to keep it there";
  if (endpoint !== address) {
    const message = `${what} was created at ${endpoint}, but ${accountTitle(account.key)} now points to ${address}: change spec.endpoints.${products[product].endpoint} and spec.region of the Account back, ${leave}`;
    return { reason: "AccountMoved", message };
  }
  const { contractNumber, identity } = account.connection;
  if (contract !== undefined && contractNumber !== undefined && contract !== contractNumber) {
    const message = `${what} belongs to contract ${contract}, but ${accountTitle(account.key)} uses contract ${contractNumber}: restore its previous token, ${leave}`;
    return { reason: "ContractChanged", message };
  }
  const current = identity?.userId;
  if (userId === undefined || current === undefined || userId === current || account.acceptsUser === current)
    return undefined;
  const message = `${what} was created as platform user ${userId}, but ${accountTitle(account.key)} uses a token of user ${current}, who may not see it: restore a token of user ${userId}, or set the annotation ${ACCEPT_USER} of the Account to "${current}"`;
  return { reason: "UserChanged", message };
}

/** The address of a product with an Account; undefined if the Account has none. */
export const knownAddress = (account: AccountHandle, product: Product): string | undefined =>
  unlessThrown(() => addressOf(account, product));
