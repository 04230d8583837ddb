import type { Subject } from "./subject.ts";
import { account, EXPORTED, manifest } from "./surroundings.ts";

const spec = {
  destination: {
    bucket: { name: "audit", endpoint: "https://s3.example.com", prefix: "log/", secretRef: { name: "s3" } },
  },
};

const pipeline = (name: string) =>
  manifest("LogPipeline", name, { logs: [{ source: "generic", tag: EXPORTED, protocol: "http" }] });
/** How many reads there are, the operator's own among them, nobody knows. */
const to = (name: string) => ({ destination: { logPipelineRef: { name } }, reads: "Exclude" });

export const activityLogExport: Subject = {
  kind: "ActivityLogExport",
  spec,
  life: (ground) => ({
    prerequisites: [account(ground), pipeline("first"), pipeline("second")],
    spec: to("first"),
    changes: [
      // Two pipelines, accepted and provisioned.
      { title: "update", spec: to("second"), afterSeconds: 180, says: { entriesDelivered: 4 } },
    ],
  }),
};
