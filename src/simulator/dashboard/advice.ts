import { hrefOf } from "../pipelines/kinds.ts";
import type { Pipeline } from "../records/pipelines.ts";
import { type Html, html, nothing } from "./html.ts";

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

/** The first steps for log lines. */
export function logAdvice(origin: string, region: string, pipelines: readonly Pipeline[], forward: string): Html {
  const logPipelines = pipelines.filter(({ product }) => product === "logs");
  return html`<p>No lines yet.</p>
${logPipelines.length === 0 ? firstLogPipeline(origin, region) : logPipelines.map((pipeline) => shipping(origin, pipeline))}
<p>Logs with the protocol tcp are shipped by Fluent Bit or Fluentd: output forward to ${forward}, TLS on, the key as shared key.</p>
`;
}

function firstLogPipeline(origin: string, region: string): Html {
  const logs = `[{"source":"generic","tag":"app","protocol":"http"}]`;
  return html`<p>Make a log pipeline; the answer has its id and, only once, its key:</p>
<pre>curl -H "Authorization: Bearer $TOKEN" ${asJson} -d '{"properties":{"name":"logs","logs":${logs}}}' \\
  ${hrefOf(origin, "logs", region, "pipelines")}
${shipCommand(origin, "$ID", "app")}</pre>`;
}

/** A pipeline whose logs all use the forward protocol has no advice here. */
function shipping(origin: string, { id, name, logs }: Pipeline): Html {
  const stream = logs.find(({ protocol }) => protocol === "http");
  if (stream === undefined) return nothing;
  return html`<p>Ship one, with the key of the pipeline ${name}:</p>
<pre>${shipCommand(origin, id, stream.tag)}</pre>`;
}

const shipCommand = (origin: string, id: string, tag: string) =>
  `curl -H "APIKEY: $KEY" ${asJson} -d '{"message":"hello"}' \\\n  ${origin}/ingest/logs/${id}/${tag}`;
