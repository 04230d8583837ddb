import { Counter, Gauge, Histogram } from "prom-client";
import type { ObjectObserver } from "../controllers/manager-options.ts";
import type { ClientObserver } from "../kube/client/transport.ts";
import type { Queue, QueueObserver } from "../kube/queue/queue.ts";
import type { ReconcileObserver } from "../kube/queue/work.ts";
import type { CallObserver } from "../platform/calls/call.ts";
import type { Transport } from "../platform/calls/transport.ts";
import type { Clock } from "../runtime/clock.ts";
import { yieldIfDue } from "../runtime/time-slices.ts";
import { createRegistry } from "../server/registry.ts";
import { createObjectMetrics, objectGauges } from "./object-metrics.ts";

/**
 * The operator's metrics. A metric that controller-runtime has too uses the same name and labels, so that dashboards and alerts
 * made for other operators work here.
 */
export interface Metrics {
  /** All metrics as text, in chunks, yielding to other work between them. */
  scrape(): AsyncGenerator<string>;
  contentType: string;
  /** Name, type, labels and help of all metrics, except those of Node itself. */
  described: readonly Described[];
  reconcile: ReconcileObserver;
  object: ObjectObserver;
  /** Drift of an object of this kind was corrected. */
  drift(kind: string): void;
  queue: QueueObserver;
  kube: ClientObserver;
  platform: CallObserver;
  /** An Account is gone: drops the series that only its calls produced. */
  closed(account: string): void;
  /** Only the leader exports object metrics, so no object is counted twice. */
  leading(held: boolean): void;
  /** The number of namespaces of each shard that is not running. */
  unserved(shards: ReadonlyMap<string, number>): void;
  /** Whether the Secret with the signing key is missing. */
  signingKey(missing: boolean): void;
  /** Sources that are read at each scrape. */
  watch(parts: {
    queue: Pick<Queue, "inWork" | "oldest">;
    workers: number;
    transport: Pick<Transport, "pacers" | "skews">;
  }): void;
}

export interface Described {
  name: string;
  type: "counter" | "gauge" | "histogram";
  help: string;
  labels: readonly string[];
}

const NAME = "mooring";
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const LONG = [0.001, 0.01, 0.1, 1, 10, 60, 300, 1000];
const TO_READY = [1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];
/** Chunk size in characters, large enough for one socket write. */
const PIECE = 65_536;

/**
 * Limits the number of series. Tenants choose endpoints, so neither paths nor status codes may create unlimited series, and
 * hosts are no label.
 */
const MOST_ROUTES = 100;
const MOST_SHARDS = 100;
const CODES = [200, 201, 202, 204, 400, 401, 403, 404, 405, 408, 409, 415, 422, 423, 429, 500, 501, 502, 503, 504];
const codeOf = (status: number | "error"): string =>
  status === "error" || CODES.includes(status) ? String(status) : `${Math.floor(status / 100)}xx`;

export function createMetrics(options: { clock: Clock; mostObjects: number; shard?: string | undefined }): Metrics {
  const { clock, mostObjects, shard = "" } = options;
  const registry = createRegistry();
  const registers = [registry];
  const described: Described[] = [];
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) => {
    described.push({ name, type: "counter", help, labels: labelNames });
    return new Counter({ name, help, labelNames, registers });
  };
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]) => {
    described.push({ name, type: "gauge", help, labels: labelNames });
    return new Gauge({ name, help, labelNames, registers });
  };
  const histogram = <L extends string>(name: string, help: string, labelNames: L[], buckets = SECONDS) => {
    described.push({ name, type: "histogram", help, labels: labelNames });
    return new Histogram({ name, help, labelNames, buckets, registers });
  };

  described.push(...objectGauges.map((each) => ({ ...each, type: "gauge" as const })));
  const toReady = histogram(
    "mooring_apply_to_ready_seconds",
    "Time from a creation or a change of spec until the object is Ready",
    ["kind"],
    TO_READY,
  );
  const drift = counter(
    "mooring_drift_corrected_total",
    "Times that a resource was changed outside Mooring and corrected; the Event DriftCorrected has the values",
    ["kind"],
  );
  const calls = counter("mooring_platform_requests_total", "Calls to the platform by product, route and code", [
    "product",
    "method",
    "route",
    "code",
  ]);
  const callTimes = histogram("mooring_platform_request_seconds", "Duration of a call to the platform", [
    "product",
    "method",
  ]);
  const paced = histogram("mooring_platform_wait_seconds", "Time a call to the platform waited for the rate limit", []);
  const pacers = gauge(
    "mooring_platform_pacers",
    "Rate limiters of an Account, one per host, shared by Accounts with the same token: open, or closed while the platform asks to wait",
    ["account", "state"],
  );
  const slowest = gauge("mooring_platform_slowest_rate", "Calls per second of the slowest rate limiter of an Account", [
    "account",
  ]);
  const waiting = gauge("mooring_platform_waiting_calls", "Calls that wait for the rate limiters of an Account", [
    "account",
  ]);
  const skews = gauge(
    "mooring_platform_clock_skew_seconds",
    "How far the platform's clock is ahead of the operator's, by the answers to an Account; negative: behind",
    ["account"],
  );
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
  const kubeCalls = counter("rest_client_requests_total", "Calls to the Kubernetes API", ["code", "method", "host"]);
  const leader = gauge(
    "leader_election_master_status",
    "1 while this process is the leader, of its shard if it has one",
    ["name", "shard"],
  );
  // Also set by a process that never led: queries find Mooring's processes by this metric.
  leader.set({ name: NAME, shard }, 0);
  const unserved = gauge(
    "mooring_unserved_namespaces",
    "Namespaces whose label names a shard that is not running; reported by the operator without --shard",
    ["shard"],
  );
  const keyMissing = gauge(
    "mooring_signing_key_missing",
    "1 while the Secret mooring-signing-key is missing and this process waits for it, or restores it",
    [],
  );
  keyMissing.set(0);
  /** The Accounts that called each route, and the series of that route. */
  const routes = new Map<string, { accounts: Set<string>; series: Map<string, Record<string, string>> }>();
  let leads = false;
  const objects = createObjectMetrics({
    clock,
    most: mostObjects,
    becameReady: (kind, seconds) => toReady.observe({ kind }, seconds),
  });

  return {
    async *scrape() {
      yield await registry.metrics();
      let piece = "";
      for (const line of leads ? objects.lines() : []) {
        piece += `${line}\n`;
        if (piece.length >= PIECE) {
          yield piece;
          piece = "";
        }
        const pause = yieldIfDue(clock);
        if (pause) await pause;
      }
      yield piece;
    },
    contentType: registry.contentType,
    described,
    reconcile({ kind, result, seconds }) {
      const controller = kind.toLowerCase();
      reconciles.inc({ controller, result });
      if (result === "error") errors.inc({ controller });
      times.observe({ controller }, seconds);
    },
    object: objects.observe,
    drift: (kind) => drift.inc({ kind }),
    queue: {
      depth: (due) => depth.set({ name: NAME }, due),
      added: () => adds.inc({ name: NAME }),
      retried: () => retries.inc({ name: NAME }),
      waited: (seconds) => waited.observe({ name: NAME }, seconds),
      worked: (seconds) => worked.observe({ name: NAME }, seconds),
    },
    kube: ({ method, host, status }) => kubeCalls.inc({ code: String(status), method, host }),
    platform({ account, product, method, route: path, status, seconds, waited }) {
      if (routes.size < MOST_ROUTES && !routes.has(path)) routes.set(path, { accounts: new Set(), series: new Map() });
      const known = routes.get(path);
      const series = { product, method, route: known ? path : "other", code: codeOf(status) };
      known?.accounts.add(account);
      known?.series.set(Object.values(series).join(" "), series);
      calls.inc(series);
      callTimes.observe({ product, method }, seconds);
      paced.observe(waited);
    },
    closed(account) {
      for (const [route, { accounts, series }] of routes) {
        if (!accounts.delete(account) || accounts.size > 0) continue;
        routes.delete(route);
        for (const each of series.values()) calls.remove(each);
      }
    },
    leading(held) {
      leads = held;
      if (held) objects.begin();
      leader.set({ name: NAME, shard }, held ? 1 : 0);
    },
    unserved(shards) {
      unserved.reset();
      // Namespace owners choose this label, so the number of series is limited.
      for (const [name, count] of [...shards].slice(0, MOST_SHARDS)) unserved.set({ shard: name }, count);
    },
    signingKey: (missing) => keyMissing.set(missing ? 1 : 0),
    watch({ queue, workers, transport }) {
      most.set({ controller: NAME }, workers);
      const collect = () => {
        const inWork = queue.inWork();
        active.set({ controller: NAME }, inWork.length);
        unfinished.set(
          { name: NAME },
          inWork.reduce((sum, seconds) => sum + seconds, 0),
        );
        longest.set(
          { name: NAME },
          inWork.reduce((most, seconds) => Math.max(most, seconds), 0),
        );
        oldest.set({ name: NAME }, queue.oldest());
      };
      // prom-client collects each metric separately. The first metric of a group sets the values of the whole group.
      Object.assign(active, { collect });
      Object.assign(skews, {
        collect() {
          skews.reset();
          for (const { account, aheadMs } of transport.skews()) skews.set({ account }, aheadMs / 1000);
        },
      });
      Object.assign(pacers, {
        collect() {
          for (const each of [pacers, waiting, slowest]) each.reset();
          const slow = new Map<string, number>();
          for (const { accounts, pacer } of transport.pacers())
            for (const account of new Set(accounts)) {
              pacers.inc({ account, state: pacer.isClosed ? "closed" : "open" });
              waiting.inc({ account }, pacer.waiting);
              slow.set(account, Math.min(pacer.rate, slow.get(account) ?? pacer.rate));
            }
          for (const [account, rate] of slow) slowest.set({ account }, rate);
        },
      });
    },
  };
}
