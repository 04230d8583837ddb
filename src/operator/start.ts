import type { Logger } from "pino";
import { LeadershipLost } from "../kube/lease/leadership-lost.ts";
import { systemClock } from "../runtime/clock.ts";
import type { Config } from "./config.ts";
import { InstallationTaken } from "./installation.ts";
import { openParts, type Parts } from "./parts.ts";
import { watchShards } from "./unserved.ts";

/**
 * The time that a process has after it lost its lease, to finish work that only it knows of, such as deleting a resource that
 * it created and can no longer claim. Then it exits, even if something hangs. The guard stops it from starting anything new.
 */
const LEAVE_MS = 4000;

/**
 * After a stop, calls to the platform have this long to be answered. Then they are aborted, and the next leader searches for
 * their results.
 */
const ANSWER_MS = 5000;

/** Kubernetes kills a pod 30 s after SIGTERM. The process exits before that even if something hangs, and its Lease expires. */
const STOP_MS = 20_000;

export class StopOverdue extends Error {
  constructor() {
    super(`shutdown timed out after ${STOP_MS / 1000} s`);
  }
}

/**
 * Runs the operator until the signal aborts, then closes all parts in reverse order. Rejects with `LeadershipLost` when the
 * lease is lost, and with `StopOverdue` when the shutdown times out; the process must exit then, because something may still
 * hang.
 */
export async function runOperator(config: Config, log: Logger, signal: AbortSignal): Promise<void> {
  const overdue = Promise.withResolvers<never>();
  const endAfter = (ms: number, error: Error) => void systemClock.after(ms, () => overdue.reject(error));
  const onLost = () => endAfter(LEAVE_MS, new LeadershipLost());
  signal.addEventListener("abort", () => endAfter(STOP_MS, new StopOverdue()), { once: true });
  await Promise.race([runParts(config, log, signal, onLost), overdue.promise]);
}

async function runParts(config: Config, log: Logger, signal: AbortSignal, onLost: () => void): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const parts = await openParts(config, log, cleanup);
  const stopped = new Promise<"stopped">((resolve) => {
    if (signal.aborted) resolve("stopped");
    signal.addEventListener("abort", () => resolve("stopped"), { once: true });
  });
  const begin = await Promise.race([parts.prepared.then(() => "begin" as const), stopped, parts.leadership.lost]);
  if (begin === "stopped") return;
  if (begin === "lost") throw new LeadershipLost();
  await lead(config, log, parts, stopped, onLost);
}

/** Reconciles until the process is stopped, loses its lease, or another installation takes over. */
async function lead(config: Config, log: Logger, parts: Parts, stopped: Promise<"stopped">, onLost: () => void) {
  const { metrics, liveness, client, events, transport, leadership, installation, engine } = parts;
  const { namespace, identity, watchNamespace, shard, workers } = config;
  metrics.leading(true);
  log.info({ identity }, "became leader");

  const working = new AbortController();
  liveness.begin();
  const running = engine.run(workers, working.signal);
  if (shard === undefined && watchNamespace === undefined) {
    void watchShards({
      client,
      clock: systemClock,
      namespace,
      namespaces: engine.namespaces,
      events,
      observe: metrics.unserved,
      onError: (error) => log.warn({ err: error }, "Leases of shards not read"),
      signal: working.signal,
    });
  }
  const taken = installation.lost.then(() => "taken" as const);
  const end = await Promise.race([stopped, leadership.lost, taken, running.then(() => "stopped" as const)]);
  metrics.leading(false);
  working.abort(new Error("stopping"));
  if (end === "lost" || end === "taken") onLost();
  else systemClock.after(ANSWER_MS, () => void transport.close());
  await running;
  if (end === "lost") throw new LeadershipLost();
  if (end === "taken") throw new InstallationTaken(await installation.lost);
}
