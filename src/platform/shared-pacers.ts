import { type ByHost, byHost } from "./by-host.ts";
import type { Pacer } from "./pacer.ts";

/** The pacers of one credential, one per host. */
export interface Pacers {
  at(host: string): Pacer;
  /** To be called once, when the credential is no longer used here. What was learned goes with its last user. */
  release(): void;
}

/** Limits belong to a credential, not to an Account: Accounts with the same token share what either of them learns. */
export interface SharedPacers {
  (credential: string | undefined, account: string): Pacers;
  /** All that are in use, with the Accounts that use them. */
  all(): { accounts: readonly string[]; pacer: Pacer }[];
}

export function sharePacers(createPacer: () => Pacer): SharedPacers {
  const shared = new Map<string | undefined, { accounts: string[]; at: ByHost<Pacer> }>();
  const pacersOf = (credential: string | undefined, account: string): Pacers => {
    const own = shared.get(credential) ?? { accounts: [], at: byHost(createPacer) };
    own.accounts.push(account);
    shared.set(credential, own);
    return {
      at: own.at,
      release() {
        own.accounts.splice(own.accounts.indexOf(account), 1);
        if (own.accounts.length === 0) shared.delete(credential);
      },
    };
  };
  const all = () =>
    [...shared.values()].flatMap(({ accounts, at }) => [...at.all()].map((pacer) => ({ accounts, pacer })));
  return Object.assign(pacersOf, { all });
}
