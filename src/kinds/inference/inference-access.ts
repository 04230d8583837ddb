import { z } from "zod";
import { listed, listedField } from "../fields/column.ts";
import { formed, list, managed, managedRules, objectName, whenManaged } from "../fields/fields.ts";
import { plain, webAddress } from "../fields/secrets/encode.ts";
import { tokenColumns, tokenImmutable, tokenMapping, tokenSpec, tokenStatus } from "../identity/token.ts";
import { type Kind, mapping } from "../kind.ts";
import { modelStatus, modelsIn } from "./catalogue.ts";

const modelId = () =>
  formed(
    /^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9][A-Za-z0-9._-]*$/,
    128,
    "must be the id of a model <publisher>/<name>, for example openai/gpt-oss-120b",
  );

const spec = z.object({
  ...managed,
  models: list(modelId().describe("Id of a model."), { max: 64, unique: "itself" })
    .min(1)
    .optional()
    .describe("Models that workloads of the namespace may use, by their ids in /v1/models."),
  secretName: objectName()
    .optional()
    .describe(
      "Name of a Secret with a token of the platform, for workloads that call it themselves; the token is replaced before it expires. Default: none, the models are used through the gateway only. Changing it later creates a new token; removing it revokes the token.",
    ),
  ...tokenSpec,
  budget: z
    .object({
      eurPerDay: z
        .number()
        .min(0)
        .max(1_000_000)
        .optional()
        .describe("Maximum cost of calls per day (UTC) in EUR; 0 allows none. Default: no limit."),
      tokensPerCall: z
        .int()
        .min(1)
        .max(1_000_000)
        .optional()
        .describe(
          "Maximum tokens of an answer. A call that asks for more is refused; a call without a maximum gets this one. Default: no limit; a call without a maximum gets 4096.",
        ),
    })
    .optional()
    .describe("Budget for calls through the gateway."),
});
type Spec = z.output<typeof spec>;

/** The platform's limits per contract. */
const LIMITS = { requestsPerSecond: 5, burst: 10, imagesPerMinute: 10, imageBurst: 20 };

const status = z.object({
  ...tokenStatus,
  models: z
    .array(modelStatus.describe("A model."))
    .meta({ "x-kubernetes-list-type": "atomic" })
    .optional()
    .describe("The models with their limits and prices."),
  modelNames: listedField("Models"),
  limits: z
    .object({
      requestsPerSecond: z.number().describe("Calls per second."),
      burst: z.number().describe("Calls at once."),
      imagesPerMinute: z.number().describe("Calls for images per minute."),
      imageBurst: z.number().describe("Calls for images at once."),
    })
    .optional()
    .describe("Limits of the contract, shared by all its users."),
  usage: z
    .object({
      day: z.string().describe("The day, in UTC."),
      eur: z.number().describe("EUR of the budget that replicas of the gateway have taken, in steps of one percent."),
    })
    .optional()
    .describe("Cost of calls through the gateway, if there is a budget."),
});
const shownModels = status.pick({ models: true, limits: true, usage: true });

/** The entry of a model in the Secret; also a valid name of an environment variable. */
const keyOf = (model: string): string => `MODEL_${model.replace(/[^A-Za-z0-9]/g, "_").toUpperCase()}`;

const token = tokenMapping<Spec>("OPENAI_API_KEY", ({ secretName, models = [] }) =>
  secretName === undefined
    ? undefined
    : {
        name: secretName,
        data: (_, key, addressOf) => ({
          OPENAI_BASE_URL: webAddress("OPENAI_BASE_URL", `${addressOf("inference").replace(/\/+$/, "")}/v1`),
          OPENAI_API_KEY: plain("token", key),
          ...Object.fromEntries(models.map((model) => [keyOf(model), model])),
        }),
      },
);

export const inferenceAccess: Kind = {
  kind: "InferenceAccess",
  plural: "inferenceaccesses",
  governs: true,
  shortNames: ["ia"],
  limit: 100,
  description: "Models of the platform that workloads of this namespace may use, by a token or through the gateway.",
  spec,
  status,
  rules: [...managedRules, whenManaged({ rule: "has(self.models)", message: "models is required" })],
  immutable: tokenImmutable,
  comparable: Object.keys(tokenImmutable),
  columns: [
    { name: "Models", type: "string", path: ".status.modelNames", description: "Models that may be used" },
    { name: "Budget", type: "string", path: ".spec.budget.eurPerDay", description: "EUR per day" },
    { name: "Used", type: "string", path: ".status.usage.eur", description: "EUR used of the budget of the day" },
    ...tokenColumns,
  ],
  resource: mapping(spec, {
    ...token,
    place: { ...token.place, hosts: ["inference"] },
    creation: {
      ...token.creation,
      check: ({ models = [] }) => ({
        field: "models",
        endpoint: "inference",
        path: "/v1/models",
        asked: models,
        judge(answer) {
          const found = modelsIn(answer, models);
          return "problem" in found ? found : { facts: { models: found.models, limits: LIMITS } };
        },
      }),
      problem({ models = [] }) {
        const keys = models.map(keyOf);
        const duplicate = models.find((model, at) => keys.indexOf(keyOf(model)) < at);
        return (
          duplicate &&
          `models: ${duplicate} and another model have the same key ${keyOf(duplicate)} in the Secret: remove one`
        );
      },
      advice: ({ secretName, budget }) =>
        secretName === undefined || budget?.eurPerDay === undefined
          ? []
          : [
              `the budget holds for calls through the gateway only: the token in key OPENAI_API_KEY of Secret ${secretName} is not bound by it`,
            ],
    },
    comparison: {
      ...token.comparison,
      facts(item, { shown }) {
        const seen = shownModels.safeParse(shown).data;
        const modelNames = listed(seen?.models?.map(({ id }) => id));
        return { ...seen, ...(modelNames !== undefined && { modelNames }), ...token.comparison.facts(item) };
      },
    },
  }),
};

/** Undefined if the spec cannot be parsed: then it gives access to nothing. */
export const readInferenceAccess = (raw: unknown): Spec | undefined => spec.safeParse(raw).data;
