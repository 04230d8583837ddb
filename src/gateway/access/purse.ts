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
  readonly reserved: number;
  /** Reserves an amount, or returns the rest in the ledger if that is too little. */
  reserve(eur: number): Promise<{ isReserved: true } | { isReserved: false; left: number }>;
  /** Ends a reservation made by `reserve`; `real` is the cost of the call. */
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
  let reserved = 0;
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
  const excess = () => {
    const part = PART * limit();
    if (eur < 0) return eur;
    return eur > 2 * part ? eur - part : 0;
  };

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
    get reserved() {
      return reserved;
    },
    async reserve(wanted) {
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
        if (taken.eur <= 0 && eur < wanted) return { isReserved: false, left: Math.max(0, taken.left + eur) };
      }
      eur -= wanted;
      reserved += wanted;
      return { isReserved: true };
    },
    settle(wanted, real) {
      eur += wanted - real;
      reserved -= wanted;
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
