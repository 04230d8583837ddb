import { z } from "zod";
import { checked } from "../core/kind/body.ts";
import type { Call, Route } from "../http/exchange.ts";
import { invalid } from "../http/refusal.ts";
import { regions } from "../pipelines/kinds.ts";
import { centralLinesId } from "../pipelines/product-logs.ts";
import { type Product, pipelineOf } from "../records/pipelines.ts";
import { timestamp } from "../time.ts";
import type { World } from "../world.ts";

/** An instant in ISO form. */
const since = z.iso
  .datetime({ offset: true, error: "must be a time such as 2026-01-31T12:00:00Z" })
  .transform((text) => Date.parse(text))
  .optional();
const limit = z.coerce.number().int().min(1).max(10_000).default(1_000);
const pipeline = z.string();

const samplesQuery = z.strictObject({ pipeline, name: z.string().optional(), since });
const region = z.enum([...regions], { error: "must be a region such as de-txl" });
const linesQuery = z.strictObject({
  pipeline: pipeline.optional(),
  /** The region whose central logging is asked, in the place of a pipeline. */
  central: region.optional(),
  tag: z.string().optional(),
  since,
  limit,
});

/** Samples and lines that pipelines have received, for tests and for people. They are gone with their pipeline. */
export function readingRoutes(world: World): Route[] {
  const route = (path: string, read: (call: Call) => unknown): Route => ({
    method: "GET",
    template: `/_simulator/${path}`,
    access: "steering",
    handle: (call) => ({ status: 200, body: read(call), indent: true }),
  });
  return [
    route("samples", (call) => {
      const { pipeline: id, ...filter } = checked(samplesQuery, Object.fromEntries(call.query), "(query)");
      requirePipeline(world, "metrics", id);
      return { ...world.samples.counts(id), items: world.samples.read(id, filter) };
    }),
    route("lines", (call) => {
      const {
        pipeline: named = "",
        central,
        ...filter
      } = checked(linesQuery, Object.fromEntries(call.query), "(query)");
      if (central === undefined) requirePipeline(world, "logs", named);
      const id = central === undefined ? named : centralLinesId(world, central);
      const items = world.lines.read(id, filter);
      return { ...world.lines.counts(id), items: items.map((line) => ({ ...line, at: timestamp(line.at) })) };
    }),
  ];
}

function requirePipeline(world: World, product: Product, id: string): void {
  if (pipelineOf(world, product, id) !== undefined) return;
  throw invalid("(query).pipeline", `there is no pipeline for ${product} with the id "${id}"`);
}
