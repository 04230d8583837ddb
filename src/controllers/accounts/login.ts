import { type AccountHandle, objectOf } from "../../engine/accounts/accounts.ts";
import { journaled } from "../../engine/execute/journal.ts";
import { type Deps, overlapOf } from "../../engine/observe/deps.ts";
import { couldBeOurs } from "../../engine/observe/resource/search-results.ts";
import { windowOf } from "../../engine/state/intent.ts";
import { nextStep, nextSuccession, pauseLeft, tooBrief } from "../../engine/state/succession.ts";
import { settledAt } from "../../engine/status/author.ts";
import { lifetimeBetween, lifetimeSeconds } from "../../kinds/fields/secrets/lifetime.ts";
import { dueAt } from "../../kinds/fields/secrets/rotation.ts";
import { accessToken } from "../../kinds/identity/access-token.ts";
import { isConflict } from "../../kube/client/errors.ts";
import { PlatformError } from "../../platform/answers/errors.ts";
import { tokenIdentity } from "../../platform/calls/credentials.ts";
import { latestTime, platformTime, reachedTime, skewOf, withoutDoubt } from "../../platform/calls/platform-time.ts";
import { type NewToken, type OwnTokens, ownTokens, type ShownToken } from "../../platform/products/auth.ts";
import { hashBody } from "../../runtime/hash.ts";
import { type LoggedIn, PAUSED, tokenAdvice, tooLarge } from "./condition.ts";
import type { StoredToken, TokenRecord, TokenStore } from "./token-store.ts";

/** A token of the platform has about one KiB. */
const MOST_BYTES = 8192;

/** The user that logs in, and the lifetime of tokens in seconds. */
export interface Entry {
  username: string;
  ttl: number;
}

type LoginDeps = Deps & { tokenStore: TokenStore };
export type Route = Pick<AccountHandle, "key" | "connection" | "endpoint">;
type Current = NonNullable<TokenRecord["current"]>;

/**
 * Ensures that an Account with a password has a token: made once, renewed after two thirds of its life, the previous one
 * revoked some minutes later. A creation is recorded before it is sent. If its answer is lost, the list of tokens shows what it
 * made; nobody knows the value of that token, so it is revoked. There are never more than two.
 */
export async function logIn(deps: LoginDeps, handle: AccountHandle, entry: Entry, refused: boolean): Promise<LoggedIn> {
  const endpoint = handle.endpoint("api");
  // Hundreds of Accounts share one list.
  for (const each of await deps.tokenStore.all(deps.settings.resyncMs)) exclude(deps, each);
  const { record: before, token, version } = await deps.tokenStore.read(handle.key);
  const isSame = before?.username === entry.username && before.endpoint === endpoint;
  const session = openSession(deps, handle, entry, {
    record: isSame ? before : undefined,
    token: isSame && !refused ? token : undefined,
    version,
  });
  try {
    // The previous user cannot log in here any more, but its token still works.
    if (!isSame && before?.endpoint === endpoint && token !== undefined) {
      await session.tokens.end(token, before.previous && [before.previous.id]);
    }
    return (await tidy(deps, session, token)) ?? (await make(deps, session));
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return session.result(error);
  }
}

/** The state of one login, which changes meanwhile: the record of the Account's tokens, and the token that works. */
function openSession(
  deps: LoginDeps,
  { key: account, connection, endpoint }: AccountHandle,
  { username, ttl }: Entry,
  found: Partial<StoredToken>,
) {
  const api = endpoint("api");
  const memory = deps.memories.of(objectOf(account));
  // By one clock alone no token is given up: the platform refuses one that has expired.
  const now = () => reachedTime(deps.clock, connection);
  const pausedMs = () => pauseLeft(memory.succession, deps.clock.monotonic());
  const session = {
    connection,
    tokens: ownTokens(connection, api, deps.guard),
    ttl,
    memory,
    now,
    pausedMs,
    state: found.record ?? { account, username, endpoint: api, count: 0, unclaimed: [] },
    value: found.token,
    /** The version of the Secret that was read; none once this process has changed something. */
    version: found.version,
    /** Until its renewal. The platform's clock decides, unless it takes a token for expired that our own clock does not. */
    renewalInMs(): number {
      const { current } = session.state;
      const estimate = platformTime(deps.clock, connection);
      return renewalAt(current) - (estimate < (current?.expiresAt ?? 0) ? estimate : now());
    },
    works: (): boolean => session.value !== undefined && (session.state.current?.expiresAt ?? 0) > now(),
    write(unchangedSince?: string): Promise<void> {
      session.version = undefined;
      return deps.tokenStore.write(account, session.state, undefined, unchangedSince);
    },
    result: (trouble?: LoggedIn["trouble"]): LoggedIn => ({
      token: session.works() ? session.value : undefined,
      id: session.state.current?.id,
      username,
      advice: tokenAdvice(session.state),
      ...(trouble !== undefined && { trouble }),
      pausedMs: pausedMs(),
      dueInMs() {
        const { previous } = session.state;
        const nextTokenInMs = Math.max(session.renewalInMs(), pausedMs());
        return Math.max(0, Math.min(nextTokenInMs, (previous?.until ?? Infinity) - now()));
      },
    }),
  };
  return session;
}

type Session = ReturnType<typeof openSession>;

/** Does what has to be done before a new token is made; undefined if one is to be made. `known`: a token of the same user. */
async function tidy(deps: LoginDeps, session: Session, known: string | undefined): Promise<LoggedIn | undefined> {
  const { tokens, state, ttl, now, works } = session;
  for (;;) {
    const step = nextStep({
      isOpen: state.intent !== undefined,
      previous: state.previous && { isOver: state.previous.until <= now() },
      isDue: !works() || session.renewalInMs() <= 0 || !livesFor(state.current, ttl),
    });
    if (step === "make") return undefined;
    if (step === "rest") return session.result();
    session.version = undefined;
    if (step === "recover") {
      if (!(await recover(deps, tokens, state, known))) return session.result("recovering");
    } else if (state.previous) {
      await tokens.revoke(state.previous.id);
      state.previous = undefined;
      await session.write();
    }
  }
}

async function make(deps: LoginDeps, session: Session): Promise<LoggedIn> {
  const { connection, tokens, state, ttl, memory, now, works, result } = session;
  if (session.pausedMs() > 0) return result(works() ? undefined : PAUSED);
  const { items: there, isFull } = await withoutDoubt(connection, tokens.roomy);
  state.count = there.length;
  if (isFull) return result("full");
  // A working token is renewed even if the clocks differ: its users must not be interrupted.
  const brief = works() ? undefined : tooBrief("tokenLifetime", ttl * 1000, skewOf(connection));
  if (brief) return result(brief);
  const nonce = deps.nonce();
  const isKnown = (id: string) => there.some((each) => each.id === id) || isTaken(deps, id, state.endpoint);
  return journaled<void, NewToken, LoggedIn>(deps, {
    announce(at) {
      const seen = there.filter((each) => hasTtl(each, ttl)).map(({ id }) => id);
      state.intent = { nonce, at: platformTime(deps.clock, connection), by: deps.self, ttl, seen };
      memory.login = { what: nonce, at };
      // If the namespace has just moved, the previous shard may log in too: only one of the two writes succeeds.
      return session.write(session.version);
    },
    send: (_, deadlineMs) => tokens.generate(ttl, deadlineMs, isKnown),
    async keep(_, made) {
      memory.succession = nextSuccession(deps, memory.succession, ttl * 1000);
      state.intent = undefined;
      if (Buffer.byteLength(made.value) > MOST_BYTES) {
        await tokens.revoke(made.id);
        await session.write();
        return result(tooLarge(MOST_BYTES));
      }
      const until = works() ? latestTime(deps.clock, connection) + overlapOf(deps) : now();
      if (state.current) state.previous = { id: state.current.id, until };
      state.current = { id: made.id, issuedAt: made.issuedAt, expiresAt: made.expiresAt };
      state.count += 1;
      state.unclaimed = [];
      exclude(deps, state);
      if (!(await keep(deps, state, made.value, nonce))) {
        await tokens.revoke(made.id);
        return result("recovering");
      }
      session.value = made.value;
      return result();
    },
    retract() {
      state.intent = undefined;
      return session.write();
    },
    failed: async (_, error) => result(error),
  });
}

/** Keeps a new token; false when another process has taken it for lost, and made one of its own. */
async function keep({ tokenStore }: LoginDeps, state: TokenRecord, token: string, nonce: string): Promise<boolean> {
  for (;;) {
    const now = await tokenStore.read(state.account);
    if (now.record?.intent?.nonce !== nonce) return false;
    try {
      await tokenStore.write(state.account, state, token, now.version);
      return true;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
}

/** The token that another shard keeps for an Account. It works for longer than until the next check. */
export async function readLogin(deps: LoginDeps, account: string): Promise<LoggedIn> {
  const { record, token } = await deps.tokenStore.read(account);
  if (record) exclude(deps, record);
  const { current, username = "" } = record ?? {};
  return { token, id: current?.id, username, advice: [], pausedMs: 0, dueInMs: () => Number.POSITIVE_INFINITY };
}

/** Revokes the tokens of an Account, with the password or else with the token itself; false while a creation has no answer. */
export async function logOut(deps: LoginDeps, handle: Route, hasPassword: boolean): Promise<boolean> {
  const { key: account, connection, endpoint } = handle;
  const { record: state, token } = await deps.tokenStore.read(account);
  if (!state) return true;
  const api = endpoint("api");
  const tokens = ownTokens(connection, api, deps.guard);
  if (state.endpoint === api && hasPassword) {
    if (state.intent && !(await recover(deps, tokens, state, token))) return false;
    for (const each of [state.previous, state.current]) if (each) await tokens.revoke(each.id);
  } else if (state.endpoint === api && token !== undefined) {
    await tokens.end(token, state.previous && [state.previous.id]);
  }
  await deps.tokenStore.write(account, undefined);
  return true;
}

/** No creation of an AccessToken takes these tokens for its own. */
function exclude({ objects }: LoginDeps, { current, previous, endpoint }: TokenRecord): void {
  for (const each of [current, previous]) {
    if (each) objects.excludeFromSearches(accessToken.kind, { id: each.id, parents: {}, endpoint });
  }
}

/** Whether an AccessToken or another Account has this token. */
const isTaken = ({ objects }: LoginDeps, id: string, endpoint: string): boolean =>
  objects.wasClaimed(accessToken.kind, { id, parents: {}, endpoint });

const iso = (at: number): string => new Date(at).toISOString();
/** When the next token is due. */
const renewalAt = (current: Current | undefined): number =>
  (current && dueAt({ issuedAt: iso(current.issuedAt), expiresAt: iso(current.expiresAt) }, {})) ?? 0;
const hasTtl = ({ createdDate, expirationDate }: Pick<ShownToken, "createdDate" | "expirationDate">, ttl: number) =>
  lifetimeSeconds(lifetimeBetween(createdDate, expirationDate)) === ttl;
const livesFor = (current: Current | undefined, ttl: number): boolean =>
  current !== undefined && hasTtl({ createdDate: iso(current.issuedAt), expirationDate: iso(current.expiresAt) }, ttl);

/** Finds the token of a lost answer, once it must be visible, and revokes it; false before. `token`: one of the same user. */
async function recover(deps: LoginDeps, tokens: OwnTokens, state: TokenRecord, token?: string): Promise<boolean> {
  const { intent, account, username, endpoint } = state;
  if (!intent) return true;
  const memory = deps.memories.of(objectOf(account));
  const now = deps.clock.monotonic();
  if (memory.login?.what !== intent.nonce) memory.login = { what: intent.nonce, at: now };
  if (now < settledAt(deps, intent.by, memory.login.at)) return false;
  const there = await tokens.list();
  // Read after the list: whoever made one of these tokens has recorded that before.
  const all = await deps.tokenStore.all(0);
  const others = all.filter((each) => each.account !== account);
  for (const each of others) exclude(deps, each);
  const window = windowOf(deps, intent);
  const candidates = there.filter(({ id, ...dates }) => {
    const isOurs = id === state.current?.id || id === state.previous?.id || intent.seen.includes(id);
    const isFree = !isOurs && !isTaken(deps, id, endpoint);
    return isFree && hasTtl(dates, intent.ttl) && window.has(Date.parse(dates.createdDate));
  });
  const us = { account, userId: token === undefined ? undefined : tokenIdentity(token)?.userId };
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
  await deps.tokenStore.write(account, state);
  return true;
}
