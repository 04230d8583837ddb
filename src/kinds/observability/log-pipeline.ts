import { z } from "zod";
import type { Inputs } from "../desired.ts";
import { known, nested, wantedName } from "../fields/compare.ts";
import { formed, list, managed, managedRules, required, wireId } from "../fields/fields.ts";
import { plain } from "../fields/secrets/encode.ts";
import { keyFields, pipelineColumns, pipelineKey, rotationOf, secretNameOf } from "../fields/secrets/keys.ts";
import { type Kind, mapping } from "../kind.ts";
import { type AgentStream, fluentBitForward, fluentBitHttp } from "./log-agents.ts";
import { LONGEST, nameProblem, pipelineName } from "./pipeline-name.ts";

const retentions = [7, 14, 30];
const stream = z
  .object({
    source: z
      .enum(["kubernetes", "docker", "systemd", "http", "generic"])
      .describe("Source of the records, which the agent's configuration reads. http accepts JSON only."),
    tag: formed(/^[A-Za-z0-9]{3,20}$/, 20, "must have 3 to 20 letters and digits").describe(
      "Tag of the stream, unique within the pipeline: 3 to 20 letters and digits.",
    ),
    protocol: z.enum(["tcp", "http"]).describe("Protocol: tcp is the Fluentd forward protocol, http is JSON."),
    retentionInDays: z
      .union([z.literal(retentions), z.enum([...retentions.map(String), "unlimited"])])
      .optional()
      .describe(
        "Retention in days: 7, 14, 30 or unlimited. Queries reach back 30 days, whatever the retention. Default: 30; on an adopted pipeline, left unchanged.",
      )
      .meta({ "x-kubernetes-int-or-string": true, enum: [...retentions, ...retentions.map(String), "unlimited"] }),
  })
  .meta({
    "x-kubernetes-validations": [
      { rule: "self.source != 'http' || self.protocol == 'http'", message: "source http needs protocol http" },
    ],
  });
type Stream = z.output<typeof stream>;

const spec = z.object({
  ...managed,
  name: pipelineName,
  logs: list(stream, { max: 5, unique: "tag" })
    .min(1)
    .optional()
    .describe("The streams of the pipeline, one to five. Required."),
  ...keyFields,
});
type Known = Pick<Inputs, "name" | "observed" | "adopted">;
type LogPipelineSpec = z.output<typeof spec>;

const status = z.object({
  tcpAddress: z.string().optional().describe("Address for agents with the forward protocol, over TLS."),
  httpAddress: z.string().optional().describe("URL for JSON."),
  grafanaEndpoint: z.string().optional().describe("URL of the dashboard."),
});

const wireStream = z.looseObject({
  source: z.string().nullish(),
  tag: z.string().nullish(),
  protocol: z.string().nullish(),
  labels: z.array(z.string()).nullish(),
  retentionInDays: z.union([z.string(), z.number()]).nullish(),
  destinations: z.array(z.looseObject({ retentionInDays: z.number().nullish() })).nullish(),
});
const wire = z.looseObject({
  id: wireId(),
  properties: z.looseObject({
    name: z.string().nullish(),
    logs: z.array(wireStream).nullish(),
    tcpAddress: z.string().nullish(),
    httpAddress: z.string().nullish(),
    grafanaAddress: z.string().nullish(),
  }),
});
const withKey = z.looseObject({ properties: z.looseObject({ key: z.string().min(1) }) });

const collection = "/pipelines";
const UNLIMITED = 0;

/** A stream as the platform expects it. JSON over HTTP is a generic source there. */
function sent({ source, tag, protocol, retentionInDays = 30 }: Stream) {
  const days = retentionInDays === "unlimited" ? UNLIMITED : Number(retentionInDays);
  return {
    source: source === "http" ? "generic" : source,
    tag,
    protocol,
    retentionInDays: retentionInDays === "unlimited" ? retentionInDays : days,
    destinations: [{ type: "loki", retentionInDays: days }],
  };
}

/** A stream in the form in which streams are compared, from spec or from the platform. */
function normalised({ source, tag, protocol, retentionInDays, destinations }: z.output<typeof wireStream>) {
  const days = destinations?.[0]?.retentionInDays ?? (retentionInDays === "unlimited" ? UNLIMITED : retentionInDays);
  return { source: source === "http" ? "generic" : source, tag, protocol, retentionInDays: Number(days ?? 30) };
}

/** A write replaces all streams. Spec has no labels, so the write repeats those on the platform. */
function withLabels<Sent extends { tag: string }>(stream: Sent, found: readonly z.output<typeof wireStream>[]) {
  const labels = found.find(({ tag }) => tag === stream.tag)?.labels;
  return labels?.length ? { ...stream, labels } : stream;
}

const streamsOf = (logs: readonly z.output<typeof wireStream>[] | null | undefined, protocol: string): AgentStream[] =>
  (logs ?? []).flatMap(({ tag, source, ...log }) =>
    tag != null && log.protocol === protocol ? [{ tag, source: source ?? "generic" }] : [],
  );

/** The properties that spec asks for. Streams that Mooring did not create keep a retention that spec leaves out. */
function wanted(spec: LogPipelineSpec, inputs: Known, found: readonly z.output<typeof wireStream>[] = []) {
  const kept = inputs.adopted || inputs.observed ? found.map(normalised) : [];
  const logs = spec.logs?.map((stream) => {
    const days = kept.find(({ tag }) => tag === stream.tag)?.retentionInDays;
    const retentionInDays = days === UNLIMITED ? "unlimited" : days;
    return sent({ ...(retentionInDays !== undefined && { retentionInDays }), ...stream });
  });
  return { name: wantedName(spec, inputs), logs };
}

export const logPipeline: Kind = {
  kind: "LogPipeline",
  plural: "logpipelines",
  shortNames: ["lp"],
  description: "Receives logs from agents. Its Secret holds the addresses, the key and configuration for agents.",
  spec,
  status,
  rules: [...managedRules, required("logs")],
  immutable: {},
  columns: pipelineColumns,
  resource: mapping(spec, {
    names: { type: "pipeline", longest: LONGEST },
    identity: {
      echo(resource) {
        const { name, logs } = wire.partial({ id: true }).parse(resource).properties;
        return { name, logs: (logs ?? []).map((log) => Object.values(normalised(log)).join("/")).sort() };
      },
    },
    place: {
      product: "logging",
      collection: () => collection,
      depth: 0,
      privilege: "Access and manage Logging Service",
      references: () => [],
    },
    creation: { problem: nameProblem, body: (spec, inputs) => ({ properties: wanted(spec, inputs) }) },
    comparison: {
      compare(spec, item, inputs) {
        const { id, properties } = wire.parse(item);
        const { name, logs } = wanted(spec, inputs, properties.logs ?? []);
        const found = { name: properties.name, logs: (properties.logs ?? []).map(normalised) };
        const drift = nested({ name, logs: logs?.map(normalised) }, found, "tag");
        if (drift.length === 0 && !inputs.failed) return { drift };
        const body = { properties: { name, logs: logs?.map((log) => withLabels(log, properties.logs ?? [])) } };
        return {
          drift,
          next: { action: "update", method: "PATCH", path: `${collection}/${encodeURIComponent(id)}`, body },
        };
      },
      facts(item) {
        const { tcpAddress, httpAddress, grafanaAddress } = wire.parse(item).properties;
        return known({ tcpAddress, httpAddress, grafanaEndpoint: grafanaAddress });
      },
    },
    destruction: { holdsData: true },
    secret: {
      key: pipelineKey((answer) => withKey.safeParse(answer).data?.properties.key),
      publication: (spec, inputs) => ({
        name: secretNameOf(spec, inputs, "LogPipeline"),
        data(item, key) {
          const { tcpAddress, httpAddress, grafanaAddress, logs } = wire.parse(item).properties;
          return {
            tcpAddress: plain("tcpAddress", tcpAddress ?? ""),
            httpAddress: plain("httpAddress", httpAddress ?? ""),
            key: plain("key", key),
            grafanaEndpoint: plain("grafanaAddress", grafanaAddress ?? ""),
            "fluent-bit.conf": fluentBitForward(tcpAddress ?? "", key, streamsOf(logs, "tcp")),
            "fluent-bit-http.conf": fluentBitHttp(httpAddress ?? "", key, streamsOf(logs, "http")),
          };
        },
      }),
      rotation: rotationOf,
    },
  }),
};
