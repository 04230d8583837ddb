/** Work that must end before the process does, each with the name of what it needs until then. */
export function createPendingTasks(onError: (error: unknown) => void) {
  const tasks = new Map<Promise<void>, string | undefined>();
  return {
    run(task: Promise<void>, needed?: string): void {
      const settled = task.catch(onError);
      tasks.set(settled, needed);
      void settled.finally(() => tasks.delete(settled));
    },
    isPending: (needed: string): boolean => tasks.values().some((each) => each === needed),
    /** Resolves when all that has begun is done. */
    settled: (): Promise<unknown> => Promise.all(tasks.keys()),
  };
}
