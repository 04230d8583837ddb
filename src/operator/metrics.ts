import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { CertificateObserver } from "../engine/engine.ts";
import type { Queue, QueueObserver } from "../kube/queue.ts";
import type { ClientObserver } from "../kube/transport.ts";
import type { ReconcileObserver } from "../kube/work.ts";
import type { CallObserver } from "../platform/call.ts";

/**
 * What the operator tells Prometheus. Where controller-runtime has a metric for it, the name and labels are
 * controller-runtime's, so that dashboards and alerts made for other operators fit this one.
 */
export interface Metrics {
  registry: Registry;
  reconcile: ReconcileObserver;
  certificate: CertificateObserver;
  queue: QueueObserver;
  kube: ClientObserver;
  platform: CallObserver;
  /** An Account is gone: what only its calls have shown is dropped. */
  closed(account: string): void;
  leading(held: boolean): void;
  /** Numbers that are read when asked for. */
  watchQueue(queue: Queue, workers: number): void;
}

const NAME = "mooring";
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const LONG = [0.001, 0.01, 0.1, 1, 10, 60, 300, 1000];

/** Endpoints belong to tenants: neither their paths nor their answers decide how many series there are, and hosts are none. */
const MOST_ROUTES = 100;
const CODES = [200, 201, 202, 204, 400, 401, 403, 404, 405, 408, 409, 415, 422, 423, 429, 500, 501, 502, 503, 504];
const codeOf = (status: number | "error"): string =>
  status === "error" || CODES.includes(status) ? String(status) : `${Math.floor(status / 100)}xx`;

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Gauge({ name, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, labelNames: L[], buckets = SECONDS) =>
    new Histogram({ name, help, labelNames, buckets, registers });

  const reconciles = counter("controller_runtime_reconcile_total", "Passes by kind and result", [
    "controller",
    "result",
  ]);
  const errors = counter("controller_runtime_reconcile_errors_total", "Passes that failed", ["controller"]);
  const times = histogram("controller_runtime_reconcile_time_seconds", "Duration of a pass", ["controller"]);
  const most = gauge("controller_runtime_max_concurrent_reconciles", "Workers", ["controller"]);
  const active = gauge("controller_runtime_active_workers", "Workers with something to do", ["controller"]);
  const depth = gauge("workqueue_depth", "Keys that are ready", ["name"]);
  const adds = counter("workqueue_adds_total", "Keys added", ["name"]);
  const retries = counter("workqueue_retries_total", "Keys added for later", ["name"]);
  const waited = histogram("workqueue_queue_duration_seconds", "Time a key waited", ["name"], LONG);
  const worked = histogram("workqueue_work_duration_seconds", "Time a key took", ["name"], LONG);
  const unfinished = gauge("workqueue_unfinished_work_seconds", "Time spent on keys not done yet", ["name"]);
  const longest = gauge("workqueue_longest_running_processor_seconds", "The longest of these", ["name"]);
  const kubeCalls = counter("rest_client_requests_total", "Calls to the Kubernetes API", ["code", "method", "host"]);
  const leader = gauge("leader_election_master_status", "1 while this process leads", ["name"]);
  const calls = counter("mooring_platform_requests_total", "Calls to the platform", ["code", "method", "route"]);
  const callTimes = histogram("mooring_platform_request_seconds", "Duration of a call to the platform", [
    "method",
    "route",
  ]);
  const ends = gauge("mooring_certificate_expiry_timestamp_seconds", "When a published client certificate ends", [
    "kind",
    "namespace",
    "name",
  ]);
  const paced = histogram("mooring_platform_wait_seconds", "Time a call waited for its turn", []);
  /** Who has called each route, and the series that came of it. */
  const routes = new Map<string, { accounts: Set<string>; series: Map<string, { code: string; method: string }> }>();

  return {
    registry,
    reconcile({ kind, result, seconds }) {
      const controller = kind.toLowerCase();
      reconciles.inc({ controller, result });
      if (result === "error") errors.inc({ controller });
      times.observe({ controller }, seconds);
    },
    certificate({ expiresAt, ...object }) {
      if (expiresAt === undefined) ends.remove(object);
      else ends.set(object, expiresAt / 1000);
    },
    queue: {
      depth: (ready) => depth.set({ name: NAME }, ready),
      added: () => adds.inc({ name: NAME }),
      retried: () => retries.inc({ name: NAME }),
      waited: (seconds) => waited.observe({ name: NAME }, seconds),
      worked: (seconds) => worked.observe({ name: NAME }, seconds),
    },
    kube: ({ method, host, status }) => kubeCalls.inc({ code: String(status), method, host }),
    platform({ account, method, route: path, status, seconds, waited }) {
      if (routes.size < MOST_ROUTES && !routes.has(path)) routes.set(path, { accounts: new Set(), series: new Map() });
      const known = routes.get(path);
      const route = known ? path : "other";
      const code = codeOf(status);
      known?.accounts.add(account);
      known?.series.set(`${code} ${method}`, { code, method });
      calls.inc({ code, method, route });
      callTimes.observe({ method, route }, seconds);
      paced.observe(waited);
    },
    closed(account) {
      for (const [route, { accounts, series }] of routes) {
        if (!accounts.delete(account) || accounts.size > 0) continue;
        routes.delete(route);
        for (const { code, method } of series.values()) {
          calls.remove({ code, method, route });
          callTimes.remove({ method, route });
        }
      }
    },
    leading: (held) => leader.set({ name: NAME }, held ? 1 : 0),
    watchQueue(queue, workers) {
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
      };
      // prom-client asks each metric by itself; one of them is enough to bring all three up to date.
      Object.assign(active, { collect });
    },
  };
}
