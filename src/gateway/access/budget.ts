import { namespaceEntry } from "../../kinds/inference/spending.ts";
import type { Clock } from "../../runtime/clock.ts";
import { Refused } from "../refused.ts";
import type { Access } from "./access.ts";
import { type Ledger, MOST_RECORDS, TooManyRecords } from "./ledger.ts";
import { createPurse, type Purse } from "./purse.ts";

/** An amount that is reserved for a call until its real cost is known. */
export interface Reservation {
  /** Releases the reservation and books the real cost. Call it once. */
  settle(eur: number): void;
}

/** Enforces the daily budgets (UTC) of accesses and namespaces. */
export interface Budgets {
  /**
   * Reserves the maximum cost of a call. Rejects with `Refused` if the budget is too small, and then reserves nothing.
   */
  reserve(access: Access, eur: number): Promise<Reservation>;
  /** Returns all unspent amounts to the ledger. */
  close(): Promise<void>;
}

/** A budget that limits a call. */
interface Budget {
  key: string;
  limit: number;
  /** The name in messages. */
  title: string;
}

/** A budget in use: its purse, and its latest limit, which administrators may change at any time. */
interface Tracked {
  purse: Purse;
  budget: Budget;
  /**
   * The amount left at the latest refusal. Until the time is over, larger calls are refused without asking the ledger.
   */
  refused?: { left: number; until: number };
}

const REFUSED_MS = 1000;

/** Whether a budget limits the calls of an access. */
export const isLimited = ({ eurPerDay, ofNamespace }: Access): boolean =>
  eurPerDay !== undefined || ofNamespace !== undefined;

function budgetsOf({ namespace, name, eurPerDay, ofNamespace }: Access): Budget[] {
  const own = eurPerDay !== undefined && {
    key: `${namespace}/${name}`,
    limit: eurPerDay,
    title: `InferenceAccess ${name}`,
  };
  const all = ofNamespace && {
    key: `${namespace}/${namespaceEntry(ofNamespace.account)}`,
    limit: ofNamespace.eurPerDay,
    title: `namespace ${namespace}`,
  };
  return [own, all].flatMap((each) => each || []);
}

export function createBudgets({ clock, ledger }: { clock: Clock; ledger: Ledger }): Budgets {
  const tracked = new Map<string, Tracked>();

  function track(budget: Budget): Tracked {
    const { key } = budget;
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    const found = tracked.get(key);
    if (found?.purse.day === day) {
      if (found.budget.limit !== budget.limit) delete found.refused;
      found.budget = budget;
      return found;
    }
    // Drops the purses of former days, and with them those of deleted accesses.
    for (const [each, { purse }] of tracked) if (purse.day !== day) tracked.delete(each);
    const created: Tracked = {
      budget,
      purse: createPurse({ clock, ledger, key, day, limit: () => created.budget.limit }),
    };
    tracked.set(key, created);
    return created;
  }

  /** Throws if the latest refusal shows that the budget is too small. */
  function check(found: Tracked, eur: number): void {
    const { refused } = found;
    if (refused && refused.until > clock.monotonic() && eur > refused.left) throw refusal(found, eur, refused.left);
  }

  /** Reserves the amount, or throws `Refused`. */
  async function reserveFrom(budget: Budget, eur: number): Promise<Tracked> {
    const found = track(budget);
    const result = await found.purse.reserve(eur).catch((error: unknown) => {
      if (error instanceof TooManyRecords) throw tooManyRecords(budget);
      throw new Refused(503, "unavailable", "the budget could not be checked", { retryAfter: 2 });
    });
    if (result.isReserved) return found;
    const { left } = result;
    found.refused = { left, until: clock.monotonic() + REFUSED_MS };
    throw refusal(found, eur, left);
  }

  function refusal({ purse, budget }: Tracked, eur: number, left: number): Refused {
    const { title, limit } = budget;
    const budgetText = `the budget of ${title}, ${limit} EUR per day,`;
    const hint = "ask for fewer tokens (max_tokens, max_completion_tokens)";
    const costs = `the call may cost ${shown(eur)} EUR`;
    if (eur > limit) return quota(`${costs}, more than ${budgetText} has: ${hint}`, { retry: false });
    if (eur <= left + purse.reserved) {
      return quota(`${costs}; that much of ${budgetText} is reserved for open calls: try again, or ${hint}`, {
        retryAfter: 2,
      });
    }
    const retryAfter = (DAY_MS - (clock.now() % DAY_MS)) / 1000;
    const message =
      left * 1000 < limit
        ? `${budgetText} is used up until midnight UTC`
        : `${costs}, and ${shown(left)} EUR are left of ${budgetText} until midnight UTC: ${hint}`;
    return quota(message, { retryAfter, retry: false });
  }

  return {
    async reserve(access, eur) {
      const taken: Tracked[] = [];
      const budgets = budgetsOf(access);
      for (const budget of budgets) check(track(budget), eur);
      try {
        for (const budget of budgets) taken.push(await reserveFrom(budget, eur));
      } catch (error) {
        for (const { purse } of taken) purse.settle(eur, 0);
        throw error;
      }
      return {
        settle(real) {
          for (const each of taken) {
            each.purse.settle(eur, real);
            delete each.refused;
          }
        },
      };
    },
    async close() {
      const purses = [...tracked.values()].map(({ purse }) => purse);
      tracked.clear();
      await Promise.allSettled(purses.map((purse) => purse.close()));
    },
  };
}

const tooManyRecords = ({ title }: Budget): Refused => {
  const message = `${title} has no budget today: its namespace has used more than ${MOST_RECORDS} InferenceAccesses since midnight UTC, deleted ones included: use one of them, or wait until midnight UTC`;
  return quota(message, { retry: false });
};

const DAY_MS = 86_400_000;
const shown = (eur: number): string => String(Number(eur.toPrecision(3)));
const quota = (message: string, more: ConstructorParameters<typeof Refused>[3]) =>
  new Refused(429, "insufficient_quota", message, more);
