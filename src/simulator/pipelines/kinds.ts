import type { Call, Forms } from "../http/exchange.ts";
import { conflict } from "../http/refusal.ts";
import type { Managed } from "../managed/kind.ts";
import type { Host } from "../managed/service.ts";
import type { Pipeline, PipelineFields, Product, Stream } from "../records/pipelines.ts";
import type { World } from "../world.ts";
import { changedLogPipeline, type Given, givenLogPipeline, givenMetricPipeline } from "./body.ts";
import { keptKey, newKey } from "./keys.ts";

/** The slugs of the regions that have metric and log pipelines. */
export const regions: ReadonlySet<string> = new Set([
  "de-fra",
  "de-txl",
  "es-vit",
  "gb-bhx",
  "gb-lhr",
  "fr-par",
  "us-mci",
]);

export const services: Record<Product, Host> = {
  metrics: { path: "monitoring", regions, privilege: "accessAndManageMonitoring" },
  logs: { path: "logging", regions, privilege: "accessAndManageLogging" },
};

/** The address of something of a product in one region. */
export const hrefOf = (origin: string, product: Product, region: string, path: string) =>
  `${origin}/${services[product].path}/${region}/${path}`;

/** One dashboard per contract and region, for metrics and logs alike. */
export const dashboardOf = ({ isFirst, contractNumber }: World, origin: string, region: string) =>
  `${origin}/dashboards/${region}${isFirst ? "" : `/${contractNumber}`}`;

type Pipelines = Managed<PipelineFields>;

/** The fields that metric and log pipelines have in common. */
const pipelineLike = (product: Product) =>
  ({
    host: services[product],
    type: "pipeline",
    path: "/{region}/pipelines",
    param: "pipelineId",
    statuses: { create: 201, change: 200 },
    span: { create: [3_000, 6_000], update: [1_000, 3_000], delete: [1_000, 3_000] },
    draws: { id: "pipeline", time: (what) => `pipeline/${what}` },
    exclusive: true,
    ready: { wasReady: true },
    orders: {
      id: ({ id }) => id,
      name: ({ name }) => name,
      state: ({ state }) => state,
      status: ({ state }) => state,
      createdDate: ({ createdAt }) => createdAt,
      lastModifiedDate: ({ modifiedAt }) => modifiedAt,
    },
    table: ({ pipelines }) => pipelines.pipelines,
    owns: (row) => row.product === product,
    names: (_, { region }) => ({ region }),
    failed: ({ forms }, { failure }) => (forms.public ? { statusMessage: failure } : {}),
    // Lines past the old retention are dropped before the retention changes.
    changing: ({ lines }, { id }) => lines.expire(id),
    gone({ samples, lines }, { id }) {
      samples.forget(id);
      lines.forget(id);
    },
  }) satisfies Partial<Pipelines>;

/** The fields of a new pipeline. Only the answer to its creation shows the key. */
function newFields(
  world: World,
  product: Product,
  region: string,
  given: Given,
  showKey: (key: string) => void,
): PipelineFields {
  const key = newKey();
  showKey(key);
  return { ...given, product, region, wasReady: false, ...keptKey(world, product, key), keyVersion: 1 };
}

export const metricPipelineKind: Pipelines = {
  ...pipelineLike("metrics"),
  change: "PUT",
  within(world, { method, params }) {
    const taken = method === "PUT" ? world.pipelines.pipelines.get(params.pipelineId ?? "") : undefined;
    if (taken !== undefined && (taken.product !== "metrics" || taken.region !== params.region)) {
      throw conflict(`The id ${taken.id} is taken by a pipeline elsewhere`);
    }
    return ({ region }) => region === params.region;
  },
  given(world, call, before, showOnce) {
    const given = givenMetricPipeline(call);
    if (before !== undefined) return { ...before, ...given };
    return newFields(world, "metrics", call.params.region ?? "", given, (key) => showOnce({ metadata: { key } }));
  },
  properties: ({ name }) => ({ name }),
  answered: ({ forms }, { state }) => (forms.described ? { status: state } : {}),
  metadata: (world, { id, region, state }, { origin }) => ({
    ...(world.forms.public && { status: state }),
    grafanaEndpoint: dashboardOf(world, origin, region),
    httpEndpoint: `${origin}/ingest/metrics/${id}`,
  }),
  inspected: ({ samples }, { id, region, keyVersion }) => ({ region, keyVersion, received: samples.counts(id) }),
};

export const logPipelineKind: Pipelines = {
  ...pipelineLike("logs"),
  change: "PATCH",
  // Older clients expect the pipeline in the answer.
  showsRemoved: true,
  within:
    (_, { params }) =>
    ({ region }) =>
      region === params.region,
  given(world, { body, params }, before, showOnce) {
    if (before !== undefined) return { ...before, ...changedLogPipeline(body, before, world.forms) };
    const given = givenLogPipeline(body, world.forms);
    return newFields(world, "logs", params.region ?? "", given, (key) => showOnce({ properties: { key } }));
  },
  properties: ({ name, logs }, { forms }) => ({ name, logs: logs.map((stream) => shownStream(stream, forms)) }),
  answered: (world, { id, region, state, resourceTier }, { origin }) => ({
    ...(resourceTier !== null && { resourceTier }),
    tcpAddress: world.forwardAddress(),
    httpAddress: `${origin}/ingest/logs/${id}`,
    grafanaAddress: dashboardOf(world, origin, region),
    ...(world.forms.described && { status: state === "AVAILABLE" ? "Ready" : state }),
  }),
  metadata: ({ forms }, { state }) => (forms.public ? { state } : {}),
  inspected: ({ lines }, { id, region, keyVersion }) => ({ region, keyVersion, received: lines.counts(id) }),
};

export const pipelineKinds: Readonly<Record<Product, Pipelines>> = {
  metrics: metricPipelineKind,
  logs: logPipelineKind,
};

/** Each form shows the retention in its own way. */
const shownStream = ({ retentionInDays, ...stream }: Stream, forms: Forms) => ({
  ...stream,
  ...(forms.described && { retentionInDays: retentionInDays === 0 ? "unlimited" : retentionInDays }),
  ...(forms.public && { destinations: [{ type: "loki", retentionInDays }] }),
});

/** Replaces the key and returns the new one, in every state: a key may be lost before the pipeline is AVAILABLE. */
export function rotateKey(world: World, { at, caller }: Call, pipeline: Pipeline): string {
  if (pipeline.state === "DESTROYING") throw conflict(`The pipeline ${pipeline.id} is being deleted`);
  const key = newKey();
  world.pipelines.pipelines.put(pipeline.id, {
    ...pipeline,
    ...keptKey(world, pipeline.product, key),
    keyVersion: pipeline.keyVersion + 1,
    modifiedAt: at,
    modifiedBy: caller.user.id,
  });
  return key;
}
