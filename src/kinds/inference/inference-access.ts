import { z } from "zod";
import { formed, list, managed } from "../fields/fields.ts";
import type { Kind } from "../kind.ts";

const modelId = () =>
  formed(
    /^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9][A-Za-z0-9._-]*$/,
    128,
    "must be the id of a model <publisher>/<name>, for example openai/gpt-oss-120b",
  );

const spec = z.object({
  accountRef: managed.accountRef
    .unwrap()
    .describe(
      "Account to use. The gateway serves the ClusterAccount that it was started for; it must admit the namespace.",
    ),
  models: list(modelId().describe("Id of a model."), { max: 64, unique: "itself" })
    .min(1)
    .describe("Models that workloads of the namespace may use through the gateway, by their ids in /v1/models."),
  budget: z
    .object({
      eurPerDay: z
        .number()
        .min(0)
        .max(1_000_000)
        .optional()
        .describe("EUR that the calls of a day of UTC may cost; 0 allows none. Default: no limit."),
    })
    .optional()
    .describe("What the calls may cost."),
});

export const inferenceAccess: Kind = {
  kind: "InferenceAccess",
  plural: "inferenceaccesses",
  shortNames: ["ia"],
  description: "Models of the platform that workloads of this namespace may use through the inference gateway.",
  spec,
  status: z.object({}),
  rules: [],
  immutable: {},
  columns: [
    { name: "Models", type: "string", path: ".spec.models", description: "Models that may be used" },
    { name: "Budget", type: "string", path: ".spec.budget.eurPerDay", description: "EUR per day" },
  ],
};

export type InferenceAccessSpec = z.output<typeof spec>;
/** What cannot be read gives access to nothing. */
export const readInferenceAccess = (raw: unknown): InferenceAccessSpec | undefined => spec.safeParse(raw).data;
