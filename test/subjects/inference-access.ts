import { ROTATE_AT } from "../../src/engine/state/names.ts";
import { inferenceAccess as kind } from "../../src/kinds/inference/inference-access.ts";
import { remembered } from "../cluster/hands.ts";
import { secretOf } from "./pipeline.ts";
import { replaced, type Subject } from "./subject.ts";

const spec = { models: ["openai/gpt-oss-120b"], lifetime: "4h", budget: { eurPerDay: 2.5, tokensPerCall: 2000 } };
const longer = { spec: { lifetime: "60d" }, shows: { ttl: 5_184_000 } };

export const inferenceAccess: Subject = {
  kind: "InferenceAccess",
  spec,
  own: (name) => ({ secretName: `${name}-inferenceaccess` }),
  wire: { collection: "tokens", path: () => "/auth/v1/tokens" },
  hands: remembered(kind, 14_400),
  shows: () => ({ ttl: 14_400 }),
  besides: (name) => ({ models: spec.models, secretName: `${name}-inferenceaccess` }),
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
};
