import { flags } from "../../operator/config.ts";
import { createMetrics } from "../../operator/metrics.ts";
import { systemClock } from "../../runtime/clock.ts";

/** docs/metrics.md, generated from the metrics. */
export function metricsPage(): string {
  const { described } = createMetrics({ clock: systemClock, mostObjects: 0 });
  const rows = described.map(({ name, type, labels, help }) => {
    const shown = labels.map((label) => `\`${label}\``).join(", ");
    return `| \`${name}\` | ${type} | ${shown} | ${help} |`;
  });
  return `${[HEAD, ...rows].join("\n")}\n${TAIL}`;
}

const HEAD = `<!-- Generated from src/operator by \`make generate\`. Changes belong there. -->
# Metrics of the operator

The operator serves them for Prometheus at \`/metrics\` of \`--listen\`, together with those of Node itself (\`process_*\`,
\`nodejs_*\`). Where controller-runtime has a metric, name and labels are the same, so that dashboards of other operators
fit. Only the leader reports objects; of several shards, each reports its own.

\`mooring_object_ready\` has one series per object, with the reason of its Ready condition, up to ${flags["object-metrics"].default} objects
(\`--object-metrics\`; 0 switches it off). With more objects there is only \`mooring_objects\`, which is always there.

| Metric | Type | Labels | Meaning |
|---|---|---|---|`;

const TAIL = `
A route is a path with \`{id}\` in place of ids. There are at most 100; further ones count as \`other\`. The host is
not a label, because tenants can choose it.

## Access

With \`--metrics-auth\`, which the chart sets (\`metrics.auth\`), clients need a token that may \`get\` the URL \`/metrics\`. The operator
asks the API server (TokenReview, SubjectAccessReview), as operators built with controller-runtime do. The answer is 401 without a
valid token, 403 without the permission, and 500 if the API server does not answer. A permission is remembered for a minute, a refusal
for ten seconds. \`/healthz\` and \`/readyz\` stay open. Without the flag, anybody who can reach the port can read the metrics.

The chart and \`install.yaml\` have these rights, and a ClusterRole for the reader. Bind it to your Prometheus:

<!-- not run: there is no Prometheus in the demo -->
\`\`\`console
$ kubectl create clusterrolebinding prometheus-reads-mooring --clusterrole=mooring-metrics-reader --serviceaccount=monitoring:prometheus
\`\`\`

Metrics and health are then served over TLS, so probes need \`scheme: HTTPS\`. The certificate is self-signed and new with each
start, for scrapers with \`insecure_skip_verify\`; \`--tls-cert-file\` and \`--tls-key-file\` name another one, which is read again
every minute.

## Alerts and dashboards

[deploy/chart/files/alerts.yaml](../deploy/chart/files/alerts.yaml) is a rule file for Prometheus. Dashboards for Grafana are in
[deploy/chart/files/dashboards](../deploy/chart/files/dashboards): all objects, the operator itself, the gateway and the tools. The chart
installs them with \`metrics.rules.create\` and \`metrics.dashboards.create\`; those of the gateway and the tools only where these run.

- Every alert of these files has a \`runbook_url\`: to the reason in the [list of reasons](reference/reasons.md), or to [troubleshooting](troubleshooting.md#alerts).
  \`docsUrl\` of the chart says where you publish this documentation; without it, alerts have no \`runbook_url\`.
- The tools have no metrics. Their alert and their dashboard need kube-state-metrics and the kubelet's metrics.
- The label \`namespace\` of a metric is that of the object. A scrape configuration of your own needs \`honor_labels: true\`, which the
  chart's ServiceMonitor has; without it Prometheus puts the operator's namespace there.
- Other operators have metrics with the same names. Alerts and dashboards take the processes that have the series
  \`leader_election_master_status{name="mooring"}\`, by \`job\` and \`instance\`; every operator has it, whether it leads or not.
- \`MooringObjectNotReady\` is about single objects. With more than \`--object-metrics\` of them it only knows that some object of a
  kind and namespace is not Ready, at any time.
- \`MooringNoLeader\` is about each installation and shard, by the operator's namespace. Of several, one whose pods are all gone does not raise
  it: alert on your pods as well.

Tests cause the fault of every alert and let a real Prometheus fire and resolve it. They also check that every query of the dashboards returns data
(\`test/clients/prometheus/alerts.test.ts\`; the gateway and the tools: \`gateway-alerts.test.ts\`). A page of the tests draws the panels, not Grafana.
`;
