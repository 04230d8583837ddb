import type { Log } from "../engine/observe/deps.ts";

/** What must not be left undone, and the Account that it takes. */
export interface CleanupTasks {
  run(debt: Promise<void>, account?: string): void;
  isPending(account: string): boolean;
  /** Resolves when what is owed now is done. */
  settled(): Promise<unknown>;
}

export function createCleanupTasks(log: Log): CleanupTasks {
  const debts = new Map<Promise<void>, string | undefined>();
  return {
    run(debt, account) {
      const settled = debt.catch((error: unknown) => log.error({ err: error }, "clean-up failed"));
      debts.set(settled, account);
      void settled.finally(() => debts.delete(settled));
    },
    isPending: (account) => debts.values().some((each) => each === account),
    settled: () => Promise.all(debts.keys()),
  };
}
