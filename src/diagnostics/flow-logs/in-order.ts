/**
 * Begins `start` for up to `width` items ahead and gives the results in the order of the items. A failure is a result
 * like any other. When the reading is left early, what was begun and not taken is handed to `discard`.
 */
export async function* inOrder<Item, Result>(
  items: AsyncIterable<Item>,
  width: number,
  start: (item: Item) => Promise<Result>,
  discard: (result: Result) => void,
): AsyncGenerator<{ item: Item; result: PromiseSettledResult<Result> }> {
  const begun: { item: Item; settled: Promise<PromiseSettledResult<Result>> }[] = [];
  const source = items[Symbol.asyncIterator]();
  let more = true;
  try {
    for (;;) {
      while (more && begun.length < width) {
        const { done, value } = await source.next();
        if (done) more = false;
        else begun.push({ item: value, settled: settle(start(value)) });
      }
      const first = begun.shift();
      if (!first) return;
      yield { item: first.item, result: await first.settled };
    }
  } finally {
    // Not waited for: whoever leaves early has what he wants.
    for (const { settled } of begun)
      void settled.then((result) => result.status === "fulfilled" && discard(result.value));
    await source.return?.();
  }
}

const settle = async <T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> =>
  promise.then(
    (value) => ({ status: "fulfilled", value }),
    (reason) => ({ status: "rejected", reason }),
  );
