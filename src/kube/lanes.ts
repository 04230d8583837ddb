interface Fifo<T> {
  items: T[];
  /** How many of them are out already: taking the first of an array or a set by itself costs its whole length. */
  taken: number;
}

/** Items in the order they came, by lane; lanes take turns, so that the one that has waited longest is next. */
export interface Lanes<T> {
  add(lane: string, item: T): void;
  /** The first item, of the next lane that is `open`, which is `current`; others that come before it are dropped. */
  take(open: (lane: string) => boolean, current: (item: T) => boolean): T | undefined;
}

export function createLanes<T>(): Lanes<T> {
  const lanes = new Map<string, Fifo<T>>();

  function shift(fifo: Fifo<T>, current: (item: T) => boolean): T | undefined {
    while (fifo.taken < fifo.items.length) {
      const item = fifo.items[fifo.taken++];
      if (item !== undefined && current(item)) return item;
    }
    return undefined;
  }

  return {
    add(lane, item) {
      const fifo = lanes.get(lane);
      if (fifo) fifo.items.push(item);
      else lanes.set(lane, { items: [item], taken: 0 });
    },
    take(open, current) {
      for (const [lane, fifo] of lanes) {
        if (!open(lane)) continue;
        const item = shift(fifo, current);
        lanes.delete(lane);
        const left = fifo.items.length - fifo.taken;
        if (fifo.taken > left) {
          fifo.items = fifo.items.slice(fifo.taken);
          fifo.taken = 0;
        }
        if (left > 0) lanes.set(lane, fifo);
        if (item !== undefined) return item;
      }
      return undefined;
    },
  };
}
