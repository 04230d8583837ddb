import { z } from "zod";
import type { Desired, Inputs, Product } from "../../kinds/desired.ts";
import type { ResourceKind } from "../../kinds/kind.ts";
import { products } from "../../platform/products/products.ts";
import { type AccountHandle, addressOf, titleOf } from "../accounts/accounts.ts";
import type { Claim, Intent } from "../state/intent.ts";
import { ACCEPT_USER } from "../state/names.ts";
import { claimOf, nameFor, type ObjectKey, openIntent } from "../state/object.ts";
import type { Obstacle } from "../status/reasons.ts";
import type { Deps } from "./deps.ts";

/** Something in spec that only what it refers to shows to be wrong. */
export function unfit(desired: Desired, inputs: Inputs): Obstacle | undefined {
  let message: string | undefined;
  try {
    message = desired.problem(inputs);
  } catch (error) {
    message = messageOf(error);
  }
  return message === undefined ? undefined : { reason: "InvalidSpec", message };
}

/** What a catalogue is looked up at, and workloads are told, has no address. */
export function unreachable({ check }: Desired, account: AccountHandle | undefined): Obstacle | undefined {
  try {
    if (check) account?.endpoint(check.endpoint);
    return undefined;
  } catch (error) {
    return { reason: "EndpointInvalid", message: messageOf(error) };
  }
}

/** Another object has the only place there is. Who has begun to create is past this question: the platform answers it. */
export function taken(
  deps: Deps,
  key: ObjectKey,
  { kind, resource }: ResourceKind,
  parents: Inputs["parents"],
  begun: Claim | Intent | undefined,
  account: AccountHandle | undefined,
): Obstacle | undefined {
  if (resource.identity.onePer === undefined || begun || !account) return undefined;
  const hasIt = (neighbour: ObjectKey) => {
    const object = deps.objects.find(neighbour)?.object;
    const theirs = object && deps.accounts.get((claimOf(object) ?? openIntent(object))?.account ?? "");
    return theirs && samePlace(theirs, account, resource.place.product);
  };
  const other = deps.objects.neighbours(kind, parents).find((each) => each !== key && hasIt(each));
  if (other === undefined) return undefined;
  const message = `only one ${kind} per ${resource.identity.onePer}; already used by ${nameFor(key.split("/")[1], other)}: this object has no resource and can be deleted`;
  return { reason: "OnlyOne", message };
}

/** Whether two Accounts lead to the same service of the same contract. */
function samePlace(one: AccountHandle, other: AccountHandle, product: Product): boolean {
  if (one.key === other.key) return true;
  if (one.connection.contractNumber !== other.connection.contractNumber) return false;
  try {
    return addressOf(one, product) === addressOf(other, product);
  } catch {
    // One of them leads nowhere.
    return false;
  }
}

/** What the Account no longer leads to cannot be seen, and must not be taken for gone. */
export function outOfReach(
  account: AccountHandle,
  product: Product,
  { contract, endpoint, userId, ...made }: (Claim | Intent) & Pick<Claim, "contract">,
): Obstacle | undefined {
  const what = "id" in made ? made.id : "the creation in progress";
  const leave = "or set deletionPolicy: Retain and delete this object to keep it there";
  const name = products[product].endpoint;
  const now = addressOf(account, product);
  if (endpoint !== undefined && endpoint !== now) {
    const message = `${what} was created at ${endpoint}, but ${titleOf(account.key)} now points to ${now}: change spec.endpoints.${name} and spec.region of the Account back, ${leave}`;
    return { reason: "AccountMoved", message };
  }
  const { contractNumber, identity } = account.connection;
  if (contract !== undefined && contractNumber !== undefined && contract !== contractNumber) {
    const message = `${what} belongs to contract ${contract}, but ${titleOf(account.key)} uses contract ${contractNumber}: restore its previous token, ${leave}`;
    return { reason: "ContractChanged", message };
  }
  const current = identity?.userId;
  if (userId === undefined || current === undefined || userId === current || account.acceptsUser === current)
    return undefined;
  const message = `${what} was created as platform user ${userId}, but ${titleOf(account.key)} uses a token of user ${current}, who may not see it: restore a token of user ${userId}, or set the annotation ${ACCEPT_USER} of the Account to "${current}"`;
  return { reason: "UserChanged", message };
}

export function notUnderstood(kind: ResourceKind, error: unknown): Obstacle {
  const message = `invalid answer of the platform about the ${kind.kind}: ${messageOf(error, [])}`;
  return { reason: "PlatformUnavailable", message };
}

/** One line that names the field, of spec unless it is in something else; of several problems the first three. */
export function messageOf(error: unknown, within: readonly string[] = ["spec"]): string {
  if (!(error instanceof z.ZodError)) return error instanceof Error ? error.message : String(error);
  const issues = error.issues.map(({ path, message }) => {
    const field = [...within, ...path.map(String)].join(".");
    return field === "" ? message : `${field}: ${message}`;
  });
  return issues.slice(0, 3).join("; ");
}
