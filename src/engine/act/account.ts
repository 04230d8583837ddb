import { type AccountSpec, readAccountSpec } from "../../kinds/identity/account.ts";
import { readSharing } from "../../kinds/identity/cluster-account.ts";
import type { Kind } from "../../kinds/kind.ts";
import type { HeldSecrets } from "../../kube/held-secrets.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { Again } from "../../kube/work.ts";
import { type Contract, readContract } from "../../platform/core.ts";
import { NotFound, PlatformError, Retry } from "../../platform/errors.ts";
import type { Transport } from "../../platform/transport.ts";
import { type AccountHandle, objectOf } from "../accounts/accounts.ts";
import { type Addresses, addressesOf, type Sites } from "../accounts/addresses.ts";
import { several } from "../decide/standing.ts";
import type { Deps } from "../look/deps.ts";
import { obstacleOf } from "../look/problems.ts";
import { FINALIZER } from "../objects/names.ts";
import type { ObjectKey } from "../objects/object.ts";
import { withTime } from "../record/record.ts";
import { tell } from "../record/tell.ts";
import { release, writeMetadata, writeStatus } from "../record/write.ts";
import { needsPerson, type Obstacle } from "../schema/reasons.ts";
import { conditions, readFacts, type Standing } from "../schema/status.ts";

export interface AccountDeps extends Deps {
  transport: Omit<Transport, "pacers">;
  secrets: HeldSecrets;
  /** The operator's own namespace: the Secret of an Account that has none is there. */
  home: string;
  sites: Sites;
  /** The Account has become usable, unusable, or has new credentials since then: tell the objects that use it. */
  changed: (account: string, since: number) => void;
  /** Whether work with this Account is under way that no object stands for. */
  owes: (account: string) => boolean;
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
): Promise<Again> {
  const deleting = object.metadata.deletionTimestamp !== undefined;
  const users = deps.objects.users(account);
  if (deleting && users.length === 0) {
    return deps.owes(account) ? { inMs: OWED_MS } : letGo(deps, account, kind, object);
  }
  const bare = !deleting && !object.metadata.finalizers?.includes(FINALIZER);
  const current = bare ? await writeMetadata(deps, kind, object) : object;
  const checked = await check(deps, account, current);
  // The Secret's watch wakes the Account as soon as it has looked.
  if (checked === "later") return "never";
  const since = deps.clock.monotonic();
  const changed = adjust(deps.accounts.get(account), checked.standing);
  const { standing: found, again } = checked;
  // When it is tried again is its own affair: its objects are not told anew each time.
  const due = typeof again === "object" ? deps.clock.now() + again.inMs : 0;
  const standing = deleting ? inUse(users) : { ...found, message: withTime(found, due) };
  const written = await writeStatus(deps, kind, current, {
    ...checked.facts,
    observedGeneration: current.metadata.generation,
    conditions: conditions(current, deps.clock.now(), standing),
  });
  tell(deps, objectOf(account), { before: current, after: written, standing });
  if (changed) deps.changed(account, since);
  return again;
}

const OWED_MS = 1000;

/** Tells the objects of an Account how it stands; true when that is news. */
function adjust(handle: AccountHandle | undefined, { mode, reason, message }: Standing): boolean {
  if (!handle) return false;
  const before = handle.obstacle;
  // Passing trouble is the Account's own: its objects meet the same trouble, or none, by themselves.
  if (mode === "reconciling" && !before) return false;
  handle.obstacle = mode === "ready" ? undefined : { reason, message };
  return before?.reason !== handle.obstacle?.reason || before?.message !== handle.obstacle?.message;
}

/** An Account goes after everything that was made with it: nothing else could delete that any more. */
async function letGo(deps: AccountDeps, account: string, kind: Kind, object: KubeObject): Promise<Again> {
  const spec = readSpec(object);
  const { name, key = "" } = spec?.credentialsSecretRef ?? {};
  // A fresh process has to see the Secret before it can let go of it.
  if (name && !deps.secrets.read(account, object.metadata.namespace ?? deps.home, name, key).known) return "never";
  await deps.secrets.release(account);
  await deps.accounts.get(account)?.connection.close();
  deps.accounts.remove(account);
  await release(deps, kind, object);
  return "never";
}

function inUse(users: ObjectKey[]): Standing {
  return {
    mode: "reconciling",
    reason: "InUse",
    message: `still used by ${several(users.toSorted())}`,
  };
}

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

interface Checked {
  standing: Standing;
  facts: Record<string, unknown>;
  again: Again;
}

async function check(deps: AccountDeps, account: string, object: KubeObject): Promise<Checked | "later"> {
  const blocked = ({ reason, message }: Obstacle, again: Again): Checked => ({
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
  const { credentialsSecretRef, contractNumber } = spec;
  const { name, key } = credentialsSecretRef;
  const secret = deps.secrets.read(account, object.metadata.namespace ?? deps.home, name, key);
  if (!secret.known) return "later";
  const token = secret.value?.trim() ?? "";
  const handle = connect(deps, account, object, addresses);
  handle.connection.setCredentials({ token, ...(contractNumber !== undefined && { contractNumber }) });
  if (token === "") {
    const message = `credentialsSecretRef: Secret ${name} does not exist or has no key ${key}: create it with the platform's token`;
    return blocked({ reason: "CredentialsMissing", message }, "never");
  }
  await deps.secrets.hold(account);
  const expiresAt = handle.connection.identity?.expiresAt;
  if (expiresAt !== undefined && expiresAt <= deps.clock.now()) {
    const message = `the token expired at ${new Date(expiresAt).toISOString()}: update Secret ${name}`;
    return blocked({ reason: "Unauthorized", message }, { inMs: deps.settings.resyncMs });
  }
  try {
    const contract = await readContract(handle.connection, handle.endpoint("api"), { priority: "people" });
    return {
      standing: { mode: "ready", reason: "Available", message: "the platform accepts the token" },
      facts: factsOf(contract, expiresAt),
      again: { inMs: deps.settings.resyncMs, background: true },
    };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    const obstacle = obstacleOf(error);
    if (obstacle.reason === "Rejected" || error instanceof NotFound) {
      const message = `endpoints.api is not the platform's API: ${error.message}`;
      return blocked({ reason: "EndpointInvalid", message }, { inMs: deps.settings.retryMs });
    }
    const limited = obstacle.reason === "RateLimited";
    const afterMs = error instanceof Retry ? error.afterMs : undefined;
    const inMs = Math.max(deps.settings.retryMs, afterMs ?? 0);
    return blocked(obstacle, limited || needsPerson(obstacle.reason) ? { inMs } : "backoff");
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
    connection: before?.connection ?? deps.transport.connect(account),
    endpoint,
    adoption: metadata.namespace === undefined ? readSharing(spec).adoption : "Any",
    // One that works goes on working while it is looked at again.
    obstacle: before ? before.obstacle : { reason: "Observing", message: "not checked yet" },
  };
  deps.accounts.put(handle);
  return handle;
}

const USED = /Provisioned$|^reservedIps/;

function factsOf({ contractNumber, owner, limits }: Contract, expiresAt: number | undefined): Record<string, unknown> {
  const entries = Object.entries(limits);
  return {
    contractNumber,
    ...(owner !== undefined && { contractOwner: owner }),
    ...(expiresAt !== undefined && { tokenExpiresAt: new Date(expiresAt).toISOString() }),
    limits: Object.fromEntries(entries.filter(([name]) => !USED.test(name))),
    used: Object.fromEntries(entries.filter(([name]) => USED.test(name))),
  };
}
