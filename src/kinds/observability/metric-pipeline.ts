import { z } from "zod";
import { differences, known, wantedName } from "../fields/compare.ts";
import { plain, webAddress } from "../fields/encode.ts";
import { managed, managedRules, wireId } from "../fields/fields.ts";
import { keyFields, pipelineColumns, pipelineKey, rotationOf, secretNameOf } from "../fields/keys.ts";
import { type Kind, mapping } from "../kind.ts";
import { fluentBitMetrics, grafanaAgent, otelCollector, prometheus } from "./metric-agents.ts";
import { nameProblem, pipelineName } from "./pipeline-name.ts";

const spec = z.object({ ...managed, name: pipelineName, ...keyFields });

const status = z.object({
  httpEndpoint: z.string().optional().describe("URL that metrics are pushed to, without /api/v1/push."),
  grafanaEndpoint: z.string().optional().describe("URL of the dashboard."),
});

const wire = z.looseObject({
  id: wireId(),
  metadata: z.looseObject({ httpEndpoint: z.string().nullish(), grafanaEndpoint: z.string().nullish() }).nullish(),
  properties: z.looseObject({ name: z.string().nullish() }),
});
const withKey = z.looseObject({ metadata: z.looseObject({ key: z.string().min(1) }) });

const collection = "/pipelines";

export const metricPipeline: Kind = {
  kind: "MetricPipeline",
  plural: "metricpipelines",
  shortNames: ["mp"],
  description: "Receives pushed metrics. Its Secret holds the URL, the key and configuration for agents.",
  spec,
  status,
  rules: managedRules,
  immutable: {},
  columns: pipelineColumns,
  resource: mapping(spec, {
    names: { type: "pipeline" },
    identity: { echo: (resource) => ({ name: wire.partial({ id: true }).parse(resource).properties.name }) },
    place: {
      product: "monitoring",
      collection: () => collection,
      depth: 0,
      privilege: "Access and manage Monitoring",
      references: () => [],
    },
    creation: { problem: nameProblem, body: (spec, { name }) => ({ properties: { name: spec.name ?? name } }) },
    comparison: {
      compare(spec, item, inputs) {
        const { id, properties } = wire.parse(item);
        const wanted = wantedName(spec, inputs);
        const drift = differences({ name: [wanted, properties.name] });
        const body = { id, properties: { name: wanted } };
        if (drift.length === 0 && !inputs.failed) return { drift };
        return {
          drift,
          next: { action: "update", method: "PUT", path: `${collection}/${encodeURIComponent(id)}`, body },
        };
      },
      facts(item) {
        const { httpEndpoint, grafanaEndpoint } = wire.parse(item).metadata ?? {};
        return known({ httpEndpoint, grafanaEndpoint });
      },
    },
    destruction: { holdsData: true },
    secret: {
      key: pipelineKey((answer) => withKey.safeParse(answer).data?.metadata.key),
      publication: (spec, inputs) => ({
        name: secretNameOf(spec, inputs, "MetricPipeline"),
        data(item, key) {
          const { httpEndpoint, grafanaEndpoint } = wire.parse(item).metadata ?? {};
          const base = webAddress("httpEndpoint", httpEndpoint ?? "");
          const endpoint = base && `${base.replace(/\/+$/, "")}/api/v1/push`;
          return {
            endpoint,
            key: plain("key", key),
            grafanaEndpoint: plain("grafanaEndpoint", grafanaEndpoint ?? ""),
            "prometheus.yaml": prometheus(endpoint, key),
            "grafana-agent.yaml": grafanaAgent(endpoint, key),
            "otel-collector.yaml": otelCollector(endpoint, key),
            "fluent-bit.conf": fluentBitMetrics(endpoint, key),
          };
        },
      }),
      rotation: rotationOf,
    },
  }),
};
