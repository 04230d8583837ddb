import { AsyncLocalStorage } from "node:async_hooks";

/** Called when somebody begins to wait; returns what is to be called when the wait is over. */
export type StepAside = () => () => void;

const workers = new AsyncLocalStorage<StepAside>();

/** Runs what steps aside from its worker whenever it, or anything that it calls, only waits for its turn. */
export const asWorker = <T>(stepAside: StepAside, run: () => T): T => workers.run(stepAside, run);

/** Workers are few: whoever waits for a turn leaves its place to another key meanwhile. Does nothing outside of a worker. */
export const stepAside: StepAside = () => workers.getStore()?.() ?? (() => {});
