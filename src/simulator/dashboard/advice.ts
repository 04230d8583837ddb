import type { Pipeline } from "../pipelines/records.ts";
import { hrefOf } from "../pipelines/service.ts";
import { type Html, html } from "./html.ts";

const asJson = `-H 'Content-Type: application/json'`;

/** How to get a first curve onto the page, with the addresses of this very region. */
export function metricAdvice(origin: string, region: string, pipelines: readonly Pipeline[]): Html {
  const pipeline = pipelines.find(({ product }) => product === "metrics");
  const make = `curl -H "Authorization: Bearer $TOKEN" ${asJson} -d '{"properties":{"name":"metrics"}}' \\
  ${hrefOf(origin, "metrics", region, "pipelines")}`;
  const push = `echo 'room_temperature{room="kitchen"} 21.5' | curl -H "APIKEY: $KEY" -H 'Content-Type: text/plain' --data-binary @- \\
  ${origin}/ingest/metrics/${pipeline?.id ?? "$ID"}/api/v1/push`;
  return html`<p>No samples yet. ${pipeline === undefined ? "Make a metric pipeline; the answer has its id and, only once, its key:" : "Push one, with the key of the pipeline:"}</p>
<pre>${pipeline === undefined ? `${make}\n${push}` : push}</pre>
<p>Prometheus, Grafana Agent and OpenTelemetry push by remote write to the same address.</p>
`;
}

/** The same for log lines. */
export function logAdvice(origin: string, region: string, pipelines: readonly Pipeline[], forward: string): Html {
  const pipeline = pipelines.find(({ product }) => product === "logs");
  const tag = pipeline?.logs.find(({ protocol }) => protocol === "http")?.tag ?? "app";
  const logs = `[{"source":"generic","tag":"app","protocol":"http"}]`;
  const make = `curl -H "Authorization: Bearer $TOKEN" ${asJson} -d '{"properties":{"name":"logs","logs":${logs}}}' \\
  ${hrefOf(origin, "logs", region, "pipelines")}`;
  const ship = `curl -H "APIKEY: $KEY" ${asJson} -d '{"message":"hello"}' \\
  ${origin}/ingest/logs/${pipeline?.id ?? "$ID"}/${tag}`;
  return html`<p>No lines yet. ${pipeline === undefined ? "Make a log pipeline; the answer has its id and, only once, its key:" : "Ship one, with the key of the pipeline:"}</p>
<pre>${pipeline === undefined ? `${make}\n${ship}` : ship}</pre>
<p>Logs with the protocol tcp are shipped by Fluent Bit or Fluentd: output forward to ${forward}, TLS on, the key as shared key.</p>
`;
}
