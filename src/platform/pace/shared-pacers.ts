import { type ByHost, byHost } from "./by-host.ts";
import type { Pacer } from "./pacer.ts";

/** The pacers of one credential, one per host. */
export interface Pacers {
  at(host: string): Pacer;
  /** To be called once, when the credential is no longer used here. What was learned goes with its last user. */
  release(): void;
}

/**
 * Limits belong to a credential, not to an Account: Accounts with the same token share what either of them learns, and the
 * lowest number of calls per second that any of them is limited to.
 */
export interface SharedPacers {
  (credential: string | undefined, account: string, perSecond?: number): Pacers;
  /** All that are in use, with the Accounts that use them. */
  all(): { accounts: readonly string[]; pacer: Pacer }[];
}

/** However gladly the platform answers. */
const MOST_PER_SECOND = 500;

interface Use {
  account: string;
  perSecond: number;
}

/** `create` is handed what the most is at any time. */
export function sharePacers(create: (most: () => number) => Pacer): SharedPacers {
  const shared = new Map<string | undefined, { uses: Set<Use>; at: ByHost<Pacer> }>();
  const open = () => {
    const uses = new Set<Use>();
    const most = () => Math.min(...[...uses].map(({ perSecond }) => perSecond));
    return { uses, at: byHost(() => create(most)) };
  };
  const pacersOf = (credential: string | undefined, account: string, perSecond = MOST_PER_SECOND): Pacers => {
    const own = shared.get(credential) ?? open();
    const use = { account, perSecond };
    own.uses.add(use);
    shared.set(credential, own);
    return {
      at: own.at,
      release() {
        own.uses.delete(use);
        if (own.uses.size === 0) shared.delete(credential);
      },
    };
  };
  const all = () =>
    [...shared.values()].flatMap(({ uses, at }) => {
      const accounts = [...uses].map(({ account }) => account);
      return [...at.all()].map((pacer) => ({ accounts, pacer }));
    });
  return Object.assign(pacersOf, { all });
}
