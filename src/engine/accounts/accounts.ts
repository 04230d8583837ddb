import type { Connection } from "../../platform/transport.ts";
import type { Objects } from "../objects/objects.ts";
import type { Obstacle } from "../schema/reasons.ts";
import type { EndpointName } from "./products.ts";

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

export type AccountChoice = { account: AccountHandle } | { obstacle: Obstacle };

/** Which Account an object works with, and whether that one works. */
export interface Accounts {
  /** By the rules for new objects: spec.accountRef, else the namespace's only Account, else the operator's default. */
  choose(namespace: string, name: string | undefined): AccountChoice;
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

  const missing = (message: string): AccountChoice => ({
    obstacle: { reason: "AccountNotFound", message, stalled: false },
  });

  const byKey = (key: string): AccountChoice => {
    const handle = handles.get(key);
    if (handle) {
      const { obstacle } = handle;
      if (!obstacle) return { account: handle };
      const message = `Account ${key}: ${obstacle.message}`;
      // Not looked at yet is no news about anybody: what the objects show stays as it is.
      if (obstacle.reason === "Observing") return { obstacle: { ...obstacle, message } };
      return { obstacle: { reason: "AccountNotReady", message, stalled: false } };
    }
    if (!objects.store("Account").get(key)) return missing(`there is no Account ${key}`);
    return { obstacle: { reason: "Observing", message: `Account ${key} was not checked yet`, stalled: false } };
  };

  return {
    byKey,
    isOpenTo: (namespace, key) => key.startsWith(`${namespace}/`) || key === defaultAccount,
    choose(namespace, name) {
      if (name !== undefined) return byKey(`${namespace}/${name}`);
      const here = [...objects.store("Account").values()].filter(({ metadata }) => metadata.namespace === namespace);
      const [only] = here;
      if (only && here.length === 1) return byKey(`${namespace}/${only.metadata.name}`);
      if (here.length > 1) {
        const names = here.map(({ metadata }) => metadata.name).sort();
        return missing(`namespace ${namespace} has several Accounts (${names.join(", ")}): set spec.accountRef.name`);
      }
      if (defaultAccount !== undefined) return byKey(defaultAccount);
      return missing(`namespace ${namespace} has no Account: create one`);
    },
    put: (handle) => void handles.set(handle.key, handle),
    remove: (key) => void handles.delete(key),
    get: (key) => handles.get(key),
  };
}
