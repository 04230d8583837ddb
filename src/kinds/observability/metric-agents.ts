/** Configuration files of agents that push metrics. They are complete: it is enough to mount the Secret. */
import { alloy, fluentBit, openTelemetry, yaml } from "../fields/secrets/encode.ts";

/** Where metrics are pushed to, and how often. */
interface Push {
  endpoint: string;
  key: string;
  seconds: number;
}

/**
 * Prometheus: sends the metrics that it scrapes. The scrape job is Prometheus itself, to be replaced by the user. The
 * key is a bearer token, because Prometheus 2.42 (Debian 12) accepts `headers` but does not send them.
 */
export const prometheus = ({ endpoint, key, seconds }: Push): string => `global:
  scrape_interval: ${seconds}s
scrape_configs:
  - job_name: prometheus
    static_configs:
      - targets: ["localhost:9090"]
remote_write:
  - url: ${yaml("httpEndpoint", endpoint)}
    authorization:
      type: Bearer
      credentials: ${yaml("key", key)}
`;

/** Grafana Agent in static mode. */
export const grafanaAgent = ({ endpoint, key, seconds }: Push): string => `metrics:
  global:
    scrape_interval: ${seconds}s
    remote_write:
      - url: ${yaml("httpEndpoint", endpoint)}
        headers:
          APIKEY: ${yaml("key", key)}
  configs:
    - name: default
      scrape_configs:
        - job_name: agent
          static_configs:
            - targets: ["localhost:12345"]
`;

/** Grafana Alloy: pushes its own metrics; the user adds other targets. */
export const grafanaAlloy = ({ endpoint, key, seconds }: Push): string => `prometheus.exporter.self "agent" {}

prometheus.scrape "agent" {
  targets         = prometheus.exporter.self.agent.targets
  scrape_interval = "${seconds}s"
  forward_to      = [prometheus.remote_write.platform.receiver]
}

prometheus.remote_write "platform" {
  endpoint {
    url     = ${alloy("httpEndpoint", endpoint)}
    headers = {
      "APIKEY" = ${alloy("key", key)},
    }
  }
}
`;

/** OpenTelemetry Collector: receives OTLP and pushes it. */
export const otelCollector = ({ endpoint, key, seconds }: Push): string => `receivers:
  otlp:
    protocols:
      grpc: {}
      http: {}
processors:
  batch:
    timeout: ${seconds}s
exporters:
  prometheusremotewrite:
    endpoint: ${openTelemetry("httpEndpoint", endpoint)}
    headers:
      APIKEY: ${openTelemetry("key", key)}
service:
  pipelines:
    metrics:
      receivers: [otlp]
      processors: [batch]
      exporters: [prometheusremotewrite]
`;

/** Fluent Bit: pushes the metrics of its node. */
export function fluentBitMetrics({ endpoint, key, seconds }: Push): string {
  const { hostname, port, protocol, pathname } = addressOf(endpoint);
  return `[SERVICE]
    Flush           ${seconds}

[INPUT]
    Name            node_exporter_metrics
    Tag             metrics
    Scrape_Interval ${seconds}

[OUTPUT]
    Name            prometheus_remote_write
    Match           metrics
    Host            ${fluentBit("httpEndpoint", hostname)}
    Port            ${port || (protocol === "https:" ? "443" : "80")}
    Uri             ${fluentBit("httpEndpoint", pathname)}
    Header          Authorization Bearer ${fluentBit("key", key)}
    Tls             ${protocol === "https:" ? "on" : "off"}
`;
}

/** The parts of the endpoint; empty until the platform reports one. */
function addressOf(endpoint: string): Pick<URL, "hostname" | "port" | "protocol" | "pathname"> {
  return URL.parse(endpoint) ?? { hostname: "", port: "", protocol: "https:", pathname: endpoint };
}
