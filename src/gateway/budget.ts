import type { Clock } from "../clock.ts";
import type { Access } from "./access.ts";
import { Refused } from "./refused.ts";

/** Money that is kept back for a call, until it is known what it cost. */
export interface Reservation {
  /** The last one counts. */
  settle(eur: number): void;
}

/** Holds accesses to what they may spend in a day of UTC. */
export interface Budgets {
  /** Keeps back what a call may cost; throws `Refused` when that is not left. */
  reserve(access: Access, eur: number): Reservation;
}

const DAY_MS = 86_400_000;
export const dayOf = (now: number): number => Math.floor(now / DAY_MS);

/** What is spent today, as far as this process knows. */
export function createBudgets(clock: Clock): Budgets {
  const spending = new Map<string, { day: number; eur: number }>();
  return {
    reserve(access, eur) {
      const day = dayOf(clock.now());
      const key = `${access.namespace}/${access.name}`;
      const known = spending.get(key);
      const today = known?.day === day ? known : { day, eur: 0 };
      spending.set(key, today);
      const { eurPerDay } = access;
      if (eurPerDay !== undefined && today.eur + eur > eurPerDay) throw spentUp(access, clock.now());
      today.eur += eur;
      let kept = eur;
      return {
        settle(real) {
          today.eur += real - kept;
          kept = real;
        },
      };
    },
  };
}

export function spentUp({ name, eurPerDay }: Access, now: number): Refused {
  const retryAfter = ((dayOf(now) + 1) * DAY_MS - now) / 1000;
  const message = `the budget of InferenceAccess ${name}, ${eurPerDay} EUR per day, is used up until midnight UTC`;
  return new Refused(429, "insufficient_quota", message, { retryAfter, retry: false });
}
