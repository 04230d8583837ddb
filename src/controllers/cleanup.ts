import type { Log } from "../engine/look/deps.ts";

/** What must not be left undone, and the Account that it takes. */
export interface Debts {
  owe(debt: Promise<void>, account?: string): void;
  owes(account: string): boolean;
  /** Resolves when what is owed now is done. */
  paid(): Promise<unknown>;
}

export function createDebts(log: Log): Debts {
  const debts = new Map<Promise<void>, string | undefined>();
  return {
    owe(debt, account) {
      const settled = debt.catch((error: unknown) => log.error({ err: error }, "clean-up failed"));
      debts.set(settled, account);
      void settled.finally(() => debts.delete(settled));
    },
    owes: (account) => debts.values().some((each) => each === account),
    paid: () => Promise.all(debts.keys()),
  };
}
