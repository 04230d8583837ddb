/** Counts calls between two turns of the event loop. */
export function turnsOf(): Disposable & { count(): void; most(): number; total(): number } {
  let [most, since, total] = [0, 0, 0];
  // Rescheduled in every turn, it runs once per turn.
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
    /** The maximum number of calls without a turn. */
    most: () => most,
    total: () => total,
    [Symbol.dispose]: () => clearImmediate(next),
  };
}
