import { AsyncLocalStorage } from "node:async_hooks";

/** Call it when a wait begins; it returns the function to call when the wait is over. */
export type YieldWorker = () => () => void;

/** A worker during one reconcile. */
export interface Working {
  yieldWorker: YieldWorker;
  /** Whether the reconcile is still running. Work that it started may outlast it. */
  isUnderWay(): boolean;
}

const workers = new AsyncLocalStorage<Working>();

/** Runs a function that gives its worker back whenever it, or anything that it calls, waits for its turn. */
export const asWorker = <T>(worker: Working, run: () => T): T => workers.run(worker, run);

/**
 * A caller that waits for its turn gives its worker to another key meanwhile, because workers are few. No effect outside of a
 * worker.
 */
export const yieldWorker: YieldWorker = () => workers.getStore()?.yieldWorker() ?? (() => {});

/** Whether the caller is part of a reconcile that is still running. */
export const isInPass = (): boolean => workers.getStore()?.isUnderWay() ?? false;
