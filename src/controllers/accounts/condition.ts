import type { Deps } from "../../engine/observe/deps.ts";
import type { Memory } from "../../engine/state/memory.ts";
import { ACCEPT_USER } from "../../engine/state/names.ts";
import type { ObjectKey } from "../../engine/state/object.ts";
import type { Obstacle } from "../../engine/status/reasons.ts";
import { type ReadyState, readFacts } from "../../engine/status/status.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { PlatformError, Unauthorized } from "../../platform/answers/errors.ts";
import { NOTABLE_SKEW_MS, skewText } from "../../platform/calls/platform-time.ts";
import type { Identity } from "../../platform/calls/transport.ts";
import { authCapacity } from "../../platform/products/auth.ts";
import type { Contract } from "../../platform/products/core.ts";
import { daysLeft, several } from "../../runtime/text.ts";
import type { TokenRecord } from "./token-store.ts";

type Trouble = PlatformError | Obstacle | "full" | "recovering";

/** The result of a login with username and password. */
export interface LoggedIn {
  /** Undefined while none works. */
  token: string | undefined;
  id: string | undefined;
  username: string;
  advice: string[];
  /** Why there is no token, or no new one where one is due. */
  trouble?: Trouble;
  /** The pause before the next token. */
  pausedMs: number;
  /** When tokens are due again, by the platform's clock as it is known then. */
  dueInMs(): number;
}

export interface Checked {
  condition: ReadyState;
  facts: Record<string, unknown>;
  again: Requeue;
}

/** The Account works: says until when, and what to do before the token expires. */
export function usable(
  { settings }: Deps,
  platformNow: number,
  { contractNumber, owner, limits, used }: Contract,
  identity: Identity | undefined,
  logged: LoggedIn | undefined,
  { where, secret, leaving }: { where: string; secret: string; leaving: string[] },
): Checked {
  const { expiresAt, userId } = identity ?? {};
  const isExpiring = !logged && expiresAt !== undefined && expiresAt - platformNow < WARN_MS;
  const expiry = `the token expires at ${new Date(expiresAt ?? 0).toISOString()}: update ${where}`;
  const refused = logged?.trouble && loginObstacle(logged.trouble, logged.username, secret);
  const plain = typeof logged?.trouble === "object" ? logged.trouble.message : logged?.trouble;
  const trouble = refused?.message ?? plain;
  const advice = [
    ...leaving,
    ...(logged?.advice ?? []),
    ...(isExpiring ? [expiry] : []),
    ...(trouble === undefined ? [] : [`the token is due for renewal, which failed: ${trouble}; retrying`]),
    ...(logged
      ? [`the platform has announced the end of username and password: store a token of the platform in ${where}`]
      : []),
  ];
  const accepted = `the platform accepts the token${logged ? ", which is renewed automatically" : ""}`;
  return {
    condition: { mode: "ready", reason: "Available", message: isExpiring ? `${accepted}; ${expiry}` : accepted },
    facts: {
      contractNumber,
      ...(owner !== undefined && { contractOwner: owner }),
      ...(expiresAt !== undefined && { tokenExpiresAt: new Date(expiresAt).toISOString() }),
      limits,
      used,
      ...(expiresAt !== undefined && { expiresIn: daysLeft(expiresAt, platformNow) }),
      ...(userId !== undefined && { platformUserId: userId }),
      ...(logged?.id !== undefined && { tokenId: logged.id }),
      ...(advice.length > 0 && { advice }),
    },
    again:
      trouble === undefined
        ? { inMs: Math.min(settings.resyncMs, logged?.dueInMs() ?? Infinity), background: true }
        : "backoff",
  };
}

/** Status warns this long before a user's own token expires. */
const WARN_MS = 14 * 86_400_000;

/** A smaller change of the skew is not reported: Date headers have whole seconds. */
const STEADY_MS = 30_000;

/** The condition for clocks that differ; undefined while they hardly do. */
export function skewIn(memory: Memory, aheadMs: number): Obstacle | undefined {
  const { skewMs = 0 } = memory;
  const isNotable = (ms: number) => Math.abs(ms) > NOTABLE_SKEW_MS;
  const isNews = Math.abs(aheadMs - skewMs) > STEADY_MS || (isNotable(aheadMs) && !isNotable(skewMs));
  memory.skewMs = isNews ? aheadMs : skewMs;
  if (!isNotable(memory.skewMs)) return undefined;
  const message = `${skewText(memory.skewMs)}: correct the clock of the operator's node, for example by NTP. Whatever the platform dates is judged by its own clock meanwhile; short-lived tokens may be refused`;
  return { reason: "ClockSkew", message };
}

export const RECOVERING: Obstacle = {
  reason: "Recovering",
  message: "the creation of a token got no answer; searching for its result",
};

export const PAUSED: Obstacle = {
  reason: "PlatformUnavailable",
  message:
    "the platform does not accept the token that it issued last; another one is requested after a pause, which grows",
};

export const tooLarge = (mostBytes: number): Obstacle => ({
  reason: "InvalidAnswer",
  message: `endpoints.api returned a token of more than ${mostBytes} bytes, which was revoked: check that it is the platform's API`,
});

/** From this number of tokens on, status advises to delete some. */
const MANY = 90;

export function tokenAdvice({ username, count, unclaimed }: TokenRecord): string[] {
  const many = `user ${username} has ${count} tokens and the platform allows ${authCapacity.most}: delete those that nobody uses, a deleted token stops working at once`;
  const lost = `a token that was created without an answer may be one of ${several(unclaimed)}; they expire by themselves`;
  return [...(count >= MANY ? [many] : []), ...(unclaimed.length > 0 ? [lost] : [])];
}

/** Why a login got no token, with the way out; undefined for any other error of the platform. */
export function loginObstacle(trouble: Trouble, username: string, secret: string): Obstacle | undefined {
  const instead = `put a token into key token of Secret ${secret}`;
  if (trouble === "recovering") return RECOVERING;
  if (trouble === "full") {
    const message = `user ${username} has ${authCapacity.most} tokens, as many as the platform allows, and none has expired: ${instead}, or delete tokens that nobody uses`;
    return { reason: "QuotaExceeded", message };
  }
  if (!(trouble instanceof PlatformError)) return trouble;
  if (!(trouble instanceof Unauthorized)) return undefined;
  const said = trouble.platformMessage ?? trouble.message;
  const message = `the platform refuses the password of user ${username}, as if it had been changed (${said}): put the current one into key password of Secret ${secret}, or correct key username; for a user with two-factor authentication ${instead}`;
  return { reason: "Unauthorized", message };
}

/** The condition of an Account that is being deleted while objects use it. */
export function usedBy({ objects }: Pick<Deps, "objects">, users: ObjectKey[]): ReadyState {
  const staying = users.filter((key) => objects.find(key)?.object.metadata.deletionTimestamp === undefined);
  const used = `still used by ${several(staying.toSorted())}: nothing is lost meanwhile; before you delete those, set deletionPolicy: Retain on each whose resource is to stay`;
  return staying.length === 0
    ? { mode: "reconciling", reason: "Deleting", message: `waiting for the deletion of ${several(users.toSorted())}` }
    : { mode: "stalled", reason: "InUse", message: used };
}

/** The token belongs to another user than the resources of the Account's objects. */
export function otherUser(
  object: KubeObject,
  users: number,
  { userId, contractNumber }: Identity = {},
  where: string,
): Obstacle | undefined {
  const { platformUserId: before, contractNumber: contract } = readFacts(object);
  if (typeof before !== "string" || userId === undefined || before === userId || users === 0) return undefined;
  // If the contract differs, too, each object with a resource in the previous one says so.
  if (contractNumber !== undefined && contractNumber !== contract) return undefined;
  if (object.metadata.annotations?.[ACCEPT_USER] === userId) return undefined;
  const message = `the token in ${where} belongs to platform user ${userId}, but ${users} objects have resources of user ${before}, which this one may not see: restore a token of user ${before}, or, if user ${userId} sees the same resources, set the annotation ${ACCEPT_USER} to "${userId}"`;
  return { reason: "UserChanged", message };
}
