import { type AccountDeps, reconcileAccount } from "../../../src/controllers/accounts/reconcile.ts";
import { createTokenStore } from "../../../src/controllers/accounts/token-store.ts";
import { account } from "../../../src/kinds/identity/account.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { type PlatformError, Retry, Unauthorized } from "../../../src/platform/answers/errors.ts";
import { API } from "../../engine/support/fake-platform.ts";
import { objectOf, tokens } from "../../engine/support/fixtures.ts";
import { stage } from "../../engine/support/stage.ts";

export const KEY = "shop/main";
export const call = "GET /contracts";
const spec = { endpoints: { api: API }, credentialsSecretRef: { name: "cred" } };
export const unavailable = new Retry({ call, status: 503 }, "no");
export const refused = new Unauthorized({ call, status: 401, platformMessage: "the token is wrong" });

/** A token that names its user. */
export const jwtOf = (uuid: string): string =>
  [{ alg: "none" }, { identity: { uuid, contractNumber: 1 } }, "signature"]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");

/** An Account whose Secret is known and has a token, and the objects that use it. */
export function open(
  { contractNumber, ...metadata }: Partial<KubeObject["metadata"]> & { contractNumber?: number } = {},
  ...users: KubeObject[]
) {
  const chosen = { ...spec, ...(contractNumber !== undefined && { contractNumber }) };
  const object = objectOf("Account", "main", { spec: chosen, metadata: { name: "main", ...metadata } });
  const { deps, platform, api, accounts, objects } = stage([object, ...users]);
  accounts.remove("shop/main");
  const secret: { known: boolean; value: string | undefined; leaving?: boolean } = { known: true, value: "token" };
  const used: (string | undefined)[] = [];
  const said = { changed: 0, held: 0, released: 0, cleanupLeft: false, aheadMs: 0 };
  /** The user of the token. */
  const token: { userId: string; expiresAt?: number } = { userId: "u1" };
  /** Facts that a call reports besides its answer. */
  const heard = { call: () => {}, times: 0 };
  const all: AccountDeps = {
    ...deps,
    transport: {
      connect: (id) => ({
        ...platform.connectionOf(id),
        setCredentials: (credentials) => void used.push(credentials?.token),
        get identity() {
          return { ...token };
        },
        get aheadMs() {
          return said.aheadMs;
        },
      }),
      close: async () => {},
    },
    secrets: {
      ...tokens,
      read: () => secret,
      hold: async () => void said.held++,
      release: async () => void said.released++,
    },
    tokenStore: createTokenStore({ client: deps.client, clock: deps.clock, guard: () => {} }, "mooring-system"),
    home: "mooring-system",
    sites: { endpoints: {}, isAllowed: () => true },
    changed: () => void said.changed++,
    clusterName: () => undefined,
    hasCleanup: () => said.cleanupLeft,
  };
  /** One check, in which the platform answers or fails with this error. */
  async function check(error?: PlatformError) {
    platform.beforeEach(() => {
      heard.times += 1;
      heard.call();
      if (error) throw error;
    });
    const again = await reconcileAccount(all, KEY, {
      kind: account,
      object: objects.find(`Account/${KEY}`)?.object ?? object,
    });
    const conditions: unknown = Reflect.get(Object(api.get(object)?.status), "conditions");
    return { again, conditions, obstacle: accounts.get("shop/main")?.obstacle };
  }
  return { check, said, used, secret, token, heard, clock: deps.clock, api, object, objects, accounts };
}
