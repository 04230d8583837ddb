/**
 * Runs `start` for as many items ahead as `hasRoom` allows, at least for one, and yields the results in the order of the
 * items. A failure is a result as well. If the consumer stops early, unused results go to `discard`.
 */
export async function* inOrder<Item, Result>(
  items: AsyncIterable<Item>,
  hasRoom: (ahead: readonly Item[]) => boolean,
  start: (item: Item) => Promise<Result>,
  discard: (result: Result) => void,
): AsyncGenerator<{ item: Item; result: PromiseSettledResult<Result> }> {
  const started: { item: Item; settled: Promise<PromiseSettledResult<Result>> }[] = [];
  const source = items[Symbol.asyncIterator]();
  let more = true;
  try {
    for (;;) {
      while (more && (started.length === 0 || hasRoom(started.map(({ item }) => item)))) {
        const { done, value } = await source.next();
        if (done) more = false;
        else started.push({ item: value, settled: settle(start(value)) });
      }
      const first = started.shift();
      if (!first) return;
      yield { item: first.item, result: await first.settled };
    }
  } finally {
    // Not awaited: the consumer has stopped.
    for (const { settled } of started)
      void settled.then((result) => result.status === "fulfilled" && discard(result.value));
    await source.return?.();
  }
}

const settle = async <T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> =>
  promise.then(
    (value) => ({ status: "fulfilled", value }),
    (reason) => ({ status: "rejected", reason }),
  );
