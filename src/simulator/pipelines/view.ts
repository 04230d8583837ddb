import type { Forms } from "../http/exchange.ts";
import { stampsOf, urnOf } from "../managed/service.ts";
import type { World } from "../world.ts";
import type { Pipeline, Stream } from "./records.ts";
import { dashboardOf, hrefOf, type RegionalCall, services } from "./service.ts";

/** A pipeline as calls see it; with the key only in the answer to its creation. */
export function shownPipeline(world: World, call: RegionalCall, pipeline: Pipeline, key?: string) {
  const { id, product, region, state, failure } = pipeline;
  const { forms } = world;
  const inProperties = (word: string) => forms.described && { status: word };
  const metadata = {
    ...stampsOf(world, call, pipeline),
    resourceURN: urnOf(world, services[product], "pipeline", id),
    ...(forms.public && state === "FAILED" && { statusMessage: failure }),
  };
  const resource = { id, type: "pipeline", href: hrefOf(call.origin, product, region, `pipelines/${id}`) };
  const told = key === undefined ? {} : { key };
  switch (product) {
    case "metrics":
      return {
        ...resource,
        metadata: {
          ...metadata,
          ...(forms.public && { status: state }),
          grafanaEndpoint: dashboardOf(world, call.origin, region),
          httpEndpoint: `${call.origin}/ingest/metrics/${id}`,
          ...told,
        },
        properties: { name: pipeline.name, ...inProperties(state) },
      };
    case "logs":
      return {
        ...resource,
        metadata: { ...metadata, ...(forms.public && { state }) },
        properties: {
          name: pipeline.name,
          logs: pipeline.logs.map((stream) => shownStream(stream, forms)),
          ...(pipeline.resourceTier !== null && { resourceTier: pipeline.resourceTier }),
          tcpAddress: world.forwardAddress(),
          httpAddress: `${call.origin}/ingest/logs/${id}`,
          grafanaAddress: dashboardOf(world, call.origin, region),
          ...inProperties(state === "AVAILABLE" ? "Ready" : state),
          ...told,
        },
      };
  }
}

/** The retention has a spelling of its own in each form. */
export const shownStream = ({ retentionInDays, ...stream }: Stream, forms: Forms) => ({
  ...stream,
  ...(forms.described && { retentionInDays: retentionInDays === 0 ? "unlimited" : retentionInDays }),
  ...(forms.public && { destinations: [{ type: "loki", retentionInDays }] }),
});
