import { deliver, rotated, secretOf } from "./pipeline.ts";
import type { Subject } from "./subject.ts";

const app = { source: "generic", tag: "app", protocol: "http" };
const more = { logs: [app, { source: "docker", tag: "web", protocol: "tcp" }] };

export const logPipeline: Subject = {
  kind: "LogPipeline",
  spec: { logs: [app] },
  prefix: "lp",
  wire: {
    collection: "logPipelines",
    path: () => "/logging/de-txl/pipelines",
    body: (name) => ({ properties: { name, logs: [app] } }),
  },
  change: (name) => ({ spec: { name: `${name}-again` }, shows: { name: `${name}-again` } }),
  life: () => ({
    changes: [{ title: "update", spec: more }, rotated(more)],
    secrets: secretOf(({ httpAddress, key }) =>
      deliver(`${httpAddress}/app`, key, "application/json", JSON.stringify({ message: "alive" })),
    ),
  }),
};
