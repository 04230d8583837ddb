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
  (credential: string | undefined): Pacers;
  /** All that are in use. */
  all(): Pacer[];
}

export function sharePacers(createPacer: () => Pacer): SharedPacers {
  const shared = new Map<string | undefined, { users: number; at: ByHost<Pacer> }>();
  const pacersOf = (credential: string | undefined): Pacers => {
    const own = shared.get(credential) ?? { users: 0, at: byHost(createPacer) };
    own.users += 1;
    shared.set(credential, own);
    return {
      at: own.at,
      release() {
        own.users -= 1;
        if (own.users === 0) shared.delete(credential);
      },
    };
  };
  return Object.assign(pacersOf, { all: () => [...shared.values()].flatMap(({ at }) => [...at.all()]) });
}
