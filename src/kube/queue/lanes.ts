/** The Account and namespace that a key is reconciled for. */
export interface Lane {
  readonly account: string;
  readonly namespace: string;
  /** Whether other namespaces may use the Account as well. */
  readonly shared: boolean;
}

/** The items of one lane, lower priority numbers first, each priority in the order in which they were added. */
interface Line<T> {
  readonly lane: Lane;
  readonly size: number;
  add(item: T, priority: number): void;
  /** The first item that is current; stale ones before it are dropped. */
  take(isCurrent: (item: T) => boolean): T | undefined;
}

/** Whether a lane may hand out an item now. If not: whether only this lane is full, or its whole Account. */
export type Room = "free" | "lane is full" | "account is full";

/** Items by lane. Accounts take turns, then namespaces within an Account, then priority decides. */
export interface Lanes<T> {
  add(lane: Lane, item: T, priority: number): void;
  /**
   * The first current item of the next free lane. A full lane keeps its turn. If an Account is full, only one of its lanes is
   * checked.
   */
  take(roomOf: (lane: Lane) => Room, isCurrent: (item: T) => boolean): T | undefined;
}

export function createLanes<T>(): Lanes<T> {
  const accounts = new Map<string, Map<string, Line<T>>>();
  return {
    add(lane, item, priority) {
      const { account, namespace } = lane;
      const namespaces = accounts.get(account) ?? new Map<string, Line<T>>();
      const line = namespaces.get(namespace) ?? createLine<T>(lane);
      line.add(item, priority);
      namespaces.set(namespace, line);
      accounts.set(account, namespaces);
    },
    take: (roomOf, isCurrent) =>
      inTurn(accounts, (namespaces) =>
        inTurn(namespaces, (line) => {
          const room = roomOf(line.lane);
          if (room === "account is full") return STOP;
          return room === "free" ? line.take(isCurrent) : undefined;
        }),
      ),
  };
}

/** No other lane of this Account can hand out an item either. */
const STOP = Symbol("stop");

/** Returns the first item that one of them hands out, and moves that one to the end. Empty ones are removed. */
function inTurn<V extends { readonly size: number }, T>(
  all: Map<string, V>,
  take: (each: V) => T | undefined | typeof STOP,
): T | undefined {
  for (const [name, each] of all) {
    const item = take(each);
    if (item === STOP) return undefined;
    if (item === undefined && each.size > 0) continue;
    all.delete(name);
    if (each.size > 0) all.set(name, each);
    if (item !== undefined) return item;
  }
  return undefined;
}

function createLine<T>(lane: Lane): Line<T> {
  const lists: T[][] = [];
  /** How many items of each list were taken. `Array.shift` would take time in proportion to the length of the list. */
  const taken: number[] = [];
  let size = 0;

  function shift(priority: number, list: T[]): T | undefined {
    const at = taken[priority] ?? 0;
    const item = list[at];
    if (at < list.length) size -= 1;
    const isHalfTaken = at + 1 > list.length / 2;
    if (isHalfTaken) lists[priority] = list.slice(at + 1);
    taken[priority] = isHalfTaken ? 0 : at + 1;
    return item;
  }

  return {
    lane,
    get size() {
      return size;
    },
    add(item, priority) {
      const list = lists[priority] ?? [];
      list.push(item);
      lists[priority] = list;
      size += 1;
    },
    take(isCurrent) {
      for (const priority of lists.keys()) {
        for (let list = lists[priority] ?? []; list.length > 0; list = lists[priority] ?? []) {
          const item = shift(priority, list);
          if (item !== undefined && isCurrent(item)) return item;
        }
      }
      return undefined;
    },
  };
}
