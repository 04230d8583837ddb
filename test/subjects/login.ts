import { tokenSecretName } from "../../src/controllers/accounts/token-store.ts";
import { RECONCILE_AT } from "../../src/engine/state/names.ts";
import { readFacts } from "../../src/engine/status/status.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { workingToken } from "./kinds/identity/access-token.ts";
import type { Life } from "./subject.ts";
import { type Ground, LOGIN } from "./surroundings.ts";

const DAY_SECONDS = 86_400;

const accountKeyOf = ({ kind, metadata: { namespace, name } }: KubeObject): string =>
  namespace === undefined ? `${kind}/${name}` : `${namespace}/${name}`;

/** Of an Account that logs in with a password: its token is made, renewed, given up for one that the user brings, and made again. */
export function lifeWithPassword(brought: object, { api, direct = api }: Ground): Partial<Life> {
  const spec = { ...brought, credentialsSecretRef: { name: LOGIN }, tokenLifetime: "1d" };
  return {
    spec,
    changes: [
      {
        title: "renew",
        spec,
        annotations: { [RECONCILE_AT]: "later" },
        afterSeconds: (DAY_SECONDS * 3) / 4,
        renewsKey: true,
      },
      { title: "bring a token", spec: brought },
      { title: "log in again", spec: { ...spec, region: "de/fra" } },
    ],
    secrets: (object) =>
      readFacts(object).tokenId === undefined ? [] : [{ name: tokenSecretName(accountKeyOf(object)), works }],
  };

  async function works(data: Record<string, string>): Promise<string | undefined> {
    return data.token === undefined ? "it has no token" : workingToken(direct, data.token);
  }
}
