import { AsyncLocalStorage } from "node:async_hooks";

/** Called when somebody begins to wait; returns what is to be called when the wait is over. */
export type YieldWorker = () => () => void;

/** A worker at one pass. */
export interface Working {
  yieldWorker: YieldWorker;
  /** Whether that pass goes on: what it has set off may last longer than it. */
  isUnderWay(): boolean;
}

const workers = new AsyncLocalStorage<Working>();

/** Runs what steps aside from its worker whenever it, or anything that it calls, only waits for its turn. */
export const asWorker = <T>(worker: Working, run: () => T): T => workers.run(worker, run);

/** Workers are few: whoever waits for a turn leaves its place to another key meanwhile. Does nothing outside of a worker. */
export const yieldWorker: YieldWorker = () => workers.getStore()?.yieldWorker() ?? (() => {});

/** Whether this is called by a pass that is under way. */
export const isInPass = (): boolean => workers.getStore()?.isUnderWay() ?? false;
