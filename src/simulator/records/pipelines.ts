import { createHash } from "node:crypto";
import { z } from "zod";
import type { Documents } from "../store/documents.ts";
import { stamps } from "../store/shown.ts";
import { type Life, life } from "./life.ts";

const productSchema = z.enum(["metrics", "logs"]);
export type Product = z.infer<typeof productSchema>;

/** One stream of a log pipeline. */
const streamSchema = z.object({
  source: z.enum(["kubernetes", "docker", "systemd", "generic"]),
  tag: z.string(),
  protocol: z.enum(["http", "tcp"]),
  /** 0 keeps lines without end. */
  retentionInDays: z.union([z.literal(0), z.literal(7), z.literal(14), z.literal(30)]),
  labels: z.array(z.string()).readonly(),
});

const pipelineSchema = z.object({
  ...life,
  product: productSchema,
  /** The slug, e.g. `de-txl`. */
  region: z.string(),
  name: z.string(),
  /** Empty for metric pipelines. */
  logs: z.array(streamSchema).readonly(),
  /** As the caller sent it. It has no effect here. */
  resourceTier: z.string().nullable(),
  /** It was AVAILABLE once, and takes data from then on. */
  wasReady: z.boolean().default(true),
  /** The hash of the present key; the key itself is shown once. */
  keyHash: z.string(),
  /** Counts up with every new key. */
  keyVersion: z.number(),
  /** The key of a log pipeline, sealed: the handshake of the forward protocol cannot be checked by a hash. */
  sealedKey: z.string().nullable(),
});

/** Central logging or monitoring of one region; absent: never switched. */
const centralSchema = z.object({
  product: productSchema,
  region: z.string(),
  enabled: z.boolean(),
  ...stamps,
});

export type Stream = Readonly<z.infer<typeof streamSchema>>;
export type Pipeline = Readonly<z.infer<typeof pipelineSchema>>;
export type PipelineFields = Omit<Pipeline, keyof Life>;
export type Central = Readonly<z.infer<typeof centralSchema>>;

/** Everything that the platform remembers of metric and log pipelines. */
export function createPipelineRecords(documents: Documents) {
  const pipelines = documents.table("pipelines", pipelineSchema);
  const byKeyHash = new Map<string, string>();
  pipelines.watch((before, after) => {
    if (before !== undefined) byKeyHash.delete(before.keyHash);
    if (after !== undefined) byKeyHash.set(after.keyHash, after.id);
  });
  return {
    pipelines,
    byKeyHash,
    centrals: documents.table("centrals", centralSchema),
    /** The key that seals the keys of log pipelines, in one row. */
    seals: documents.table("pipeline-seals", z.string()),
  };
}

export type PipelineRecords = ReturnType<typeof createPipelineRecords>;

/** The part of the world that knows pipelines. */
type WithPipelines = { pipelines: PipelineRecords };

/** A pipeline by its id, whatever its state and whether or not it can be seen already. */
export function pipelineOf(
  { pipelines: { pipelines } }: WithPipelines,
  product: Product,
  id: string,
): Pipeline | undefined {
  const pipeline = pipelines.get(id);
  return pipeline?.product === product ? pipeline : undefined;
}

/** The pipeline that has this key now and is neither FAILED nor being deleted. */
export function pipelineByKey(world: WithPipelines, product: Product, key: string): Pipeline | undefined {
  const pipeline = pipelineOf(world, product, world.pipelines.byKeyHash.get(hashOf(key)) ?? "");
  return pipeline !== undefined && isKept(pipeline) ? pipeline : undefined;
}

/** Keys are long and random, so a plain hash identifies them and reveals nothing. */
export const hashOf = (key: string) => createHash("sha256").update(key).digest("hex");

/** The pipelines of a product, in one region or in all, in order of creation. */
export const pipelinesIn = (
  { pipelines: { pipelines } }: WithPipelines,
  product: Product,
  region?: string,
): Pipeline[] =>
  [...pipelines.values()].filter(
    (each) => each.product === product && (region === undefined || each.region === region),
  );

/** How long the lines of a tag are kept, in milliseconds; those of a tag that the pipeline no longer has, for ever. */
export function lineRetention({ pipelines: { pipelines } }: WithPipelines, id: string, tag: string): number {
  const days = pipelines.get(id)?.logs.find((each) => each.tag === tag)?.retentionInDays ?? 0;
  return days === 0 ? Number.POSITIVE_INFINITY : days * 86_400_000;
}

/** Neither FAILED nor being deleted. */
const isKept = ({ state }: Pipeline) => state === "AVAILABLE" || state === "PROVISIONING";

/** A pipeline takes data once it is ready, also while it is changed. */
export const takesData = (pipeline: Pipeline) => isKept(pipeline) && pipeline.wasReady;

/** Why a pipeline does not take lines with a tag over a protocol; undefined when it does. */
export function objection({ logs }: Pipeline, tag: string, protocol: Stream["protocol"]): string | undefined {
  const stream = logs.find((each) => each.tag === tag);
  if (stream === undefined) return `the pipeline has no log with the tag "${tag.slice(0, 100)}"`;
  if (stream.protocol !== protocol) return `the log "${tag}" takes ${stream.protocol}, not ${protocol}`;
  return undefined;
}
