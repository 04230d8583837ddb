import { messageOf } from "../../kinds/fields/words-of-spec.ts";
import { account } from "../../kinds/identity/account.ts";
import { admits, clusterAccount, readSharing, type Sharing } from "../../kinds/identity/cluster-account.ts";
import { isSuccessive, isWanted, type Kind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { Namespaces } from "../../kube/watch/namespaces.ts";
import type { EndpointName } from "../../platform/addresses/endpoints.ts";
import type { Connection } from "../../platform/calls/transport.ts";
import { type Product, products } from "../../platform/products/products.ts";
import { memo } from "../../runtime/memo.ts";
import { unlessThrown } from "../../runtime/unless-thrown.ts";
import { type ObjectKey, objectKey, targetOf } from "../state/object.ts";
import type { Objects } from "../state/objects.ts";
import type { AccountRef } from "../state/policies.ts";
import type { Obstacle } from "../status/reasons.ts";
import { readStatus } from "../status/status.ts";

/** An Account as other objects use it. */
export interface AccountHandle {
  /** `namespace/name`, or `ClusterAccount/name`. */
  readonly key: string;
  readonly connection: Connection;
  /** The address of a host, with the region filled in. Throws with the field's name when there is none. */
  endpoint(name: EndpointName): string;
  /** Which resources its users may reach by id: those of their own namespace, or any. */
  readonly adoption: Sharing["adoption"];
  /** The platform's user that takes over the resources of others, as an annotation of the Account allows. */
  readonly acceptsUser?: string | undefined;
  /** Why it cannot be used now. */
  obstacle: Obstacle | undefined;
  /** The contract and user with which its users were last woken because it works. */
  worksAs?: string | undefined;
  /** The generation of the Account that its users were last woken for. */
  reportedGeneration?: number | undefined;
}

/** Where a product is reached with an Account. Throws as `endpoint` does. */
export const addressOf = (account: AccountHandle, product: Product): string =>
  account.endpoint(products[product].endpoint);

export const urlOf = (account: AccountHandle, product: Product, path: string): string =>
  products[product].url(addressOf(account, product), path);

/** Why an Account has no such address. `find` throws as `endpoint` does. */
export function lackOfAddress(find: () => unknown): Obstacle | undefined {
  try {
    find();
    return undefined;
  } catch (error) {
    return { reason: "EndpointInvalid", message: messageOf(error) };
  }
}

export const accountKinds: readonly Kind[] = [account, clusterAccount];

/** Whether it is a ClusterAccount. No namespace has capitals, so no Account is mistaken for one. */
export const isShared = (account: string): boolean => account.startsWith(`${clusterAccount.kind}/`);

/** The Account that an object is; undefined for one of another kind. */
export function accountOf(key: ObjectKey): string | undefined {
  if (isShared(key)) return key;
  return key.startsWith(`${account.kind}/`) ? key.slice(account.kind.length + 1) : undefined;
}

/** The key of the object that is this Account. */
export const objectOf = (key: string): ObjectKey => (isShared(key) ? key : `${account.kind}/${key}`);

/** The Account that an object of a namespace names. */
export const namedBy = (namespace: string, { kind, name }: AccountRef): string =>
  kind === clusterAccount.kind ? objectKey(kind, "", name) : `${namespace}/${name}`;

/** For messages: `Account shop/main`, `ClusterAccount shared`. */
export const accountTitle = (key: string): string => objectOf(key).replace("/", " ");

/** `key` is the Account that is meant, whether it works or not. */
export type AccountChoice = { key: string; account: AccountHandle } | { key?: string; obstacle: Obstacle };

/** An object that needs an Account. */
export interface User {
  kind: Pick<Kind, "kind" | "resource" | "task">;
  namespace: string;
}

/** An object as the user of an Account. Where spec asks for no resource, its kind need not be admitted. */
export function userOf(kind: Kind, { metadata: { namespace = "", name }, spec }: KubeObject): User {
  const { kind: word, resource } = kind;
  if (!resource || !isSuccessive(kind)) return { kind, namespace };
  const isNeeded = unlessThrown(() => isWanted(kind, resource.desire(spec), name)) ?? true;
  return { kind: isNeeded ? kind : { kind: word }, namespace };
}

const sharingOf = memo(({ spec }: KubeObject) => readSharing(spec));

/** The Accounts of each namespace. A namespace is independent if it has one, or had one as far as this process has seen. */
function ownAccounts(objects: Objects) {
  const independent = new Set<string>();
  const named = new Map<string, Set<string>>();
  objects.subscribe((key, { after }) => {
    const { kind, namespace, name } = targetOf(key);
    const used = after && readStatus(after).account;
    if (kind === account.kind || used?.startsWith(`${namespace}/`)) independent.add(namespace);
    if (kind !== account.kind) return;
    const names = named.get(namespace) ?? new Set();
    if (after) named.set(namespace, names.add(name));
    else if (names.delete(name) && names.size === 0) named.delete(namespace);
  });
  return {
    namesIn: (namespace: string): string[] => [...(named.get(namespace) ?? [])].sort(),
    isIndependent: (namespace: string): boolean => independent.has(namespace),
  };
}

const missing = (message: string, key?: string): AccountChoice => ({
  ...(key !== undefined && { key }),
  obstacle: { reason: "AccountNotFound", message },
});

export type Accounts = ReturnType<typeof createAccounts>;

/** Which Account an object works with, and whether that one works. */
export function createAccounts(objects: Objects, { labelsOf }: Pick<Namespaces, "labelsOf">) {
  const handles = new Map<string, AccountHandle>();
  const own = ownAccounts(objects);
  const isAdmitted = (object: KubeObject, { kind, namespace }: User) =>
    admits(sharingOf(object), { kind, namespace, labels: labelsOf(namespace) });
  /** Whether an object may use this Account now: it is of its namespace, or admits it. */
  const isOpenTo = (user: User, key: string): boolean => {
    if (!isShared(key)) return key.startsWith(`${user.namespace}/`);
    const object = objects.find(key)?.object;
    return object !== undefined && isAdmitted(object, user);
  };

  /** The newest, as with StorageClasses. */
  function defaultOf(user: User): string | undefined {
    const age = ({ metadata }: KubeObject) => metadata.creationTimestamp ?? "";
    const [newest] = [...objects.store(clusterAccount.kind).values()]
      .filter((object) => sharingOf(object).default && isAdmitted(object, user))
      .sort((a, b) => age(b).localeCompare(age(a)) || a.metadata.name.localeCompare(b.metadata.name));
    return newest && objectKey(clusterAccount.kind, "", newest.metadata.name);
  }

  function byKey(user: User, key: string, wayOut = ""): AccountChoice {
    if (isShared(key) && !isOpenTo(user, key)) {
      // The same message for each cause: others learn nothing about the ClusterAccount.
      const message = `${accountTitle(key)} does not exist, or does not admit ${user.kind.kind} objects of namespace ${user.namespace}: ask the administrator to admit them${wayOut}`;
      return { key, obstacle: { reason: "AccountNotAllowed", message } };
    }
    const handle = handles.get(key);
    if (!handle) {
      const found = objects.find(objectOf(key));
      if (!found) return missing(`${accountTitle(key)} not found`, key);
      const excess = objects.excess(found.kind, found.object);
      const obstacle: Obstacle = excess
        ? { reason: "AccountNotReady", message: `${accountTitle(key)}: ${excess.message}` }
        : { reason: "Observing", message: `${accountTitle(key)} not checked yet` };
      return { key, obstacle };
    }
    const { obstacle } = handle;
    if (!obstacle) return { key, account: handle };
    // Only the administrator sees Secrets and addresses of a ClusterAccount.
    const message = `${accountTitle(key)}: ${isShared(key) ? `${obstacle.reason}; ask the administrator` : obstacle.message}`;
    // While the Account was not checked yet, its objects keep their conditions.
    const isPassedOn = obstacle.reason === "Observing" || obstacle.reason === "UserChanged";
    return { key, obstacle: { reason: isPassedOn ? obstacle.reason : "AccountNotReady", message } };
  }

  return {
    isOpenTo,
    /** The Account that a resource was made with; undefined when it is gone: another one may lead to the same contract. */
    keep(user: User, key: string): AccountChoice | undefined {
      if (!isShared(key) && !isOpenTo(user, key)) return undefined;
      const leave = "; to keep the resource on the platform, set deletionPolicy: Retain and delete this object";
      const kept = byKey(user, key, leave);
      return "obstacle" in kept && kept.obstacle.reason === "AccountNotFound" ? undefined : kept;
    },
    /**
     * spec.accountRef, else the one that was settled on before, else the namespace's only Account, else the newest default
     * ClusterAccount that admits the object. A namespace that has had an Account of its own never gets the default: that is
     * another contract.
     */
    choose(user: User, ref: AccountRef | undefined, settled?: string): AccountChoice {
      const { namespace } = user;
      if (ref) return byKey(user, namedBy(namespace, ref));
      // An Account of another namespace is never used, whatever status says.
      if (settled !== undefined && (isShared(settled) || isOpenTo(user, settled))) return byKey(user, settled);
      const names = own.namesIn(namespace);
      const [only] = names;
      if (only !== undefined && names.length === 1) return byKey(user, `${namespace}/${only}`);
      if (names.length > 1) {
        return missing(`namespace ${namespace} has several Accounts (${names.join(", ")}): set spec.accountRef.name`);
      }
      const shared = own.isIndependent(namespace) ? undefined : defaultOf(user);
      const others = own.isIndependent(namespace) ? "" : ", or ask the administrator to admit it to a ClusterAccount";
      return shared ? byKey(user, shared) : missing(`namespace ${namespace} has no Account: create one${others}`);
    },
    put: (handle: AccountHandle): void => void handles.set(handle.key, handle),
    remove: (key: string): void => void handles.delete(key),
    get: (key: string): AccountHandle | undefined => handles.get(key),
  };
}
