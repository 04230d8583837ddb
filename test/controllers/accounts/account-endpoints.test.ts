import { describe, expect, test } from "vitest";
import { type AccountDeps, reconcileAccount } from "../../../src/controllers/accounts/reconcile.ts";
import { createTokenStore } from "../../../src/controllers/accounts/token-store.ts";
import { accountOf } from "../../../src/engine/accounts/accounts.ts";
import { account } from "../../../src/kinds/identity/account.ts";
import { clusterAccount } from "../../../src/kinds/identity/cluster-account.ts";
import { type KubeObject, keyOf } from "../../../src/kube/resource.ts";
import { API } from "../../engine/support/fake-platform.ts";
import { clusterAccountOf, objectOf, tokens } from "../../engine/support/fixtures.ts";
import { stage } from "../../engine/support/stage.ts";

const ELSEWHERE = "http://elsewhere.test";
const ours = { api: API, logging: "http://{region}.logs.test" };
const only = (...allowed: string[]) => ({ endpoints: ours, isAllowed: (url: string) => allowed.includes(url) });

const credentialsSecretRef = { name: "cred" };

/** An Account or ClusterAccount, with an operator that allows these addresses. */
function open(object: KubeObject, sites: AccountDeps["sites"]) {
  const { deps, platform, api, accounts, objects } = stage([object]);
  const kind = object.kind === account.kind ? account : clusterAccount;
  const key = `${object.kind}/${keyOf(object)}`;
  const name = accountOf(key) ?? "";
  accounts.remove(name);
  const read: string[] = [];
  const all: AccountDeps = {
    ...deps,
    tokenStore: createTokenStore({ client: deps.client, clock: deps.clock, guard: () => {} }, "mooring-system"),
    home: "mooring-system",
    sites,
    transport: { connect: (id) => platform.connectionOf(id), close: async () => {} },
    secrets: {
      ...tokens,
      read(_, namespace, secret) {
        read.push(`${namespace}/${secret}`);
        return { known: true, value: "token" };
      },
    },
    changed: () => {},
    clusterName: () => undefined,
    hasCleanup: () => false,
  };
  /** Checks it once, as it is or with another spec. */
  async function checkOnce(spec = object.spec) {
    read.length = 0;
    platform.calls.length = 0;
    const now = { ...(objects.find(key)?.object ?? object), spec };
    const again = await reconcileAccount(all, name, { kind, object: now });
    const conditions: unknown = Reflect.get(Object(api.get(object)?.status), "conditions");
    const asked = platform.calls.map(({ url }) => new URL(url).origin);
    return { again, conditions, handle: accounts.get(name), read, asked };
  }
  return checkOnce;
}
const own = (spec: object) => objectOf("Account", "main", { spec: { credentialsSecretRef, ...spec } });
const check = (spec: object, sites: AccountDeps["sites"]) => open(own(spec), sites)();

describe("an Account without endpoints", () => {
  test("leads where the operator does, with its own region", async () => {
    const { conditions, handle, asked } = await check({ region: "de/txl" }, only());
    expect(conditions).toMatchObject([{ type: "Ready", status: "True" }]);
    expect(asked).toEqual([API]);
    expect(handle?.endpoint("logging")).toBe("http://de-txl.logs.test");
    expect(() => handle?.endpoint("dns")).toThrow("set spec.endpoints.dns of the Account");
  });

  test("one Secret serves two regions, with an Account for each", async () => {
    for (const region of ["de/txl", "de/fra"]) {
      const { handle, read } = await check({ region }, only());
      expect(handle?.endpoint("logging")).toBe(`http://${region.replace("/", "-")}.logs.test`);
      expect(new Set(read)).toEqual(new Set(["shop/cred"]));
    }
  });

  test("says what to do where the operator has none either, and reads no Secret", async () => {
    const { conditions, read, asked } = await check({}, { endpoints: {}, isAllowed: () => true });
    expect(conditions).toMatchObject([
      { reason: "EndpointInvalid", message: expect.stringContaining("--endpoint api=URL") },
      { type: "Stalled" },
    ]);
    expect([read, asked]).toEqual([[], []]);
  });
});

describe("an endpoint of an Account's own", () => {
  test("counts where the operator allows it, and the operator's others beside it", async () => {
    const { handle, asked } = await check({ endpoints: { api: ELSEWHERE }, region: "de/txl" }, only(ELSEWHERE));
    expect(asked).toEqual([ELSEWHERE]);
    expect(handle?.endpoint("logging")).toBe("http://de-txl.logs.test");
  });

  test("counts where it is the operator's own", async () => {
    expect((await check({ endpoints: { api: API } }, only())).conditions).toMatchObject([{ status: "True" }]);
  });

  test.each([
    ["api", { api: ELSEWHERE }, ELSEWHERE],
    ["logging", { logging: "http://{region}.elsewhere.test" }, "http://de-txl.elsewhere.test"],
  ])("for %s that is not allowed is told of: nothing is sent and no Secret is read", async (name, endpoints, url) => {
    const { conditions, read, asked, again, handle } = await check({ endpoints, region: "de/txl" }, only());
    const message = `spec.endpoints.${name}: the operator does not allow ${url}: remove the field to use the operator's own address, or ask the administrator to allow it (--allow-endpoint)`;
    expect(conditions).toMatchObject([{ reason: "EndpointNotAllowed", message }, { type: "Stalled" }]);
    expect([read, asked, again]).toEqual([[], [], "never"]);
    expect(handle?.obstacle).toMatchObject({ reason: "EndpointNotAllowed" });
  });

  test("that an Account which has worked is edited to leads nobody there", async () => {
    const checkOnce = open(own({}), only());
    expect((await checkOnce()).handle?.obstacle).toBeUndefined();
    const { handle, read, asked } = await checkOnce({ credentialsSecretRef, endpoints: { api: ELSEWHERE } });
    expect(handle?.obstacle).toMatchObject({ reason: "EndpointNotAllowed" });
    expect(() => handle?.endpoint("api")).toThrow("does not allow");
    expect([read, asked]).toEqual([[], []]);
  });
});

describe("a ClusterAccount", () => {
  const checkOnce = (spec: object) => open(clusterAccountOf("team", spec), only())();

  test("has its Secret in the operator's namespace", async () => {
    expect(new Set((await checkOnce({})).read)).toEqual(new Set(["mooring-system/cred"]));
  });

  test("lets ids lead to what it says, and an Account to anything", async () => {
    const adoption = async (spec: object) => (await checkOnce(spec)).handle?.adoption;
    expect([await adoption({}), await adoption({ adoption: "Any" })]).toEqual(["None", "Any"]);
    expect((await check({}, only())).handle?.adoption).toBe("Any");
  });

  test("is held to the operator's word about addresses as well", async () => {
    const { conditions, read } = await checkOnce({ endpoints: { api: ELSEWHERE } });
    expect(conditions).toMatchObject([{ reason: "EndpointNotAllowed" }, { type: "Stalled" }]);
    expect(read).toEqual([]);
  });
});
