import type { Dashboard } from "./dashboard.ts";

const quantile = (q: number, metric: string) => `histogram_quantile(${q}, sum by (le) (rate(${metric}_bucket[5m])))`;

/** The tools have no metrics of their own: kube-state-metrics and the kubelet report on their pods. */
const pods = (metric: string) => `${metric}{container="tools", pod=~"mooring-tools-.*"}`;

/** Dashboards of the gateway and of the tools, which the chart installs with them. */
export const serverDashboards: Dashboard[] = [
  {
    uid: "mooring-gateway",
    title: "Mooring / Gateway",
    panels: [
      {
        title: "Calls by namespace",
        unit: "reqps",
        queries: { "{{namespace}}": "sum by (namespace) (rate(mooring_gateway_requests_total[5m]))" },
      },
      {
        title: "Answers by code",
        unit: "reqps",
        queries: { "{{code}}": "sum by (code) (rate(mooring_gateway_requests_total[5m]))" },
      },
      {
        title: "Refused by rate or budget (429)",
        unit: "reqps",
        queries: { "{{namespace}}": 'sum by (namespace) (rate(mooring_gateway_requests_total{code="429"}[5m]))' },
      },
      {
        title: "Tokens by model",
        unit: "short",
        queries: {
          "{{model}} {{direction}}": "sum by (model, direction) (rate(mooring_gateway_tokens_total[5m]))",
        },
      },
      {
        title: "Cost per day, EUR",
        unit: "currencyEUR",
        queries: { "{{namespace}}": "sum by (namespace) (increase(mooring_gateway_cost_eur_total[1d]))" },
      },
      {
        title: "Calls to the platform by code",
        unit: "reqps",
        queries: { "{{code}}": "sum by (code) (rate(mooring_gateway_upstream_requests_total[5m]))" },
      },
      {
        title: "Time until the platform answers (95 %)",
        unit: "s",
        queries: { seconds: quantile(0.95, "mooring_gateway_upstream_seconds") },
      },
      {
        title: "Wait for the rate limit (95 %)",
        unit: "s",
        queries: { seconds: quantile(0.95, "mooring_gateway_wait_seconds") },
      },
      {
        title: "Calls now",
        unit: "short",
        queries: { waiting: "sum(mooring_gateway_waiting_requests)", open: "sum(mooring_gateway_open_requests)" },
      },
    ],
  },
  {
    uid: "mooring-tools",
    title: "Mooring / Tools",
    panels: [
      {
        title: "Pods",
        unit: "short",
        type: "stat",
        queries: { available: 'sum(kube_deployment_status_replicas_available{deployment="mooring-tools"})' },
      },
      {
        title: "Restarts",
        unit: "short",
        queries: { "{{pod}}": `sum by (pod) (increase(${pods("kube_pod_container_status_restarts_total")}[1h]))` },
      },
      {
        title: "CPU",
        unit: "short",
        queries: { "{{pod}}": `sum by (pod) (rate(${pods("container_cpu_usage_seconds_total")}[5m]))` },
      },
      {
        title: "Memory",
        unit: "bytes",
        queries: { "{{pod}}": `sum by (pod) (${pods("container_memory_working_set_bytes")})` },
      },
    ],
  },
];
