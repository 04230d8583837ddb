/** Configuration of agents that push metrics: complete files, so that mounting the Secret is all there is to do. */
import { alloy, fluentBit, openTelemetry, yaml } from "../fields/encode.ts";

/** Where metrics are pushed to, and how often. */
interface Push {
  endpoint: string;
  key: string;
  seconds: number;
}

/**
 * Prometheus: sends what it scrapes; the job is Prometheus itself, to be replaced by one's own. The key is a bearer token:
 * the Prometheus of Debian 12 (2.42) takes `headers` and does not send them.
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

/** Grafana Alloy: pushes its own metrics; other targets are to be added. */
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

/** OpenTelemetry Collector: takes OTLP and pushes what it gets. */
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

/** Fluent Bit: pushes the metrics of the node it runs on. */
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

/** Before the platform has said where to push, there is nothing to take apart. */
function addressOf(endpoint: string): Pick<URL, "hostname" | "port" | "protocol" | "pathname"> {
  return URL.parse(endpoint) ?? { hostname: "", port: "", protocol: "https:", pathname: endpoint };
}
