import { centralLinesId, productTags } from "../pipelines/product-logs.ts";
import { type Pipeline, pipelinesIn } from "../records/pipelines.ts";
import type { ArrivedLine } from "../telemetry/lines.ts";
import type { Series } from "../telemetry/samples.ts";
import type { World } from "../world.ts";
import type { Curve, Span } from "./chart.ts";

export const mostCharts = 20;
export const mostLines = 200;
const hour = 3_600_000;
/** Per curve; a screen does not show more. */
const mostPoints = 300;
/** A shorter span would show mostly noise. */
const shortest = 300_000;

export interface Filter {
  /** Only metrics with this in their name. */
  metric: string;
  /** Only lines with this tag; empty for all. */
  tag: string;
}

/** All that the page of a region shows. */
export interface Region {
  pipelines: Pipeline[];
  span: Span;
  /** By metric, in order of their names; no more than `mostCharts`. */
  charts: [name: string, curves: Curve[]][];
  /** How many metrics there are. */
  metrics: number;
  tags: string[];
  /** Newest first. */
  lines: ArrivedLine[];
}

/**
 * The data of the pipelines of a region: the metrics of the hour up to the newest sample, and the newest lines. Samples
 * later than `now` do not move the hour.
 */
export function regionOf(world: World, region: string, { metric, tag }: Filter, now: number): Region {
  const metricPipelines = pipelinesIn(world, "metrics", region);
  const logPipelines = pipelinesIn(world, "logs", region);

  const newest = Math.max(0, ...metricPipelines.map(({ id }) => world.samples.newest(id) ?? 0));
  const to = newest === 0 ? now : Math.min(now, newest);
  const lastHour = { since: to - hour, until: to };
  const byName = new Map<string, Curve[]>();
  let earliest = to;
  for (const pipeline of metricPipelines) {
    for (const { labels, samples } of world.samples.read(pipeline.id, { ...lastHour, most: mostPoints })) {
      const name = labels.__name__ ?? "";
      if (!name.includes(metric)) continue;
      earliest = Math.min(earliest, samples[0]?.timestamp ?? to);
      const label = labelOf(labels, metricPipelines.length > 1 ? pipeline.name : "");
      const curves = byName.get(name) ?? [];
      curves.push({ label, samples });
      byName.set(name, curves);
    }
  }
  const charts = [...byName].sort(([a], [b]) => (a < b ? -1 : 1));

  const central = centralLinesId(world, region);
  const ids = [...logPipelines.map(({ id }) => id), central];
  const forwarded = productTags.filter((each) => world.lines.read(central, { tag: each, limit: 1 }).length > 0);
  return {
    pipelines: [...metricPipelines, ...logPipelines],
    span: { from: Math.min(earliest, to - shortest), to },
    charts: charts.slice(0, mostCharts),
    metrics: charts.length,
    tags: [...new Set([...logPipelines.flatMap(({ logs }) => logs.map((stream) => stream.tag)), ...forwarded])].sort(),
    lines: world.lines.newest(ids, { tag: tag === "" ? undefined : tag, limit: mostLines }),
  };
}

/** The labels as queries write them, without the metric's name; the pipeline's name where several are drawn together. */
function labelOf({ __name__: _, ...labels }: Series["labels"], pipeline: string): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return (
    [pipeline, pairs.length === 0 ? "" : `{${pairs.join(", ")}}`].filter((part) => part !== "").join(" ") || "value"
  );
}
