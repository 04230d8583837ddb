import { isVisible } from "../store/shown.ts";
import { timestamp } from "../time.ts";
import type { World } from "../world.ts";
import { centralsIn } from "./central.ts";
import { type Product, pipelinesIn } from "./records.ts";
import { shownStream } from "./view.ts";

/** What steering shows of all pipelines: no key, and no hash of one. */
export function pipelineState(world: World) {
  const shown = (product: Product) =>
    pipelinesIn(world, product).map((pipeline) => ({
      id: pipeline.id,
      type: "pipeline",
      region: pipeline.region,
      state: pipeline.state,
      failure: pipeline.failure,
      visible: isVisible(pipeline, world.clock.now()),
      keyVersion: pipeline.keyVersion,
      createdDate: timestamp(pipeline.createdAt),
      createdByUserId: pipeline.createdBy,
      received: product === "logs" ? world.lines.counts(pipeline.id) : world.samples.counts(pipeline.id),
      properties: {
        name: pipeline.name,
        ...(product === "logs" && { logs: pipeline.logs.map((stream) => shownStream(stream, world.forms)) }),
      },
    }));
  return { metricPipelines: shown("metrics"), logPipelines: shown("logs"), centrals: centralsIn(world) };
}
