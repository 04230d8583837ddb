import { z } from "zod";
import { differences, known, wantedName } from "../fields/compare.ts";
import { duration, secondsOf } from "../fields/duration.ts";
import { managed, managedRules, wireId } from "../fields/fields.ts";
import { plain, webAddress } from "../fields/secrets/encode.ts";
import { keyFields, pipelineColumns, pipelineKey, rotationOf, secretNameOf } from "../fields/secrets/keys.ts";
import { type Kind, mapping } from "../kind.ts";
import { fluentBitMetrics, grafanaAgent, grafanaAlloy, otelCollector, prometheus } from "./metric-agents.ts";
import { LONGEST, nameProblem, pipelineName } from "./pipeline-name.ts";

const PUSH_INTERVAL = "60s";

const spec = z.object({
  ...managed,
  name: pipelineName,
  pushInterval: duration("10s", "1h")
    .optional()
    .describe(`How often agents push, in the configuration files of the Secret. Default: ${PUSH_INTERVAL}.`),
  ...keyFields,
});

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
    names: { type: "pipeline", longest: LONGEST },
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
        const body = { id, properties: { name: wanted ?? properties.name } };
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
          const push = { endpoint, key, seconds: secondsOf(spec.pushInterval ?? PUSH_INTERVAL) ?? 0 };
          return {
            endpoint,
            key: plain("key", key),
            grafanaEndpoint: plain("grafanaEndpoint", grafanaEndpoint ?? ""),
            "prometheus.yaml": prometheus(push),
            "grafana-agent.yaml": grafanaAgent(push),
            "config.alloy": grafanaAlloy(push),
            "otel-collector.yaml": otelCollector(push),
            "fluent-bit.conf": fluentBitMetrics(push),
          };
        },
      }),
      rotation: rotationOf,
    },
  }),
};
