import type { Queue, QueueObserver } from "../../kube/queue/queue.ts";
import type { ReconcileObserver } from "../../kube/queue/work.ts";
import { type Definitions, setAtScrape } from "./definitions.ts";

export interface WorkMetrics {
  reconcile: ReconcileObserver;
  queue: QueueObserver;
  /** Reads the reconciles in progress at each scrape. */
  watch(queue: Pick<Queue, "inWork" | "oldest">, workers: number): void;
}

/** Buckets for times in the queue and in work, in seconds. */
const LONG = [0.001, 0.01, 0.1, 1, 10, 60, 300, 1000];

/** The reconciles and the queue, with the metrics of controller-runtime. `name` is the name of the queue. */
export function createWorkMetrics({ counter, gauge, histogram }: Definitions, name: string): WorkMetrics {
  const reconciles = counter("controller_runtime_reconcile_total", "Reconciles by kind and result", [
    "controller",
    "result",
  ]);
  const errors = counter("controller_runtime_reconcile_errors_total", "Reconciles that failed", ["controller"]);
  const times = histogram("controller_runtime_reconcile_time_seconds", "Duration of a reconcile", ["controller"]);
  const most = gauge("controller_runtime_max_concurrent_reconciles", "Workers", ["controller"]);
  const active = gauge("controller_runtime_active_workers", "Busy workers", ["controller"]);
  const depth = gauge("workqueue_depth", "Objects in the queue that are due", ["name"]);
  const oldest = gauge("workqueue_oldest_seconds", "Time that the oldest due object has been waiting", ["name"]);
  const adds = counter("workqueue_adds_total", "Objects added to the queue", ["name"]);
  const retries = counter("workqueue_retries_total", "Objects added with a delay", ["name"]);
  const waited = histogram("workqueue_queue_duration_seconds", "Time an object waited in the queue", ["name"], LONG);
  const worked = histogram("workqueue_work_duration_seconds", "Time a worker took for an object", ["name"], LONG);
  const unfinished = gauge(
    "workqueue_unfinished_work_seconds",
    "Time the workers have spent on reconciles in progress",
    ["name"],
  );
  const longest = gauge(
    "workqueue_longest_running_processor_seconds",
    "Time the longest reconcile in progress has taken",
    ["name"],
  );
  return {
    reconcile({ kind, result, seconds }) {
      const controller = kind.toLowerCase();
      reconciles.inc({ controller, result });
      if (result === "error") errors.inc({ controller });
      times.observe({ controller }, seconds);
    },
    queue: {
      depth: (due) => depth.set({ name }, due),
      added: () => adds.inc({ name }),
      retried: () => retries.inc({ name }),
      waited: (seconds) => waited.observe({ name }, seconds),
      worked: (seconds) => worked.observe({ name }, seconds),
    },
    watch(queue, workers) {
      most.set({ controller: name }, workers);
      setAtScrape(active, () => {
        const inWork = queue.inWork();
        active.set({ controller: name }, inWork.length);
        unfinished.set(
          { name },
          inWork.reduce((sum, seconds) => sum + seconds, 0),
        );
        longest.set(
          { name },
          inWork.reduce((most, seconds) => Math.max(most, seconds), 0),
        );
        oldest.set({ name }, queue.oldest());
      });
    },
  };
}
