import { type AccountHandle, objectOf } from "../../engine/accounts/accounts.ts";
import { several } from "../../engine/decide/waiting.ts";
import { journaled } from "../../engine/execute/journal.ts";
import { type Deps, overlapOf } from "../../engine/observe/deps.ts";
import { couldBeOurs } from "../../engine/observe/resource/search-results.ts";
import { windowOf } from "../../engine/state/intent.ts";
import { nextStep, pauseLeft, succeeded, tooBrief } from "../../engine/state/succession.ts";
import { settledAt } from "../../engine/status/author.ts";
import type { Obstacle } from "../../engine/status/reasons.ts";
import { lifetimeBetween, lifetimeSeconds } from "../../kinds/fields/lifetime.ts";
import { dueAt } from "../../kinds/fields/rotation.ts";
import { accessToken } from "../../kinds/identity/access-token.ts";
import { isConflict } from "../../kube/client/errors.ts";
import { PlatformError, Unauthorized } from "../../platform/answers/errors.ts";
import { identityOf } from "../../platform/calls/credentials.ts";
import { platformTime, skewOf, withoutDoubt } from "../../platform/calls/platform-time.ts";
import {
  authCapacity,
  type NewToken,
  type OwnTokens,
  ownTokens,
  type ShownToken,
} from "../../platform/products/auth.ts";
import { hashBody } from "../../runtime/hash.ts";
import type { TokenRecord, TokenStore } from "./token-store.ts";

const { most: MOST } = authCapacity;
/** A token of the platform has about one KiB. */
const MOST_BYTES = 8192;
const TOO_LARGE: Obstacle = {
  reason: "InvalidAnswer",
  message: `endpoints.api returned a token of more than ${MOST_BYTES} bytes, which was revoked: check that it is the platform's API`,
};
const PAUSED: Obstacle = {
  reason: "PlatformUnavailable",
  message:
    "the platform does not accept the token that it issued last; another one is requested after a pause, which grows",
};
/** So many are close to that. */
const MANY = 90;

/** Who logs in, and how long tokens are to live. */
export interface Entry {
  username: string;
  ttl: number;
}

export interface LoggedIn {
  /** Undefined while there is none that works. */
  token: string | undefined;
  id: string | undefined;
  username: string;
  advice: string[];
  /** Why there is no token, or no new one where one is due. */
  trouble?: PlatformError | Obstacle | "full" | "recovering";
  /** So long no other token is made. */
  pausedMs: number;
  /** When something is to be done about tokens again, by what is known of the platform's clock by then. */
  dueInMs(): number;
}

type LoginDeps = Deps & { kept: TokenStore };
type Current = NonNullable<TokenRecord["current"]>;

/**
 * Sees to it that an Account with a password has a token: made once, renewed after two thirds of its life, the one before
 * revoked some minutes later. That one is being made is on record before it is asked for, so that whatever is lost after that
 * is found by the list of tokens; its value is lost then, and it is revoked. There are never more than two.
 */
export async function logIn(
  deps: LoginDeps,
  { key: account, connection, endpoint: addressOf }: AccountHandle,
  { username, ttl }: Entry,
  refused: boolean,
): Promise<LoggedIn> {
  const endpoint = addressOf("api");
  const tokens = ownTokens(connection, endpoint, deps.guard);
  const platformNow = () => platformTime(deps.clock, connection);
  // Hundreds of Accounts share one list.
  for (const each of await deps.kept.all(deps.settings.resyncMs)) spend(deps, each);
  const found = await deps.kept.read(account);
  const isSame = found.record?.username === username && found.record.endpoint === endpoint;
  const state: TokenRecord =
    isSame && found.record ? found.record : { account, username, endpoint, count: 0, unclaimed: [] };
  let value = isSame && !refused ? found.token : undefined;
  const memory = deps.memories.of(objectOf(account));
  const pausedMs = () => pauseLeft(memory.succession, deps.clock.monotonic());
  const works = () => value !== undefined && state.current !== undefined && state.current.expiresAt > platformNow();
  /** Of what was read, until this pass writes itself. */
  let version: string | undefined = found.version;
  const write = (unchangedSince?: string) => {
    version = undefined;
    return deps.kept.write(account, state, undefined, unchangedSince);
  };
  const result = (trouble?: LoggedIn["trouble"]): LoggedIn => ({
    token: works() ? value : undefined,
    id: state.current?.id,
    username,
    advice: adviceOf(state),
    ...(trouble !== undefined && { trouble }),
    pausedMs: pausedMs(),
    dueInMs() {
      const successorInMs = Math.max(endsAt(state.current) - platformNow(), pausedMs());
      return Math.max(0, Math.min(successorInMs, (state.previous?.until ?? Infinity) - platformNow()));
    },
  });
  const next = () =>
    nextStep({
      isOpen: state.intent !== undefined,
      previous: state.previous && { isOver: state.previous.until <= platformNow() },
      isDue: !works() || endsAt(state.current) <= platformNow() || !livesFor(state.current, ttl),
    });

  try {
    // The user before cannot log in here any more, but the token itself can.
    if (!isSame && found.record?.endpoint === endpoint && found.token !== undefined) {
      await leave(tokens, found.token, found.record.previous && [found.record.previous.id]);
    }
    for (let step = next(); step !== "make"; step = next()) {
      if (step === "rest") return result();
      version = undefined;
      if (step === "recover") {
        if (!(await recover(deps, tokens, state, found.token))) return result("recovering");
      } else if (state.previous) {
        await tokens.revoke(state.previous.id);
        state.previous = undefined;
        await write();
      }
    }
    if (pausedMs() > 0) return result(works() ? undefined : PAUSED);
    const { items: there, isFull } = await withoutDoubt(connection, tokens.roomy);
    state.count = there.length;
    if (isFull) return result("full");
    // A token that works is renewed whatever the clocks say: what uses it goes on.
    const brief = works() ? undefined : tooBrief("tokenLifetime", ttl * 1000, skewOf(connection));
    if (brief) return result(brief);
    const nonce = deps.nonce();
    return await journaled<void, NewToken, LoggedIn>(deps, {
      announce(at) {
        const seen = there.filter((each) => hasLife(each, ttl)).map(({ id }) => id);
        state.intent = { nonce, at: platformNow(), by: deps.self, ttl, seen };
        memory.login = { what: nonce, at };
        // The shard before may be at it as well, when the namespace was moved: one of the two begins.
        return write(version);
      },
      send: (_, deadlineMs) => tokens.generate(ttl, deadlineMs),
      async keep(_, made) {
        memory.succession = succeeded(deps, memory.succession, ttl * 1000);
        state.intent = undefined;
        if (Buffer.byteLength(made.value) > MOST_BYTES) {
          await tokens.revoke(made.id);
          await write();
          return result(TOO_LARGE);
        }
        const until = platformNow() + (works() ? overlapOf(deps) : 0);
        if (state.current) state.previous = { id: state.current.id, until };
        state.current = { id: made.id, issuedAt: made.issuedAt, expiresAt: made.expiresAt };
        state.count += 1;
        state.unclaimed = [];
        spend(deps, state);
        if (!(await keep(deps, state, made.value, nonce))) {
          await tokens.revoke(made.id);
          return result("recovering");
        }
        value = made.value;
        return result();
      },
      retract() {
        state.intent = undefined;
        return write();
      },
      failed: async (_, error) => result(error),
    });
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return result(error);
  }
}

/** Keeps a token unless another process has taken it for lost meanwhile, and made one of its own: then false. */
async function keep({ kept }: LoginDeps, state: TokenRecord, token: string, nonce: string): Promise<boolean> {
  for (;;) {
    const now = await kept.read(state.account);
    if (now.record?.intent?.nonce !== nonce) return false;
    try {
      await kept.write(state.account, state, token, now.version);
      return true;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
}

/** The token that another shard keeps for an Account. It works for longer than until this process asks again. */
export async function readLogin(deps: LoginDeps, account: string): Promise<LoggedIn> {
  const { record, token } = await deps.kept.read(account);
  if (record) spend(deps, record);
  const { current, username = "" } = record ?? {};
  return { token, id: current?.id, username, advice: [], pausedMs: 0, dueInMs: () => Number.POSITIVE_INFINITY };
}

/**
 * Revokes what was made for an Account, with the password, or where that is gone with the token itself; false while it is not
 * certain what there is.
 */
export async function logOut(
  deps: LoginDeps,
  { key: account, connection, endpoint }: AccountHandle,
  hasPassword: boolean,
): Promise<boolean> {
  const { record: state, token } = await deps.kept.read(account);
  if (!state) return true;
  const api = endpoint("api");
  const tokens = ownTokens(connection, api, deps.guard);
  if (state.endpoint === api && hasPassword) {
    if (state.intent && !(await recover(deps, tokens, state, token))) return false;
    for (const each of [state.previous, state.current]) if (each) await tokens.revoke(each.id);
  } else if (state.endpoint === api && token !== undefined) {
    await leave(tokens, token, state.previous && [state.previous.id]);
  }
  await deps.kept.write(account, undefined);
  return true;
}

/** What does not work any more need not be ended. */
async function leave(tokens: OwnTokens, value: string, others?: readonly string[]): Promise<void> {
  await tokens.end(value, others).catch((error: unknown) => {
    if (!(error instanceof Unauthorized)) throw error;
  });
}

/** Other creations of tokens leave it alone. */
function spend({ objects }: LoginDeps, { current, previous, endpoint }: TokenRecord): void {
  for (const each of [current, previous]) {
    if (each) objects.spend(accessToken.kind, { id: each.id, parents: {}, endpoint });
  }
}

const iso = (at: number): string => new Date(at).toISOString();
/** When it has served its time. */
const endsAt = (current: Current | undefined): number =>
  (current && dueAt({ issuedAt: iso(current.issuedAt), expiresAt: iso(current.expiresAt) }, {})) ?? 0;
const hasLife = ({ createdDate, expirationDate }: Pick<ShownToken, "createdDate" | "expirationDate">, ttl: number) =>
  lifetimeSeconds(lifetimeBetween(createdDate, expirationDate)) === ttl;
const livesFor = (current: Current | undefined, ttl: number): boolean =>
  current !== undefined && hasLife({ createdDate: iso(current.issuedAt), expirationDate: iso(current.expiresAt) }, ttl);

/** Looks for what a lost answer made, once it would be there, and revokes it; false before that. `token`: one of the same user. */
async function recover(
  deps: LoginDeps,
  tokens: OwnTokens,
  state: TokenRecord,
  token: string | undefined,
): Promise<boolean> {
  const { intent, account, username, endpoint } = state;
  if (!intent) return true;
  const memory = deps.memories.of(objectOf(account));
  const now = deps.clock.monotonic();
  if (memory.login?.what !== intent.nonce) memory.login = { what: intent.nonce, at: now };
  if (now < settledAt(deps, intent.by, memory.login.at)) return false;
  const there = await tokens.list();
  // Read after the list: whoever has made one of these meanwhile has said so before.
  const all = await deps.kept.all(0);
  const others = all.filter((each) => each.account !== account);
  for (const each of others) spend(deps, each);
  const { earliest, latest } = windowOf(deps, intent);
  const candidates = there.filter(({ id, ...dates }) => {
    const madeAt = Date.parse(dates.createdDate);
    const isOurs = id === state.current?.id || id === state.previous?.id || intent.seen.includes(id);
    const isTaken = isOurs || deps.objects.wasClaimed(accessToken.kind, { id, parents: {}, endpoint });
    return !isTaken && hasLife(dates, intent.ttl) && madeAt >= earliest && madeAt <= latest;
  });
  const us = { account, userId: token === undefined ? undefined : identityOf(token)?.userId };
  const rivals = [
    ...others.filter((each) => each.username === username && each.intent?.ttl === intent.ttl),
    ...deps.objects
      .rivals(accessToken.kind, { hash: hashBody({ ttl: intent.ttl }), parents: {} })
      .filter((rival) => couldBeOurs(deps, us, rival)),
  ];
  const ids = candidates.map(({ id }) => id);
  const isClear = ids.length === 0 || (ids.length === 1 && rivals.length === 0);
  if (isClear) for (const id of ids) await tokens.revoke(id);
  else state.unclaimed = ids;
  state.intent = undefined;
  await deps.kept.write(account, state);
  return true;
}

function adviceOf({ username, count, unclaimed }: TokenRecord): string[] {
  const many = `user ${username} has ${count} tokens and the platform allows ${MOST}: delete those that nobody uses, a deleted token stops working at once`;
  const lost = `a token that was created without an answer may be one of ${several(unclaimed)}; they expire by themselves`;
  return [...(count >= MANY ? [many] : []), ...(unclaimed.length > 0 ? [lost] : [])];
}
