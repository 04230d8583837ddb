import type { Kind } from "../../kinds/kind.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { type AccountDeps, reconcileAccount } from "./reconcile.ts";

/** Keeps Accounts, and tells their users when one was edited: a new endpoint may be what they have waited for. */
export function createAccountController() {
  /** The generation of each Account that its users have heard of. */
  const generations = new Map<string, number | undefined>();
  return {
    async keep(deps: AccountDeps, account: string, kind: Kind, object: KubeObject): Promise<Requeue> {
      const before = deps.accounts.get(account);
      const since = deps.clock.monotonic();
      const again = await reconcileAccount(deps, account, kind, object);
      const { generation } = object.metadata;
      if (deps.accounts.get(account) === before || generations.get(account) === generation) return again;
      // What the first check comes to is told of anyway.
      if (generations.has(account)) deps.changed(account, since);
      // One that was let go of just now has been forgotten.
      if (deps.accounts.get(account)) generations.set(account, generation);
      return again;
    },
    forget: (account: string): void => void generations.delete(account),
  };
}
