import { systemClock } from "../../clock.ts";
import { flags } from "../../operator/config.ts";
import { createMetrics } from "../../operator/metrics.ts";

/** docs/metrics.md, out of the metrics themselves. */
export function metricsPage(): string {
  const { described } = createMetrics({ clock: systemClock, mostObjects: 0 });
  const rows = described.map(({ name, type, labels, help }) => {
    const shown = labels.map((label) => `\`${label}\``).join(", ");
    return `| \`${name}\` | ${type} | ${shown} | ${help} |`;
  });
  return `${[HEAD, ...rows].join("\n")}\n${TAIL}`;
}

const HEAD = `<!-- Generated from src/operator by \`make crds\`. Changes belong there. -->
# Metrics

The operator serves them for Prometheus at \`/metrics\` of \`--listen\`, together with those of Node itself (\`process_*\`,
\`nodejs_*\`). Where controller-runtime has a metric, name and labels are the same, so that dashboards of other operators
fit. Only the leader reports objects.

\`mooring_object_ready\` has one series per object, with the reason of its Ready condition, up to ${flags["object-metrics"].default} objects
(\`--object-metrics\`; 0 switches it off). With more objects there is only \`mooring_objects\`, which is always there.

| Metric | Type | Labels | Meaning |
|---|---|---|---|`;

const TAIL = `
A route is a path with \`{id}\` in place of ids. There are at most 100; further ones count as \`other\`. The host is
not a label, because tenants can choose it.

## Alerts and dashboards

[deploy/chart/files/alerts.yaml](../deploy/chart/files/alerts.yaml) is a rule file for Prometheus. Two dashboards for Grafana are in
[deploy/chart/files/dashboards](../deploy/chart/files/dashboards): all objects, and the operator itself. The chart installs them
with \`metrics.rules.create\` and \`metrics.dashboards.create\`.
`;
