import type { Clock } from "../../runtime/clock.ts";
import { yieldIfDue } from "../../runtime/time-slices.ts";
import { asWorker } from "../../runtime/workers.ts";
import { isConflict, isNotFound } from "../client/errors.ts";
import type { Queue } from "./queue.ts";

export { isInPass } from "../../runtime/workers.ts";

/** When to reconcile a key again if nothing wakes it earlier. */
export type Requeue = "never" | "now" | "backoff" | { inMs: number; background?: boolean };

/** One reconcile of one object, for the metrics. */
export type ReconcileObserver = (pass: {
  kind: string;
  result: "success" | "requeue" | "requeue_after" | "error" | "timeout";
  seconds: number;
}) => void;

/** The deadline of a reconcile. It makes few calls, each with a shorter deadline of its own. */
export const PASS_MS = 60_000;
/** Time after the deadline to write the reason into the object's status. */
const REPORT_MS = 10_000;

/** The abort reason of a reconcile at its deadline. */
export class DeadlineExceeded extends Error {
  constructor() {
    super(`the reconcile took longer than ${PASS_MS / 1000} s and was ended`);
    this.name = "DeadlineExceeded";
  }
}

interface Work {
  queue: Queue;
  clock: Clock;
  log: Record<"debug" | "error", (fields: object, message: string) => void>;
  /** The signal aborts at the deadline. A reconcile that does not return then is abandoned, and must not write any more. */
  reconcile(key: string, signal: AbortSignal): Promise<Requeue>;
  /** The resync delay of a key, whatever its last reconcile returned; undefined for no resync. */
  resyncAfter(key: string, requeue: Requeue): number | undefined;
  observe: ReconcileObserver | undefined;
}

/**
 * Runs the queue with this many workers until the signal aborts, and waits for running reconciles. While a reconcile has given
 * its worker back, there is one worker more. When the reconcile continues, the next worker that is done with its key ends.
 */
export async function work(options: Work, workers: number, signal: AbortSignal): Promise<void> {
  const { queue, clock } = options;
  const started = new Set<Promise<void>>();
  let places = workers;
  let running = 0;

  const worker = async () => {
    for (; running <= places; await yieldIfDue(clock)) {
      const key = await queue.take(signal);
      if (key === undefined) break;
      await passOfWorker(key).finally(() => queue.done(key));
    }
    running -= 1;
  };
  /** Starts workers until every place has one. */
  const startWorkers = () => {
    for (; running < places && !signal.aborted; running++) {
      const one = worker().finally(() => started.delete(one));
      started.add(one);
    }
  };
  /** One reconcile. While it waits for its turn, there is a place for one worker more. */
  const passOfWorker = async (key: string) => {
    let waits = 0;
    let ended = false;
    const deadline = new AbortController();
    const yieldWorker = () => {
      // Work that a reconcile started, such as a list that others share, may outlast it and no longer holds a worker.
      if (ended) return () => {};
      waits += 1;
      if (waits === 1) places += 1;
      startWorkers();
      return () => {
        waits -= 1;
        if (waits === 0 && !ended) places -= 1;
      };
    };
    const isUnderWay = () => !ended && !deadline.signal.aborted;
    await asWorker({ yieldWorker, isUnderWay }, () => pass(options, key, deadline)).finally(() => {
      ended = true;
      if (waits > 0) places -= 1;
    });
  };

  startWorkers();
  while (started.size > 0) await Promise.all(started);
}

async function pass(options: Work, key: string, deadline: AbortController): Promise<void> {
  const { queue, clock, log, resyncAfter, observe } = options;
  const startedAt = clock.monotonic();
  const report = (outcome: Parameters<ReconcileObserver>[0]["result"]) => {
    const result = deadline.signal.aborted ? "timeout" : outcome;
    observe?.({ kind: key.slice(0, key.indexOf("/")), result, seconds: (clock.monotonic() - startedAt) / 1000 });
  };
  try {
    const requeue = await reconcileInTime(options, key, deadline);
    if (requeue !== "backoff") queue.forget(key);
    if (requeue === "now") queue.add(key, "people");
    else if (requeue === "backoff") queue.addRateLimited(key);
    else if (requeue !== "never") queue.returnAfter(key, requeue.inMs, requeue.background ? "background" : "normal");
    // Level, not edge: the resync makes up for a lost event.
    const inMs = resyncAfter(key, requeue);
    if (inMs !== undefined) queue.returnAfter(key, inMs, "background");
    report(requeue === "backoff" ? "requeue" : requeue === "never" ? "success" : "requeue_after");
  } catch (error) {
    const inMs = queue.addRateLimited(key);
    // Another client wrote first. The watch brings the new version, and the reconcile is retried.
    const expected = isConflict(error) || isNotFound(error);
    if (expected) log.debug({ object: key }, "object changed meanwhile; retrying");
    else log.error({ object: key, err: error, inMs }, "reconcile failed");
    report(expected ? "requeue" : "error");
  }
}

/** Reconciles a key until its deadline, plus a short time to report the timeout. */
async function reconcileInTime({ clock, reconcile }: Work, key: string, deadline: AbortController): Promise<Requeue> {
  const timedOut = Promise.withResolvers<never>();
  let cancel = clock.after(PASS_MS, () => {
    const exceeded = new DeadlineExceeded();
    cancel = clock.after(REPORT_MS, () => timedOut.reject(exceeded));
    deadline.abort(exceeded);
  });
  try {
    return await Promise.race([reconcile(key, deadline.signal), timedOut.promise]);
  } finally {
    cancel();
  }
}
