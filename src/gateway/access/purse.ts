import type { Clock } from "../../runtime/clock.ts";
import type { Ledger, Taken } from "./ledger.ts";

/**
 * The part of a budget that a replica takes at once and spends without asking the ledger. A killed replica loses the
 * rest, at most twice this part, and the amounts reserved for open calls.
 */
const PART = 0.01;

/** The amount of one budget that a replica holds on one day. */
export interface Purse {
  readonly day: string;
  /** Amount reserved for open calls. */
  readonly kept: number;
  /** Reserves an amount, or returns the rest in the ledger if that is too little. */
  keep(eur: number): Promise<{ isKept: true } | { isKept: false; left: number }>;
  /** Ends a reservation made by `keep`; `real` is the cost of the call. */
  settle(eur: number, real: number): void;
  /** Returns everything that is not reserved. */
  close(): Promise<void>;
}

/** Minimum time between two returns to the ledger, so that a series of large calls causes few writes. */
const PAUSE_MS = 1000;

export function createPurse(options: {
  clock: Clock;
  ledger: Ledger;
  key: string;
  day: string;
  limit: () => number;
}): Purse {
  const { clock, ledger, key, day, limit } = options;
  /** Taken from the ledger, neither spent nor reserved. Negative if calls cost more than their reservation. */
  let eur = 0;
  let kept = 0;
  let filling: Promise<unknown> | undefined;
  let balancing: Promise<void> | undefined;
  let balancedAt = Number.NEGATIVE_INFINITY;
  let cancel: (() => void) | undefined;
  let closed = false;

  async function fill(wanted: number): Promise<Taken> {
    const least = wanted - eur;
    const taken = await ledger.take(key, day, { least, most: Math.max(limit() * PART, least) }, limit());
    eur += taken.eur;
    return taken;
  }

  /** The amount to return to the ledger; negative if the ledger lacks costs. */
  const excess = () => (eur < 0 || eur > 2 * PART * limit() ? eur - Math.max(0, Math.min(eur, PART * limit())) : 0);

  /** Returns the excess now or after the pause. A failed write is retried after the next pause. */
  function balance(): void {
    if (balancing !== undefined || cancel !== undefined || excess() === 0) return;
    const pause = balancedAt + PAUSE_MS - clock.monotonic();
    if (pause > 0) {
      cancel = clock.after(pause, () => {
        cancel = undefined;
        balance();
      });
      return;
    }
    balancedAt = clock.monotonic();
    const amount = excess();
    eur -= amount;
    balancing = ledger
      .giveBack(key, day, amount)
      .catch(() => {
        eur += amount;
      })
      .then(() => {
        balancing = undefined;
        if (!closed) balance();
      });
  }

  return {
    day,
    get kept() {
      return kept;
    },
    async keep(wanted) {
      while (eur < wanted) {
        if (filling !== undefined) {
          // Another call is filling the purse. Check again afterwards: it may then hold enough.
          await filling.catch(() => {});
          continue;
        }
        const own = fill(wanted).finally(() => {
          filling = undefined;
        });
        filling = own;
        const taken = await own;
        if (taken.eur <= 0 && eur < wanted) return { isKept: false, left: Math.max(0, taken.left + eur) };
      }
      eur -= wanted;
      kept += wanted;
      return { isKept: true };
    },
    settle(wanted, real) {
      eur += wanted - real;
      kept -= wanted;
      balance();
    },
    async close() {
      closed = true;
      cancel?.();
      await balancing;
      const left = eur;
      eur = 0;
      if (left !== 0) await ledger.giveBack(key, day, left);
    },
  };
}
