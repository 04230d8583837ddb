/** Counts what happens between two turns of the event loop. */
export function turnsOf(): Disposable & { count(): void; most(): number; total(): number } {
  let [most, since, total] = [0, 0, 0];
  // Asked for again in every turn, it comes once in each, whoever else asks for one.
  const turn = () => {
    since = 0;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  return {
    count() {
      total += 1;
      since += 1;
      most = Math.max(most, since);
    },
    /** The most that happened without a turn. */
    most: () => most,
    total: () => total,
    [Symbol.dispose]: () => clearImmediate(next),
  };
}
