import { ROTATE_AT } from "../../src/engine/state/names.ts";
import { accessToken as kind } from "../../src/kinds/identity/access-token.ts";
import { remembered } from "../cluster/hands.ts";
import { secretOf } from "./pipeline.ts";
import { replaced, type Subject } from "./subject.ts";

/** Why the platform does not take this token; undefined when it does. */
export async function workingToken(api: string, token: string): Promise<string | undefined> {
  const { status } = await fetch(`${api}/cloudapi/v6/contracts`, { headers: { authorization: `Bearer ${token}` } });
  return status === 200 ? undefined : `the platform answers ${status} to a call with its token`;
}

const spec = { lifetime: "1d" };
const longer = { spec: { lifetime: "30d" }, shows: { ttl: 2_592_000 } };

export const accessToken: Subject = {
  kind: "AccessToken",
  spec,
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
};
