import { type AccountHandle, objectOf } from "../../engine/accounts/accounts.ts";
import type { Deps } from "../../engine/observe/deps.ts";
import { obstacleFrom } from "../../engine/observe/platform-errors.ts";
import { ACCEPT_USER } from "../../engine/state/names.ts";
import { needsPerson, type Obstacle } from "../../engine/status/reasons.ts";
import { conditionFor, readFacts, readWhole } from "../../engine/status/status.ts";
import { lifetimeSeconds } from "../../kinds/fields/secrets/lifetime.ts";
import { type AccountSpec, endpointNames, readAccountSpec } from "../../kinds/identity/account.ts";
import { readSharing } from "../../kinds/identity/cluster-account.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { HeldSecrets } from "../../kube/write/held-secrets.ts";
import { addressesOf, type Sites } from "../../platform/addresses/account-addresses.ts";
import { PlatformError, Retry, Unauthorized } from "../../platform/answers/errors.ts";
import { type Credentials, type Identity, tokenIdentity } from "../../platform/calls/credentials.ts";
import { platformTime, reachedTime, withoutDoubt } from "../../platform/calls/platform-time.ts";
import type { Transport } from "../../platform/calls/transport.ts";
import { type Contract, readContract } from "../../platform/products/core.ts";
import { unlessThrown } from "../../runtime/unless-thrown.ts";
import { type Checked, type LoggedIn, loginObstacle, otherUser, RECOVERING, usable } from "./condition.ts";
import { logIn, logOut, type Route, readLogin } from "./login.ts";
import type { TokenStore } from "./token-store.ts";

export interface AccountDeps extends Deps {
  transport: Pick<Transport, "connect" | "close">;
  secrets: HeldSecrets;
  tokenStore: TokenStore;
  /** The operator's own namespace, which has the Secrets of ClusterAccounts. */
  home: string;
  sites: Sites;
  /** The name of the cluster on the platform, if there is one. */
  clusterName: () => string | undefined;
  /** The Account has become usable, unusable, or has new credentials since then: tell the objects that use it. */
  changed: (account: string, since: number) => void;
  /** Whether cleanup with this Account is under way. */
  hasCleanup: (account: string) => boolean;
}

/** An Account with its spec, the credentials in its Secret, and its handle. */
interface AccountState {
  deps: AccountDeps;
  object: KubeObject;
  spec: AccountSpec;
  /** The token in its Secret, or else username and password. */
  given: Credentials & { token: string };
  /** Whether somebody has deleted the Secret. */
  leaving: boolean;
  handle: AccountHandle;
  /** Whether this shard reconciles the Account. That of another shard is only used. */
  isKept: boolean;
}

/** Whether an Account works, by a call with its credentials; "later" while its Secret was not read yet. */
export async function check(deps: AccountDeps, account: string, object: KubeObject): Promise<Checked | "later"> {
  const state = readState(deps, account, object);
  if (state === "later") return state;
  if ("reason" in state) return blocked(object, state, "never");
  return state.given.login ? checkLogin(state, state.given.login) : checkToken(state);
}

export function readState(deps: AccountDeps, account: string, object: KubeObject): AccountState | Obstacle | "later" {
  const spec = readSpec(object);
  if (!spec) return { reason: "InvalidSpec", message: "spec is invalid" };
  const addresses = addressesOf(spec, deps.sites, endpointNames);
  if (addresses.obstacle) {
    connect(deps, account, object, addresses.endpoint);
    return addresses.obstacle;
  }
  const { known, leaving, ...given } = credentialsOf(deps, account, object, spec);
  if (!known) return "later";
  const handle = connect(deps, account, object, addresses.endpoint);
  return { deps, object, spec, given, leaving, handle, isKept: deps.shards.serves(objectOf(account)) };
}

async function checkToken(state: AccountState): Promise<Checked> {
  const { deps, object, spec, given, handle, isKept } = state;
  const { connection } = handle;
  // A token of another user is not used, not even until the platform has answered: objects would be created as that user.
  const other = foreign(state, tokenIdentity(given.token));
  if (!other) connection.setCredentials(given);
  if (given.token === "") {
    const { name, key } = spec.credentialsSecretRef;
    const message = `credentialsSecretRef: Secret ${name} in namespace ${object.metadata.namespace ?? deps.home} does not exist, or has no value in key ${key}, and none in username and password: put the platform's token into it`;
    return blocked(object, { reason: "CredentialsMissing", message }, "never");
  }
  if (isKept) await deps.secrets.hold(handle.key);
  if (other) return blocked(object, other, { inMs: deps.settings.resyncMs });
  if (isKept && readWhole(object).tokenId && (await revokeTokens(state))) return blocked(object, REVOKING, "backoff");
  const { expiresAt = Number.POSITIVE_INFINITY } = connection.identity ?? {};
  // If only one of the two clocks says that it expired, the platform is asked.
  if (expiresAt <= reachedTime(deps.clock, connection)) return expired(state, expiresAt);
  try {
    const contract = await contractOf(handle);
    return judge(state, contract, connection.identity);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return failed(state, error);
  }
}

function expired({ deps, object, spec }: AccountState, expiresAt: number): Checked {
  const tokenExpiresAt = new Date(expiresAt).toISOString();
  const message = `the token expired at ${tokenExpiresAt}: update ${whereIs(spec)}`;
  const refused = blocked(object, { reason: "Unauthorized", message }, { inMs: deps.settings.resyncMs });
  return { ...refused, facts: { ...refused.facts, tokenExpiresAt } };
}

async function checkLogin(state: AccountState, login: NonNullable<Credentials["login"]>): Promise<Checked> {
  const { deps, object, spec, given, handle, isKept } = state;
  const { token: _, ...settled } = given;
  const entry = { username: login.username, ttl: lifetimeSeconds(spec.tokenLifetime) };
  const enter = async (refused: boolean): Promise<LoggedIn> => {
    const logged = isKept ? await logIn(deps, handle, entry, refused) : await readLogin(deps, handle.key);
    const { token = "" } = logged;
    if (!foreign(state, tokenIdentity(token))) handle.connection.setCredentials({ ...settled, token });
    return logged;
  };
  // While a token is made, the previous one goes on working.
  handle.connection.setCredentials(settled);
  if (isKept) await deps.secrets.hold(handle.key);
  let logged = await enter(false);
  if (logged.token === undefined) return loginFailed(state, logged);
  const other = foreign(state, tokenIdentity(logged.token));
  if (other) return blocked(object, other, { inMs: deps.settings.resyncMs });
  try {
    const contract = await contractOf(handle).catch(async (error: unknown) => {
      // Somebody may have revoked the token, and the password makes another one.
      if (error instanceof Unauthorized) logged = await enter(true);
      if (logged.token === undefined) throw error;
      return contractOf(handle);
    });
    return judge(state, contract, tokenIdentity(logged.token ?? ""), logged);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    const isRefused = logged.token === undefined && logged.trouble instanceof Unauthorized;
    return isRefused && error instanceof Unauthorized ? loginFailed(state, logged) : failed(state, error);
  }
}

/** A cheap call that needs the credentials. */
const contractOf = ({ connection, endpoint }: AccountHandle): Promise<Contract> =>
  withoutDoubt(connection, () => readContract(connection, endpoint("api"), { priority: "people" }));

/** The platform has answered: the Account works, unless the answer shows another user. */
function judge(state: AccountState, contract: Contract, identity: Identity | undefined, logged?: LoggedIn): Checked {
  const { deps, object, spec, handle } = state;
  const { contractNumber } = contract;
  const other = foreign(state, { ...identity, contractNumber });
  if (other) return blocked(object, other, { inMs: deps.settings.resyncMs });
  const { connection } = handle;
  const now = platformTime(deps.clock, connection);
  const places = { where: whereIs(spec), secret: spec.credentialsSecretRef.name, leaving: leavingOf(state) };
  return usable(deps, now, contract, connection.identity, logged, places);
}

/** Why a login got no token. */
function loginFailed(state: AccountState, { trouble, pausedMs }: LoggedIn): Checked {
  const { given, spec } = state;
  const obstacle = trouble && loginObstacle(trouble, given.login?.username ?? "", spec.credentialsSecretRef.name);
  if (trouble instanceof PlatformError && !obstacle) return failed(state, trouble);
  const inMs = trouble === "recovering" ? RECOVER_MS : pausedMs;
  return blocked(state.object, obstacle ?? RECOVERING, inMs > 0 ? { inMs } : "backoff");
}

function failed(state: AccountState, error: PlatformError): Checked {
  const { deps, object, spec, given } = state;
  const obstacle = obstacleFrom(error);
  if (obstacle.reason === "Rejected" || error.status === 404) {
    const message = `endpoints.api is not the platform's API: ${error.message}`;
    return blocked(object, { reason: "EndpointInvalid", message }, { inMs: deps.settings.retryMs });
  }
  const isChosen = obstacle.reason === "Forbidden" && spec.contractNumber !== undefined;
  if (isChosen) obstacle.message = `contractNumber ${spec.contractNumber}: ${obstacle.message}: correct or remove it`;
  const about = `the platform refuses the token in ${whereIs(spec)}`;
  if (error instanceof Unauthorized && !given.login)
    obstacle.message = [`${about}: ${obstacle.message}`, ...leavingOf(state)].join("; ");
  const isLong = !given.login && (obstacle.reason === "RateLimited" || needsPerson(obstacle.reason));
  const afterMs = error instanceof Retry ? error.afterMs : undefined;
  return blocked(object, obstacle, isLong ? { inMs: Math.max(deps.settings.retryMs, afterMs ?? 0) } : "backoff");
}

const blocked = (object: KubeObject, obstacle: Obstacle, again: Requeue): Checked => ({
  condition: conditionFor(obstacle),
  facts: readFacts(object),
  again,
});

const foreign = ({ deps, object, spec, handle }: AccountState, identity: Identity | undefined): Obstacle | undefined =>
  otherUser(object, deps.objects.users(handle.key).length, identity, whereIs(spec));

/** Advice about a Secret that somebody has deleted: without its token, no resource of the Account could be deleted. */
const leavingOf = ({ leaving, spec: { credentialsSecretRef } }: AccountState): string[] => {
  const title = `Secret ${credentialsSecretRef.name}`;
  const advice = `${title} is being deleted, which waits for this Account: kubectl apply can still change its token; for a new Secret of this name, remove its finalizer and create it again`;
  return leaving ? [advice] : [];
};

const whereIs = ({ credentialsSecretRef: { name, key } }: AccountSpec): string => `key ${key} of Secret ${name}`;

const RECOVER_MS = 2000;
const REVOKING: Obstacle = { reason: "PlatformUnavailable", message: "the previous tokens cannot be revoked yet" };

/** Revokes the tokens that were made for an Account, with credentials that still work. Undefined when done, else when to retry. */
export async function revokeTokens({ deps, given, handle }: Pick<AccountState, "deps" | "given"> & { handle: Route }) {
  handle.connection.setCredentials(given);
  try {
    return (await logOut(deps, handle, given.login !== undefined)) ? undefined : { inMs: RECOVER_MS };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    if (error instanceof Retry) return "backoff";
    deps.log.warn({ object: objectOf(handle.key), err: error }, "tokens not revoked: they expire by themselves");
    return undefined;
  }
}

export const readSpec = ({ spec }: KubeObject): AccountSpec | undefined => unlessThrown(() => readAccountSpec(spec));

/** The credentials in the Secret of an Account: a token, or else username and password. */
function credentialsOf(
  deps: AccountDeps,
  account: string,
  { metadata }: KubeObject,
  { credentialsSecretRef: { name, key }, contractNumber, callsPerSecond }: AccountSpec,
): Credentials & { known: boolean; leaving: boolean; token: string } {
  const read = (each: string) => deps.secrets.read(account, metadata.namespace ?? deps.home, name, each);
  const { known, value = "", leaving = false } = read(key);
  const [username = "", password = ""] = ["username", "password"].map((each) => read(each).value?.replace(/\n$/, ""));
  const isLogin = value.trim() === "" && username.trim() !== "" && password.trim() !== "";
  return {
    known,
    leaving,
    token: value.trim(),
    ...(isLogin && { login: { username, password } }),
    ...(contractNumber !== undefined && { contractNumber }),
    ...(callsPerSecond !== undefined && { callsPerSecond }),
  };
}

/** The handle that other objects use, made once and kept up to date. */
function connect(deps: AccountDeps, account: string, object: KubeObject, endpoint: AccountHandle["endpoint"]) {
  const { metadata, spec } = object;
  const before = deps.accounts.get(account);
  const doubted = () => deps.suspect(account);
  const handle: AccountHandle = {
    // An Account that works goes on working while it is checked again.
    obstacle: { reason: "Observing", message: "not checked yet" },
    ...before,
    key: account,
    connection: before?.connection ?? deps.transport.connect(account, undefined, { doubted }),
    endpoint,
    adoption: metadata.namespace === undefined ? readSharing(spec).adoption : "Any",
    acceptsUser: metadata.annotations?.[ACCEPT_USER],
  };
  deps.accounts.put(handle);
  return handle;
}
