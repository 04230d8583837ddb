const repeatMs = 15_000;

/** Does something that takes long, and says so at its begin and every now and then. */
export async function told<T>(step: string, say: (line: string) => void, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  say(`${step} …`);
  const timer = setInterval(() => say(`${step} … ${Math.round((performance.now() - start) / 1000)}s`), repeatMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
