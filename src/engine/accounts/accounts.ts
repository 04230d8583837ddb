import { type EndpointName, type Product, products } from "../../platform/products.ts";
import type { Connection } from "../../platform/transport.ts";
import type { Objects } from "../objects/objects.ts";
import type { Obstacle } from "../schema/reasons.ts";
import { readStatus } from "../schema/status.ts";

/** An Account as other objects use it. */
export interface AccountHandle {
  /** namespace/name. */
  readonly key: string;
  readonly connection: Connection;
  /** The address of a host, with the region filled in. Throws with the field's name when spec has none. */
  endpoint(name: EndpointName): string;
  /** Why it cannot be used at present. */
  obstacle: Obstacle | undefined;
}

/** Where a product is reached with an Account. Throws as `endpoint` does. */
export const addressOf = (account: AccountHandle, product: Product): string =>
  account.endpoint(products[product].endpoint);

/** The address of a path of a product. */
export const urlOf = (account: AccountHandle, product: Product, path: string): string =>
  products[product].url(addressOf(account, product), path);

/** `key` is the one that is meant, whether it works or not. */
export type AccountChoice = { key: string; account: AccountHandle } | { key?: string; obstacle: Obstacle };

/** Which Account an object works with, and whether that one works. */
export interface Accounts {
  /**
   * spec.accountRef, else the one that was settled on before, else the namespace's only Account, else the operator's
   * default. A namespace that has had an Account of its own never gets the default: that is another contract.
   */
  choose(namespace: string, name: string | undefined, settled?: string): AccountChoice;
  /** The Account that an object has used before. */
  byKey(key: string): AccountChoice;
  /** Whether objects of a namespace may use this Account: it is of theirs, or the operator's default. */
  isOpenTo(namespace: string, key: string): boolean;
  put(handle: AccountHandle): void;
  remove(key: string): void;
  get(key: string): AccountHandle | undefined;
}

export function createAccounts(objects: Objects, defaultAccount: string | undefined): Accounts {
  const handles = new Map<string, AccountHandle>();
  /** Namespaces that have or had Accounts of their own, as far as this process has seen. */
  const independent = new Set<string>();
  objects.subscribe((key, { after }) => {
    const [kind, namespace = ""] = key.split("/");
    const used = after && readStatus(after).account;
    if (kind === "Account" || used?.startsWith(`${namespace}/`)) independent.add(namespace);
  });

  const missing = (message: string, key?: string): AccountChoice => ({
    ...(key !== undefined && { key }),
    obstacle: { reason: "AccountNotFound", message, stalled: false },
  });

  const byKey = (key: string): AccountChoice => {
    const handle = handles.get(key);
    if (handle) {
      const { obstacle } = handle;
      if (!obstacle) return { key, account: handle };
      const message = `Account ${key}: ${obstacle.message}`;
      // Not looked at yet is no news about anybody: what the objects show stays as it is.
      if (obstacle.reason === "Observing") return { key, obstacle: { ...obstacle, message } };
      return { key, obstacle: { reason: "AccountNotReady", message, stalled: false } };
    }
    if (!objects.store("Account").get(key)) return missing(`there is no Account ${key}`, key);
    return { key, obstacle: { reason: "Observing", message: `Account ${key} was not checked yet`, stalled: false } };
  };

  return {
    byKey,
    isOpenTo: (namespace, key) => key.startsWith(`${namespace}/`) || key === defaultAccount,
    choose(namespace, name, settled) {
      if (name !== undefined) return byKey(`${namespace}/${name}`);
      if (settled !== undefined) return byKey(settled);
      const here = [...objects.store("Account").values()].filter(({ metadata }) => metadata.namespace === namespace);
      const [only] = here;
      if (only && here.length === 1) return byKey(`${namespace}/${only.metadata.name}`);
      if (here.length > 1) {
        const names = here.map(({ metadata }) => metadata.name).sort();
        return missing(`namespace ${namespace} has several Accounts (${names.join(", ")}): set spec.accountRef.name`);
      }
      if (defaultAccount !== undefined && !independent.has(namespace)) return byKey(defaultAccount);
      return missing(`namespace ${namespace} has no Account: create one`);
    },
    put: (handle) => void handles.set(handle.key, handle),
    remove: (key) => void handles.delete(key),
    get: (key) => handles.get(key),
  };
}
