import type { Subject } from "./subject.ts";
import { account } from "./surroundings.ts";

const spec = {
  accountRef: { kind: "ClusterAccount", name: "shared" },
  models: ["openai/gpt-oss-120b"],
  budget: { eurPerDay: 2.5 },
};

export const inferenceAccess: Subject = {
  kind: "InferenceAccess",
  spec,
  life: (ground) => ({
    prerequisites: [account(ground)],
    spec,
    changes: [{ title: "update", spec: { ...spec, models: ["BAAI/bge-m3"] } }],
  }),
};
