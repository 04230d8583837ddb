import type { Log } from "../engine/observe/deps.ts";

/** Work that must end before the process does, with the Account that it needs. */
export function createCleanupTasks(log: Log) {
  const tasks = new Map<Promise<void>, string | undefined>();
  return {
    run(task: Promise<void>, account?: string): void {
      const settled = task.catch((error: unknown) => log.error({ err: error }, "cleanup failed"));
      tasks.set(settled, account);
      void settled.finally(() => tasks.delete(settled));
    },
    isPending: (account: string): boolean => tasks.values().some((each) => each === account),
    /** Resolves when all that has begun is done. */
    settled: (): Promise<unknown> => Promise.all(tasks.keys()),
  };
}
