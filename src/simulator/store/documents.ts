import type { z } from "zod";

/** One changed document; `value` undefined means removed. */
export interface Change {
  table: string;
  key: string;
  value: unknown;
}

export interface Table<T> {
  get(key: string): T | undefined;
  put(key: string, value: T): void;
  delete(key: string): void;
  values(): Iterable<T>;
  readonly size: number;
  /** Reports every change to an index, also those of a rollback or a restore. */
  watch(listener: (before: T | undefined, after: T | undefined) => void): void;
}

/**
 * All state of the simulator: named tables of JSON documents that are replaced, never mutated. Writes happen inside
 * `transaction` only: it keeps all of them or, when the work throws, none.
 */
export interface Documents {
  table<T>(name: string, schema: z.ZodType<T>): Table<T>;
  transaction<R>(work: () => R): R;
  /** Undoes the changes of the running transaction to the tables that `isUndone` selects. */
  takeBack(isUndone: (table: string) => boolean): void;
  /** Adds work to the end of every transaction. */
  beforeCommit(work: () => void): void;
  /** Every document, as changes that `restore` understands. */
  everything(): Change[];
  /** Restores the rows of an earlier run. Unknown tables are refused: they belong to a newer version. */
  restore(changes: Change[]): void;
}

/** A write outside a transaction. */
export class NoTransaction extends Error {}

interface AnyTable {
  set(key: string, value: unknown): void;
  /** Returns a step that sets the row to its current value again. */
  restorer(key: string): () => void;
  current(key: string): unknown;
  entries(): Iterable<[string, unknown]>;
}

/** A table, and the functions for `createDocuments` alone. `record` gets the undo step of each change in advance. */
function createTable<T>(
  schema: z.ZodType<T>,
  record: (key: string, restoreBefore: () => void) => void,
): { table: Table<T>; inside: AnyTable } {
  const rows = new Map<string, T>();
  const watchers: ((before: T | undefined, after: T | undefined) => void)[] = [];
  const write = (key: string, value: T | undefined) => {
    const before = rows.get(key);
    if (value === undefined) rows.delete(key);
    else rows.set(key, value);
    for (const watcher of watchers) watcher(before, value);
  };
  const change = (key: string, value: T | undefined) => {
    const before = rows.get(key);
    record(key, () => write(key, before));
    write(key, value);
  };
  const inside: AnyTable = {
    set: (key, value) => write(key, value === undefined ? undefined : schema.parse(value)),
    restorer(key) {
      const value = rows.get(key);
      return () => write(key, value);
    },
    current: (key) => rows.get(key),
    entries: () => rows.entries(),
  };
  const table: Table<T> = {
    get: (key) => rows.get(key),
    put: change,
    delete: (key) => change(key, undefined),
    values: () => rows.values(),
    get size() {
      return rows.size;
    },
    watch(listener) {
      watchers.push(listener);
    },
  };
  return { table, inside };
}

/** `remember` gets a step that undoes a commit, and one that repeats it. */
export function createDocuments(
  committed: (changes: Change[]) => void,
  remember: (undo: () => void, redo: () => void) => void = () => {},
): Documents {
  const tables = new Map<string, AnyTable>();
  const finishers: (() => void)[] = [];
  /** The steps that undo the running transaction, by table and key; undefined: no transaction runs. */
  let undo: Map<string, Map<string, () => void>> | undefined;

  function record(table: string, key: string, restoreBefore: () => void) {
    if (undo === undefined) throw new NoTransaction(`write to ${table} outside a transaction`);
    const keys = undo.get(table) ?? new Map<string, () => void>();
    undo.set(table, keys);
    if (!keys.has(key)) keys.set(key, restoreBefore);
  }

  return {
    table<T>(name: string, schema: z.ZodType<T>): Table<T> {
      const { table, inside } = createTable(schema, (key, restoreBefore) => record(name, key, restoreBefore));
      tables.set(name, inside);
      return table;
    },

    transaction(work) {
      if (undo !== undefined) throw new Error("transactions do not nest");
      undo = new Map();
      try {
        const result = work();
        for (const finish of finishers) finish();
        const changes: Change[] = [];
        const undos: (() => void)[] = [];
        const redos: (() => void)[] = [];
        for (const [table, keys] of undo) {
          for (const [key, restoreBefore] of keys) {
            changes.push({ table, key, value: tables.get(table)?.current(key) });
            undos.push(restoreBefore);
            redos.push(tables.get(table)?.restorer(key) ?? restoreBefore);
          }
        }
        if (changes.length === 0) return result;
        committed(changes);
        remember(inTurn(undos), inTurn(redos));
        return result;
      } catch (error) {
        for (const keys of undo.values()) for (const restoreBefore of keys.values()) restoreBefore();
        throw error;
      } finally {
        undo = undefined;
      }
    },

    takeBack(isUndone) {
      for (const [table, keys] of undo ?? []) {
        if (!isUndone(table)) continue;
        for (const restoreBefore of keys.values()) restoreBefore();
        undo?.delete(table);
      }
    },

    beforeCommit(work) {
      finishers.push(work);
    },

    everything() {
      const all: Change[] = [];
      for (const [table, rows] of tables) {
        for (const [key, value] of rows.entries()) all.push({ table, key, value });
      }
      return all;
    },

    restore(changes) {
      for (const { table, key, value } of changes) {
        const target = tables.get(table);
        if (target === undefined) throw new Error(`the stored state has a table "${table}" this version does not know`);
        target.set(key, value);
      }
    },
  };
}

const inTurn = (steps: readonly (() => void)[]) => () => {
  for (const step of steps) step();
};
