import { ROTATE_AT } from "../../../../src/engine/state/names.ts";
import { inferenceAccess as kind } from "../../../../src/kinds/inference/inference-access.ts";
import { remembered } from "../../../cluster/hands.ts";
import { bad, fixedField, good } from "../../manifests.ts";
import { secretOf } from "../../pipeline.ts";
import { replaced, type Subject } from "../../subject.ts";

const spec = { models: ["openai/gpt-oss-120b"], lifetime: "4h", budget: { eurPerDay: 2.5, tokensPerCall: 2000 } };
const base = { kind: "InferenceAccess", spec };
const longer = { spec: { lifetime: "60d" }, shows: { ttl: 5_184_000 } };

export const subject: Subject = {
  ...base,
  own: (name) => ({ secretName: `${name}-inferenceaccess` }),
  wire: { collection: "tokens", path: () => "/auth/v1/tokens" },
  hands: remembered(kind, 14_400),
  shows: () => ({ ttl: 14_400 }),
  otherFields: (name) => ({ models: spec.models, secretName: `${name}-inferenceaccess` }),
  unlike: { lifetime: "7d" },
  fixedChange: longer,
  life({ nth, api, direct = api }) {
    const own = { ...spec, secretName: `models-${nth}` };
    const models = ["openai/gpt-oss-120b", "BAAI/bge-m3"];
    return {
      spec: own,
      changes: [
        { title: "rotate", spec: own, annotations: { [ROTATE_AT]: "first" }, renewsKey: true },
        { title: "update", spec: { ...own, models } },
        { ...replaced({ ...own, models }, longer), renewsKey: true },
      ],
      secrets: secretOf(async ({ OPENAI_BASE_URL, OPENAI_API_KEY, MODEL_OPENAI_GPT_OSS_120B }) => {
        const url = `${OPENAI_BASE_URL?.replace(api, direct)}/models/${encodeURIComponent(MODEL_OPENAI_GPT_OSS_120B ?? "")}`;
        const { status } = await fetch(url, { headers: { authorization: `Bearer ${OPENAI_API_KEY}` } });
        return status === 200 || status === 429 ? undefined : `the platform answers ${status} to a call with its token`;
      }),
    };
  },
  manifests: {
    accepted: [
      ...good(base, "InferenceAccess", [
        ["with everything", {}],
        ["without a budget, through an Account", { budget: null, accountRef: { kind: "Account", name: "main" } }],
        ["for the gateway only", { secretName: null, lifetime: null }],
        ["as small as can be", { budget: null, accountRef: null, secretName: null, lifetime: null }],
        ["with a budget that says nothing", { budget: { eurPerDay: null, tokensPerCall: null } }],
        ["with nothing to spend", { budget: { eurPerDay: 0 } }],
      ]),
    ],
    refused: [
      ...bad(base, "InferenceAccess", [
        ["without models", { models: null }, "models is required"],
        ["a Secret in upper case", { secretName: "Models" }, "spec.secretName", "must be the name of an object"],
        ["a lifetime that the platform does not have", { lifetime: "2h" }, "spec.lifetime", '"1h", "4h", "1d"'],
        ["with no model", { models: [] }, "spec.models", "at least 1"],
        ["a model without a publisher", { models: ["gpt-oss-120b"] }, "spec.models[0]", "<publisher>/<name>"],
        ["a model that is a path", { models: ["../v1"] }, "spec.models[0]", "<publisher>/<name>"],
        ["a model twice", { models: ["a/b", "a/b"] }, "spec.models", "must not contain duplicates"],
        [
          "less than nothing to spend",
          { budget: { eurPerDay: -1 } },
          "spec.budget.eurPerDay",
          "greater than or equal to 0",
        ],
        [
          "answers of no token",
          { budget: { tokensPerCall: 0 } },
          "spec.budget.tokensPerCall",
          "greater than or equal to 1",
        ],
      ]),
    ],
    changes: {
      fixed: [fixedField(base, "lifetime", "7d", "the lifetime of a token is fixed when it is created")],
    },
  },
};
