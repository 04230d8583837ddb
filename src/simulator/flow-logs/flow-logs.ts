import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { z } from "zod";
import type { Route } from "../http/exchange.ts";
import type { Resource } from "../store/resource.ts";
import type { World } from "../world.ts";
import { interfaceOf } from "./interface.ts";
import { intervalMs, intervalOf, type Part, placeOf, textOf } from "./interval.ts";

export interface FlowLogs {
  /** The control endpoint that writes the current interval so far. */
  readonly routes: Route[];
  /** Continues where an earlier run stopped. Called when the storage is open. */
  resume(): void;
  /** Resolves when the objects that the control endpoint has asked for are in the storage. */
  flushed(): Promise<void>;
  /** Waits for the object that is being written; a later run writes the rest. */
  close(): Promise<void>;
}

/** After a longer jump of the clock only the last day is written. */
const mostIntervals = 144;

/** Intervals are left out when more objects than this wait: at a very high speed the storage cannot keep up. */
const mostWaiting = 20_000;

const compressed = promisify(gzip);

/**
 * Writes the objects of all flow logs, one per flow log and ten minutes of the platform's time. The interface is read
 * when the interval ends. The object is written later, in order, without holding up the platform.
 */
export function createFlowLogs(world: World, seed: number, onError: (where: string, error: unknown) => void): FlowLogs {
  const progress = world.documents.table("flow-log-progress", z.number());
  const ready = () => [...world.resources.ofType("flow-log")].filter(({ state }) => state === "AVAILABLE");
  const queue = createQueue(onError);
  let scheduled = false;
  let behind = false;
  let flushed = Promise.resolve();

  /** Reads the interface now and writes the object later. */
  function write(log: Resource, part: Part): { bucket: string; key: string } {
    const place = placeOf(log, part.begin);
    const parent = world.resources.get(log.parent);
    if (parent === undefined) return place;
    const face = interfaceOf(world, parent);
    queue.add(`flow log ${log.id}: object ${place.key} in bucket ${place.bucket}`, async () => {
      const text = textOf(seed, world.contractNumber, log, face, part);
      await world.storage.put(place.bucket, place.key, await compressed(text));
    });
    return place;
  }

  /** Whether an interval has to be left out. The error is reported once for intervals in a row. */
  function isBehind(logs: number): boolean {
    const before = behind;
    behind = queue.waiting() > Math.max(mostWaiting, 2 * mostIntervals * logs);
    if (behind && !before) onError("flow logs", new Error("the storage cannot keep up: intervals are left out"));
    return behind;
  }

  function schedule(end: number): void {
    scheduled = true;
    world.agenda.schedule(end, () => {
      scheduled = false;
      const logCount = [...world.resources.ofType("flow-log")].length;
      if (logCount === 0) return;
      const earliest = intervalOf(world.clock.now()) - (mostIntervals - 1) * intervalMs;
      if (end < earliest) return schedule(earliest);
      schedule(end + intervalMs);
      if (isBehind(logCount)) return;
      for (const log of ready()) if (log.createdAt < end) write(log, { begin: end - intervalMs, until: end });
      queue.add("flow logs", () => world.documents.transaction(() => progress.put("written", end)));
    });
  }

  const next = () => intervalOf(world.clock.now()) + intervalMs;
  const watch = () =>
    world.resources.watch((_before, after) => {
      if (after?.type === "flow-log" && !scheduled) schedule(next());
    });

  return {
    routes: [
      {
        method: "POST",
        template: "/_simulator/flow-logs",
        access: "steering",
        handle({ at }) {
          const objects = ready().map((log) => write(log, { begin: intervalOf(at), until: at }));
          flushed = queue.idle();
          return { status: 200, body: { objects }, indent: true };
        },
      },
    ],
    resume() {
      watch();
      const ages = Array.from(world.resources.ofType("flow-log"), ({ createdAt }) => intervalOf(createdAt));
      if (ages.length > 0) schedule((progress.get("written") ?? Math.min(...ages)) + intervalMs);
    },
    flushed: () => flushed,
    close: () => queue.close(),
  };
}

/** Runs work in order. A failure is reported and does not stop the next. */
function createQueue(onError: (where: string, error: unknown) => void) {
  let last = Promise.resolve();
  let waiting = 0;
  let closing = false;
  return {
    add(what: string, work: () => Promise<void> | void): void {
      waiting += 1;
      last = last
        .then(() => (closing ? undefined : work()))
        .catch((error) => onError(what, error))
        .finally(() => {
          waiting -= 1;
        });
    },
    waiting: () => waiting,
    /** Resolves when everything added so far is done. */
    idle: () => last,
    /** Waits for the work that runs, and skips the rest. */
    async close() {
      closing = true;
      await last;
    },
  };
}
