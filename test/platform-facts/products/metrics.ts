import type { Fact } from "../fact.ts";

const pipelines = "test/simulator/pipelines/metric-pipelines.test.ts";
const kind = "test/kinds/observability/metric-pipeline.test.ts";
const agents = "test/kinds/observability/agents.test.ts";
const prometheus = "test/clients/prometheus/prometheus.test.ts";

/** Metric pipelines. */
export const metrics: readonly Fact[] = [
  [174, "a name is required", pipelines, "refuses %o and names the field"],
  [
    175,
    "properties.status is read",
    "test/platform/products/regional.test.ts",
    "the state of a pipeline is read where",
  ],
  [176, "a pipeline has an id", pipelines, "answers 201 with the key, PROVISIONING, and everything an agent needs"],
  [177, "the key is in the first answer only", pipelines, "is in no answer but the one that makes it"],
  [
    178,
    "a pipeline tells its dashboard",
    kind,
    "holds the push URL, the key, the dashboard and configuration for five",
  ],
  [179, "the push URL", kind, "holds the push URL, the key, the dashboard and configuration for five"],
  [181, "pushes go to port 443", agents, "Fluent Bit writes over %s, with the key as bearer token", "https", "443"],
  [
    182,
    "four types of metrics",
    "test/simulator/ingest/metric-push-exposition.test.ts",
    "takes counters, gauges, histograms",
  ],
  [
    183,
    "JSON in Snappy",
    "test/simulator/ingest/metric-push-remote-write.test.ts",
    "takes the structure of a remote-write",
  ],
  [184, "Prometheus pushes", prometheus, "pushes with the file of the Secret as it is", "of Debian"],
  [185, "Grafana Agent pushes", agents, "Grafana Agent does so for everything it scrapes"],
  [186, "OpenTelemetry pushes", agents, "OpenTelemetry Collector passes on what it takes as OTLP"],
  [187, "Fluent Bit pushes", agents, "Fluent Bit writes over %s, with the key as bearer token"],
  [188, "every minute by default", kind, "pushes every minute unless spec says otherwise"],
  [
    189,
    "alerts on pushed metrics",
    "test/simulator/pipelines/alerts.test.ts",
    "a rule on a pushed metric fires beyond its",
  ],
  [190, "POST /pipelines", pipelines, "answers 201 with the key, PROVISIONING, and everything an agent needs"],
  [191, "DELETE of a pipeline", pipelines, "answers 202, shows it DESTROYING, and then it is gone"],
  [192, "POST of a push", kind, "takes a push with what the Secret holds, until the key is renewed"],
];
