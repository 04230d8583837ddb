import { ROTATE_AT } from "../../../../src/engine/state/names.ts";
import { accessToken as kind } from "../../../../src/kinds/identity/access-token.ts";
import { remembered } from "../../../cluster/hands.ts";
import { bad, each, fixedField, good, observed } from "../../manifests.ts";
import { secretOf } from "../../pipeline.ts";
import { replaced, type Subject } from "../../subject.ts";

/** Why the platform does not take this token; undefined when it does. */
export async function workingToken(api: string, token: string): Promise<string | undefined> {
  const { status } = await fetch(`${api}/cloudapi/v6/contracts`, { headers: { authorization: `Bearer ${token}` } });
  return status === 200 ? undefined : `the platform answers ${status} to a call with its token`;
}

const spec = { lifetime: "1d" };
const base = { kind: "AccessToken", spec };
const longer = { spec: { lifetime: "30d" }, shows: { ttl: 2_592_000 } };

export const subject: Subject = {
  ...base,
  wire: { collection: "tokens", path: () => "/auth/v1/tokens" },
  hands: remembered(kind, 86_400),
  shows: () => ({ ttl: 86_400 }),
  unlike: { lifetime: "7d" },
  fixedChange: longer,
  life: ({ api, direct = api }) => ({
    changes: [
      { title: "rotate", spec, annotations: { [ROTATE_AT]: "first" }, renewsKey: true },
      { ...replaced(spec, longer), renewsKey: true },
    ],
    secrets: secretOf(async ({ token = "" }) => workingToken(direct, token)),
  }),
  manifests: {
    accepted: [
      ...good(base, "AccessToken", [
        ["as small as can be", { lifetime: null }],
        ...each("lifetime", ["1h", "4h", "1d", "7d", "30d", "60d", "90d", "180d", "365d"]),
        ["a Secret of another name", { secretName: "platform.access-1" }],
        ["only observed, by nothing but its id", { ...observed, lifetime: null }],
      ]),
    ],
    refused: [
      ...bad(base, "AccessToken", [
        ["a lifetime that the platform does not have", { lifetime: "2h" }, "spec.lifetime", '"1h", "4h", "1d"'],
        ["a Secret that cannot be", { secretName: "My_Secret" }, "spec.secretName", "must be the name of an object"],
        ["observed without an id", { managementPolicy: "Observe" }, "managementPolicy Observe needs externalId"],
      ]),
    ],
    changes: {
      accepted: [...good(base, "AccessToken", [["another Secret", { secretName: "b" }]])],
      fixed: [fixedField(base, "lifetime", "7d", "the lifetime of a token is fixed when it is created")],
    },
  },
};
