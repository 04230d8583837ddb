import type { Clock } from "../../runtime/clock.ts";
import type { Ledger, Taken } from "./ledger.ts";

/**
 * A replica takes this part of a budget at once, and spends it without asking. One that is killed loses what it had of it, at
 * most twice this part, and what is kept back for its open calls.
 */
const PART = 0.01;

/** What a replica has of a budget on one day. */
export interface Purse {
  readonly day: string;
  /** Kept back for open calls. */
  readonly kept: number;
  /** Keeps back so much, or tells what the ledger has left when that is too little. */
  keep(eur: number): Promise<{ isKept: true } | { isKept: false; left: number }>;
  /** Ends what `keep` began: the call has cost `real`. */
  settle(eur: number, real: number): void;
  /** Gives everything back that no call needs. */
  close(): Promise<void>;
}

/** Between two times that a replica gives back, so that who leaves one large call after the other causes few writes. */
const PAUSE_MS = 1000;

export function createPurse(options: {
  clock: Clock;
  ledger: Ledger;
  key: string;
  day: string;
  limit: () => number;
}): Purse {
  const { clock, ledger, key, day, limit } = options;
  /** Taken out of the ledger, neither spent nor kept back. Below zero when calls cost more than was kept back. */
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

  /** What goes back to the ledger; below zero: what it has yet to be told. */
  const excess = () => (eur < 0 || eur > 2 * PART * limit() ? eur - Math.max(0, Math.min(eur, PART * limit())) : 0);

  /** Gives back at once, or as soon as the pause is over. What fails is tried again after it. */
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
          // Who comes meanwhile looks again afterwards: what is there may be enough.
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
