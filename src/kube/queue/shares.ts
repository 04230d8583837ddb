import type { Lane, Room } from "./lanes.ts";

/** Counts keys per Account, per namespace, and per namespace within an Account. */
export interface Tally {
  readonly total: number;
  add(lane: Lane, by: 1 | -1): void;
  /** `within`: in this namespace and this Account. */
  of(lane: Lane): { account: number; namespace: number; within: number };
}

export function createTally(): Tally {
  const counts = new Map<string, number>();
  let total = 0;
  const namesOf = ({ account, namespace }: Lane) =>
    [`account ${account}`, `namespace ${namespace}`, `${account} ${namespace}`] as const;
  return {
    get total() {
      return total;
    },
    add(lane, by) {
      total += by;
      for (const name of namesOf(lane)) {
        const count = (counts.get(name) ?? 0) + by;
        if (count === 0) counts.delete(name);
        else counts.set(name, count);
      }
    },
    of(lane) {
      const [account, namespace, within] = namesOf(lane);
      const count = (name: string) => counts.get(name) ?? 0;
      return { account: count(account), namespace: count(namespace), within: count(within) };
    },
  };
}

/** A part of the workers, at least one. */
const share = (workers: number, part: number): number => Math.max(1, Math.floor(workers * part));

/**
 * Whether a lane may hold one more of the workers. `held` counts the keys in process, `waiting` the ready ones.
 *
 * An Account may hold a quarter of the workers, or three eighths while more workers are free than it holds. A namespace, which
 * may have many Accounts, holds at most half of the workers. A namespace that shares an Account holds at most three quarters of
 * the Account's share, or half while other namespaces of that Account have ready keys.
 */
export function roomOf(lane: Lane, workers: number, held: Tally, waiting: Tally): Room {
  const holds = held.of(lane);
  const free = workers - held.total;
  const accountShare = share(workers, free > holds.account ? 3 / 8 : 1 / 4);
  if (holds.account >= accountShare) return "account is full";
  if (holds.namespace >= share(workers, 1 / 2)) return "lane is full";
  if (!lane.shared) return "free";
  const { account, within } = waiting.of(lane);
  const othersWait = account > within;
  return holds.within < share(accountShare, othersWait ? 1 / 2 : 3 / 4) ? "free" : "lane is full";
}
