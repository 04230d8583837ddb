import { deliver, rotated, secretOf } from "./pipeline.ts";
import type { Subject } from "./subject.ts";

export const metricPipeline: Subject = {
  kind: "MetricPipeline",
  spec: {},
  prefix: "mp",
  wire: {
    collection: "metricPipelines",
    path: () => "/monitoring/de-txl/pipelines",
    body: (name) => ({ properties: { name } }),
  },
  change: (name) => ({ spec: { name: `${name}-again` }, shows: { name: `${name}-again` } }),
  life: ({ nth }) => {
    const renamed = { name: `renamed-${nth}` };
    return {
      changes: [{ title: "update", spec: renamed, shows: renamed }, rotated(renamed)],
      secrets: secretOf(({ endpoint, key }) => deliver(endpoint, key, "text/plain", "alive 1\n")),
    };
  },
};
