import type { Dashboard, Panel } from "./dashboard.ts";
import { serverDashboards } from "./server-dashboards.ts";

/** Grafana dashboards: the state of all objects, the operator itself, the gateway and the tools. */

/** Restricts a metric to this operator, because other processes have metrics of the same names. */
const ours = (metric: string) => `${metric} and on (job, instance) leader_election_master_status{name="mooring"}`;

const quantile = (q: number, rates: string, by: string[]) =>
  `histogram_quantile(${q}, sum by (${["le", ...by].join(", ")}) (${rates}))`;

const dashboards: Dashboard[] = [
  {
    uid: "mooring-fleet",
    title: "Mooring / Fleet",
    panels: [
      { title: "Ready", unit: "short", type: "stat", queries: { ready: 'sum(mooring_objects{state="ready"})' } },
      {
        title: "Reconciling",
        unit: "short",
        type: "stat",
        queries: { reconciling: 'sum(mooring_objects{state="reconciling"}) or vector(0)' },
      },
      {
        title: "Stalled: somebody has to act",
        unit: "short",
        type: "stat",
        queries: { stalled: 'sum(mooring_objects{state="stalled"}) or vector(0)' },
      },
      { title: "Objects by kind", unit: "short", queries: { "{{kind}}": "sum by (kind) (mooring_objects)" } },
      {
        title: "Not Ready, by reason",
        unit: "short",
        queries: {
          "{{kind}} {{namespace}}: {{reason}}": 'sum by (kind, namespace, reason) (mooring_objects{state!="ready"})',
        },
      },
      {
        title: "Time until Ready (95 %)",
        unit: "s",
        queries: { "{{kind}}": quantile(0.95, "rate(mooring_apply_to_ready_seconds_bucket[5m])", ["kind"]) },
      },
      {
        title: "Tokens expire in",
        unit: "s",
        type: "table",
        queries: { "{{namespace}}/{{name}}": "mooring_token_expiry_timestamp_seconds - time()" },
      },
      {
        title: "Certificates expire in",
        unit: "s",
        type: "table",
        queries: { "{{namespace}}/{{name}}": "mooring_certificate_expiry_timestamp_seconds - time()" },
      },
      {
        title: "Age of keys",
        unit: "s",
        type: "table",
        queries: { "{{namespace}}/{{name}}": "time() - mooring_key_issued_timestamp_seconds" },
      },
      {
        title: "Calls to the platform",
        unit: "reqps",
        queries: { "{{product}} {{code}}": "sum by (product, code) (rate(mooring_platform_requests_total[5m]))" },
      },
      {
        title: "Duration of calls (95 %)",
        unit: "s",
        queries: { "{{product}}": quantile(0.95, "rate(mooring_platform_request_seconds_bucket[5m])", ["product"]) },
      },
      {
        title: "Rate limiters",
        unit: "short",
        queries: {
          "{{account}} closed": 'sum by (account) (mooring_platform_pacers{state="closed"})',
          "{{account}} waiting calls": "sum by (account) (mooring_platform_waiting_calls)",
        },
      },
    ],
  },
  {
    uid: "mooring-controller",
    title: "Mooring / Controller",
    panels: [
      {
        title: "Leaders",
        unit: "short",
        type: "stat",
        queries: { leaders: 'sum(leader_election_master_status{name="mooring"})' },
      },
      {
        title: "Objects that are due",
        unit: "short",
        queries: {
          due: 'sum(workqueue_depth{name="mooring"})',
          "oldest, seconds": 'max(workqueue_oldest_seconds{name="mooring"})',
        },
      },
      {
        title: "Workers",
        unit: "short",
        queries: {
          busy: 'sum(controller_runtime_active_workers{controller="mooring"})',
          all: 'max(controller_runtime_max_concurrent_reconciles{controller="mooring"})',
        },
      },
      {
        title: "Reconciles",
        unit: "ops",
        queries: {
          "{{controller}} {{result}}": `sum by (controller, result) (${ours("rate(controller_runtime_reconcile_total[5m])")})`,
        },
      },
      {
        title: "Errors",
        unit: "ops",
        queries: {
          "{{controller}}": `sum by (controller) (${ours("rate(controller_runtime_reconcile_errors_total[5m])")})`,
        },
      },
      {
        title: "Duration of a reconcile (95 %)",
        unit: "s",
        queries: {
          "{{controller}}": quantile(0.95, ours("rate(controller_runtime_reconcile_time_seconds_bucket[5m])"), [
            "controller",
          ]),
        },
      },
      {
        title: "Longest reconcile in progress",
        unit: "s",
        queries: { longest: 'max(workqueue_longest_running_processor_seconds{name="mooring"})' },
      },
      {
        title: "Calls to the Kubernetes API",
        unit: "reqps",
        queries: { "{{method}} {{code}}": `sum by (method, code) (${ours("rate(rest_client_requests_total[5m])")})` },
      },
      { title: "CPU", unit: "short", queries: { cores: `sum(${ours("rate(process_cpu_seconds_total[5m])")})` } },
      { title: "Memory", unit: "bytes", queries: { "{{instance}}": ours("process_resident_memory_bytes") } },
      {
        title: "Delay of the event loop (99 %)",
        unit: "s",
        queries: { "{{instance}}": ours("nodejs_eventloop_lag_p99_seconds") },
      },
    ],
  },
];

const WIDTH = 8;
const HEIGHT = 7;

export function dashboardFiles(): [name: string, text: string][] {
  return [...dashboards, ...serverDashboards].map(({ uid, title, panels }) => {
    const dashboard = {
      uid,
      title,
      tags: ["mooring"],
      timezone: "browser",
      schemaVersion: 39,
      refresh: "30s",
      time: { from: "now-1h", to: "now" },
      templating: { list: [{ name: "datasource", label: "Data source", type: "datasource", query: "prometheus" }] },
      panels: panels.map((panel, index) => panelOf(panel, index)),
    };
    return [`${uid}.json`, `${JSON.stringify(dashboard, null, 2)}\n`];
  });
}

function panelOf({ title, unit, queries, type = "timeseries" }: Panel, index: number): object {
  const datasource = { type: "prometheus", uid: "$datasource" };
  const perRow = 24 / WIDTH;
  return {
    id: index + 1,
    title,
    type,
    datasource,
    gridPos: { x: (index % perRow) * WIDTH, y: Math.floor(index / perRow) * HEIGHT, w: WIDTH, h: HEIGHT },
    fieldConfig: { defaults: { unit }, overrides: [] },
    targets: Object.entries(queries).map(([legendFormat, expr], at) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + at),
      datasource,
      expr,
      legendFormat,
      ...(type === "table" && { instant: true, format: "table" }),
    })),
  };
}
