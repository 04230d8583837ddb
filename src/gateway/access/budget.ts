import type { Clock } from "../../clock.ts";
import { Refused } from "../refused.ts";
import type { Access } from "./access.ts";
import type { Ledger } from "./ledger.ts";

/** Money that is kept back for a call, until it is known what it cost. */
export interface Reservation {
  /** The last one counts. */
  settle(eur: number): void;
}

/** Holds accesses to what they may spend in a day of UTC. */
export interface Budgets {
  /** Keeps back what a call may cost; rejects with `Refused` when that is not left. */
  reserve(access: Access, eur: number): Promise<Reservation>;
  /** Gives back what was taken and not used. */
  close(): Promise<void>;
}

/**
 * A replica takes this part of a budget at once, and spends it without asking. One that is killed loses what it had of it:
 * so much of the budget at most is not used that day.
 */
const PART = 0.01;

interface Purse {
  day: string;
  key: string;
  /** Taken out of the ledger and not spent. Below zero when a call cost more than was kept back. */
  eur: number;
  filling?: Promise<number> | undefined;
}

const free: Reservation = { settle() {} };

export function createBudgets({ clock, ledger }: { clock: Clock; ledger: Ledger }): Budgets {
  const purses = new Map<string, Purse>();

  function purseOf({ namespace, name }: Access): Purse {
    const key = `${namespace}/${name}`;
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    const known = purses.get(key);
    if (known?.day === day) return known;
    // Who has not called today has none: an access that is gone does not stay.
    for (const [each, { day: of }] of purses) if (of !== day) purses.delete(each);
    const purse: Purse = { day, key, eur: 0 };
    purses.set(key, purse);
    return purse;
  }

  async function fill(purse: Purse, limit: number, eur: number): Promise<number> {
    try {
      const taken = await ledger.take(purse.key, purse.day, Math.max(limit * PART, eur - purse.eur), limit);
      purse.eur += taken;
      return taken;
    } catch {
      throw new Refused(503, "unavailable", "the budget could not be checked", { retryAfter: 2 });
    } finally {
      purse.filling = undefined;
    }
  }

  return {
    async reserve(access, eur) {
      const { eurPerDay } = access;
      if (eurPerDay === undefined) return free;
      let purse = purseOf(access);
      while (purse.eur < eur) {
        // Who comes meanwhile waits for the same, and looks again.
        purse.filling ??= fill(purse, eurPerDay, eur);
        const taken = await purse.filling;
        purse = purseOf(access);
        if (taken <= 0 && purse.eur < eur) throw spentUp(access, clock.now());
      }
      purse.eur -= eur;
      let kept = eur;
      return {
        settle(real) {
          purse.eur += kept - real;
          kept = real;
        },
      };
    },
    async close() {
      const left = [...purses.values()].filter(({ eur }) => eur > 0);
      purses.clear();
      await Promise.allSettled(left.map(({ key, day, eur }) => ledger.giveBack(key, day, eur)));
    },
  };
}

const DAY_MS = 86_400_000;

function spentUp({ name, eurPerDay }: Access, now: number): Refused {
  const retryAfter = (DAY_MS - (now % DAY_MS)) / 1000;
  const message = `the budget of InferenceAccess ${name}, ${eurPerDay} EUR per day, is used up until midnight UTC`;
  return new Refused(429, "insufficient_quota", message, { retryAfter, retry: false });
}
