import { type ByHost, byHost } from "./by-host.ts";
import type { Pacer } from "./pacer.ts";

/** The rate limiters of one credential, one per host. */
export interface Pacers {
  at(host: string): Pacer;
  /** Call it once, when the credential is no longer used here. The last release drops what was learned. */
  release(): void;
}

/**
 * Rate limits belong to a credential, not to an Account: Accounts with the same token share their rate limiters, and the lowest
 * configured rate of any of them.
 */
export interface SharedPacers {
  (credential: string | undefined, account: string, perSecond?: number): Pacers;
  /** All rate limiters in use, with their Accounts. */
  all(): { accounts: readonly string[]; pacer: Pacer }[];
}

/** The upper limit, even if the platform accepts more. */
const MOST_PER_SECOND = 500;

interface Use {
  account: string;
  perSecond: number;
}

/** `create` gets a function that returns the current maximum rate. */
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
