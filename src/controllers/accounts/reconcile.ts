import { type AccountHandle, objectOf } from "../../engine/accounts/accounts.ts";
import { type Addresses, addressesOf, type Sites } from "../../engine/accounts/addresses.ts";
import type { Deps } from "../../engine/observe/deps.ts";
import { obstacleFrom } from "../../engine/observe/platform-errors.ts";
import { ACCEPT_USER, FINALIZER } from "../../engine/state/names.ts";
import { isSaidAgain, needsPerson, type Obstacle } from "../../engine/status/reasons.ts";
import { alsoHolds, conditions, type ReadyState, readFacts, readWhole } from "../../engine/status/status.ts";
import { withTime } from "../../engine/write/record.ts";
import { recordWarning } from "../../engine/write/warnings.ts";
import { release, writeMetadata, writeStatus } from "../../engine/write/write.ts";
import { lifetimeSeconds } from "../../kinds/fields/lifetime.ts";
import { type AccountSpec, readAccountSpec } from "../../kinds/identity/account.ts";
import { readSharing } from "../../kinds/identity/cluster-account.ts";
import type { Kind } from "../../kinds/kind.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { HeldSecrets } from "../../kube/write/held-secrets.ts";
import { PlatformError, Retry, Unauthorized } from "../../platform/answers/errors.ts";
import { type Credentials, type Identity, identityOf } from "../../platform/calls/credentials.ts";
import { platformTime, skewOf, withoutDoubt } from "../../platform/calls/platform-time.ts";
import type { Transport } from "../../platform/calls/transport.ts";
import { readContract } from "../../platform/products/core.ts";
import { type Checked, loginObstacle, otherUser, RECOVERING, skewIn, usable, usedBy } from "./condition.ts";
import { type LoggedIn, logIn, logOut, readLogin } from "./login.ts";
import type { TokenStore } from "./token-store.ts";

export interface AccountDeps extends Deps {
  transport: Pick<Transport, "connect" | "close">;
  secrets: HeldSecrets;
  kept: TokenStore;
  /** The operator's own namespace: the Secret of an Account that has none is there. */
  home: string;
  sites: Sites;
  /** The Account has become usable, unusable, or has new credentials since then: tell the objects that use it. */
  changed: (account: string, since: number) => void;
  /** Whether work with this Account is under way that no object stands for. */
  hasCleanup: (account: string) => boolean;
}

/**
 * Keeps one Account: Ready while a cheap authenticated call succeeds. The call is made when spec or Secret change, when
 * a call of the Account was refused, and once per resync.
 */
export async function reconcileAccount(
  deps: AccountDeps,
  account: string,
  kind: Kind,
  object: KubeObject,
): Promise<Requeue> {
  if (!deps.shards.serves(objectOf(account))) return use(deps, account, object);
  const deleting = object.metadata.deletionTimestamp !== undefined;
  const users = deps.objects.users(account);
  if (deleting && users.length === 0) {
    return deps.hasCleanup(account) ? { inMs: CLEANUP_RECHECK_MS } : letGo(deps, account, kind, object);
  }
  const bare = !deleting && !object.metadata.finalizers?.includes(FINALIZER);
  const current = bare ? await writeMetadata(deps, kind, object) : object;
  const checked = await check(deps, account, current);
  // The Secret's watch wakes the Account as soon as it has looked.
  if (checked === "later") return "never";
  adjust(deps, account, checked.standing);
  const { standing: found, again } = checked;
  // When it is tried again is its own affair: its objects are not told anew each time.
  const due = typeof again === "object" ? deps.clock.now() + again.inMs : 0;
  const standing = deleting ? usedBy(deps, users) : { ...found, message: withTime(found, due) };
  const shown = conditions(current, deps.clock.now(), standing);
  const skew = skewIn(deps.memories.of(objectOf(account)), skewOf(deps.accounts.get(account)?.connection));
  const written = await writeStatus(deps, kind, current, {
    ...checked.facts,
    observedGeneration: current.metadata.generation,
    conditions: skew ? alsoHolds(current, deps.clock.now(), shown, skew) : shown,
  });
  recordWarning(deps, objectOf(account), { before: current, after: written, standing });
  return again;
}

/** An Account that another shard keeps: this process checks it for its own objects, and writes nothing of it. */
async function use(deps: AccountDeps, account: string, object: KubeObject): Promise<Requeue> {
  const checked = await check(deps, account, object);
  if (checked === "later") return "never";
  adjust(deps, account, checked.standing);
  return checked.again;
}

const CLEANUP_RECHECK_MS = 1000;

/** Keeps how an Account stands, and wakes its objects when that is news: at once, since the status may not be written. */
function adjust(deps: AccountDeps, account: string, { mode, reason, message }: ReadyState): void {
  const handle = deps.accounts.get(account);
  if (!handle) return;
  const before = handle.obstacle;
  // A short failure concerns the Account alone: its objects notice by themselves whether they are affected.
  if (mode === "reconciling" && !before) return;
  const now = mode === "ready" ? undefined : { reason, message };
  const { contractNumber, identity } = handle.connection;
  const as = now ? handle.worksAs : `${contractNumber} ${identity?.userId}`;
  if (isSaidAgain(before, now) && as === handle.worksAs) return;
  handle.obstacle = now;
  handle.worksAs = as;
  deps.changed(account, deps.clock.monotonic());
}

/** An Account goes after everything that was made with it: nothing else could delete that any more. */
async function letGo(deps: AccountDeps, account: string, kind: Kind, object: KubeObject): Promise<Requeue> {
  const spec = readSpec(object);
  const { name, key = "" } = spec?.credentialsSecretRef ?? {};
  // A fresh process has to see the Secret before it can let go of it.
  if (name && !deps.secrets.read(account, object.metadata.namespace ?? deps.home, name, key).known) return "never";
  const left = spec && (await leave(deps, account, object, spec));
  if (left !== undefined) return left;
  await deps.secrets.release(account);
  await deps.accounts.get(account)?.connection.close();
  deps.accounts.remove(account);
  await release(deps, kind, object);
  return "never";
}

/** Revokes the tokens that were made for an Account, with whatever still works; undefined when that is done. */
async function leave(
  deps: AccountDeps,
  account: string,
  object: KubeObject,
  spec: AccountSpec,
): Promise<Requeue | undefined> {
  const { known: _, ...given } = credentialsOf(deps, account, object, spec);
  if (readWhole(object).tokenId === undefined && !given.login) return undefined;
  const addresses = addressesOf(spec, deps.sites);
  if (addresses.obstacle) return undefined;
  const handle = connect(deps, account, object, addresses);
  handle.connection.setCredentials(given);
  try {
    return (await logOut(deps, handle, given.login !== undefined)) ? undefined : { inMs: RECOVER_MS };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    if (error instanceof Retry) return "backoff";
    deps.log.warn(
      { object: objectOf(account), err: error },
      "tokens of the Account not revoked: they expire by themselves",
    );
    return undefined;
  }
}

const RECOVER_MS = 2000;
const LEAVING: Obstacle = { reason: "PlatformUnavailable", message: "the previous tokens cannot be revoked yet" };

function readSpec(object: KubeObject): AccountSpec | undefined {
  try {
    return readAccountSpec(object.spec);
  } catch {
    return undefined;
  }
}

/** The Secret that an Account names, as namespace/name. */
export const secretOf = (object: KubeObject, home: string): string =>
  `${object.metadata.namespace ?? home}/${readSpec(object)?.credentialsSecretRef.name}`;

/** What the Secret of an Account holds: a token, or else username and password. */
function credentialsOf(
  deps: AccountDeps,
  account: string,
  { metadata }: KubeObject,
  { credentialsSecretRef: { name, key }, contractNumber, callsPerSecond }: AccountSpec,
): Credentials & { known: boolean; token: string } {
  const read = (each: string) => deps.secrets.read(account, metadata.namespace ?? deps.home, name, each);
  const { known, value = "" } = read(key);
  const [username = "", password = ""] = ["username", "password"].map((each) => read(each).value?.replace(/\n$/, ""));
  const isLogin = value.trim() === "" && username.trim() !== "" && password.trim() !== "";
  return {
    known,
    token: value.trim(),
    ...(isLogin && { login: { username, password } }),
    ...(contractNumber !== undefined && { contractNumber }),
    ...(callsPerSecond !== undefined && { callsPerSecond }),
  };
}

async function check(deps: AccountDeps, account: string, object: KubeObject): Promise<Checked | "later"> {
  const blocked = ({ reason, message }: Obstacle, again: Requeue): Checked => ({
    standing: { mode: needsPerson(reason) ? "stalled" : "reconciling", reason, message },
    facts: readFacts(object),
    again,
  });
  const spec = readSpec(object);
  if (!spec) return blocked({ reason: "InvalidSpec", message: "spec is invalid" }, "never");
  const addresses = addressesOf(spec, deps.sites);
  if (addresses.obstacle) {
    connect(deps, account, object, addresses);
    return blocked(addresses.obstacle, "never");
  }
  const { name, key } = spec.credentialsSecretRef;
  const where = `key ${key} of Secret ${name}`;
  const { known, login, ...given } = credentialsOf(deps, account, object, spec);
  if (!known) return "later";
  const handle = connect(deps, account, object, addresses);
  const { connection } = handle;
  const { token, ...settled } = given;
  const foreign = (identity: Identity | undefined) =>
    otherUser(object, deps.objects.users(account).length, identity, where);
  // A token of another user is not used, not even until the platform has answered: objects would be created as that user.
  const other = login ? undefined : foreign(identityOf(token));
  // While a token is made, the one before goes on working.
  if (!other) connection.setCredentials(login ? { login, ...settled } : given);
  if (token === "" && !login) {
    const message = `credentialsSecretRef: Secret ${name} does not exist or has neither key ${key} nor username and password: create it with the platform's token`;
    return blocked({ reason: "CredentialsMissing", message }, "never");
  }
  const isKept = deps.shards.serves(objectOf(account));
  if (isKept) await deps.secrets.hold(account);
  if (other) return blocked(other, { inMs: deps.settings.resyncMs });
  if (isKept && !login && (await leave(deps, account, object, spec)) !== undefined) return blocked(LEAVING, "backoff");
  const entry = { username: login?.username ?? "", ttl: lifetimeSeconds(spec.tokenLifetime) };
  const enter = async (refused: boolean): Promise<LoggedIn | undefined> => {
    if (!login) return undefined;
    const logged = isKept ? await logIn(deps, handle, entry, refused) : await readLogin(deps, account);
    const { token: made = "" } = logged;
    if (!foreign(identityOf(made))) connection.setCredentials({ token: made, login, ...settled });
    return logged;
  };
  const failed = (error: PlatformError): Checked => {
    const obstacle = obstacleFrom(error);
    if (obstacle.reason === "Rejected" || error.status === 404) {
      const message = `endpoints.api is not the platform's API: ${error.message}`;
      return blocked({ reason: "EndpointInvalid", message }, { inMs: deps.settings.retryMs });
    }
    if (error instanceof Unauthorized && !login) {
      obstacle.message = `the platform refuses the token in ${where}: ${obstacle.message}`;
    }
    const limited = obstacle.reason === "RateLimited";
    const afterMs = error instanceof Retry ? error.afterMs : undefined;
    const inMs = Math.max(deps.settings.retryMs, afterMs ?? 0);
    return blocked(obstacle, !login && (limited || needsPerson(obstacle.reason)) ? { inMs } : "backoff");
  };
  /** Why a password leads to no token. */
  const keptOut = ({ trouble, pausedMs }: LoggedIn): Checked => {
    const obstacle = trouble && loginObstacle(trouble, entry.username, name);
    if (trouble instanceof PlatformError && !obstacle) return failed(trouble);
    const inMs = trouble === "recovering" ? RECOVER_MS : pausedMs;
    return blocked(obstacle ?? RECOVERING, inMs > 0 ? { inMs } : "backoff");
  };
  let logged = await enter(false);
  if (logged && logged.token === undefined) return keptOut(logged);
  const otherLogin = logged && foreign(identityOf(logged.token ?? ""));
  if (otherLogin) return blocked(otherLogin, { inMs: deps.settings.resyncMs });
  const expiresAt = connection.identity?.expiresAt;
  if (!login && expiresAt !== undefined && expiresAt <= platformTime(deps.clock, connection)) {
    const tokenExpiresAt = new Date(expiresAt).toISOString();
    const message = `the token expired at ${tokenExpiresAt}: update ${where}`;
    const expired = blocked({ reason: "Unauthorized", message }, { inMs: deps.settings.resyncMs });
    return { ...expired, facts: { ...expired.facts, tokenExpiresAt } };
  }
  const read = () =>
    withoutDoubt(connection, () => readContract(connection, handle.endpoint("api"), { priority: "people" }));
  try {
    const contract = await read().catch(async (error: unknown) => {
      // Somebody may have revoked it, and a password makes another one.
      if (error instanceof Unauthorized) logged = await enter(true);
      if (logged?.token === undefined) throw error;
      return read();
    });
    const { contractNumber } = contract;
    const changed = foreign({ ...(logged ? identityOf(logged.token ?? "") : connection.identity), contractNumber });
    if (changed) return blocked(changed, { inMs: deps.settings.resyncMs });
    return usable(deps, platformTime(deps.clock, connection), contract, connection.identity, logged, {
      where,
      secret: name,
    });
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    // A token that was revoked is no matter where a password would make another one.
    return error instanceof Unauthorized && logged?.trouble instanceof Unauthorized && logged.token === undefined
      ? keptOut(logged)
      : failed(error);
  }
}

/** The handle that other objects use, made once and kept up to date. */
function connect(
  deps: AccountDeps,
  account: string,
  { metadata, spec }: KubeObject,
  { endpoint }: Addresses,
): AccountHandle {
  const before = deps.accounts.get(account);
  const handle: AccountHandle = {
    key: account,
    connection:
      before?.connection ?? deps.transport.connect(account, undefined, { doubted: () => deps.suspect(account) }),
    endpoint,
    adoption: metadata.namespace === undefined ? readSharing(spec).adoption : "Any",
    acceptsUser: metadata.annotations?.[ACCEPT_USER],
    worksAs: before?.worksAs,
    // One that works goes on working while it is looked at again.
    obstacle: before ? before.obstacle : { reason: "Observing", message: "not checked yet" },
  };
  deps.accounts.put(handle);
  return handle;
}
