import { beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { api, type Landscape, landscape } from "../landscape.ts";
import { datacenter } from "../objects.ts";

let world: Landscape;
const user = z.looseObject({ userId: z.string() });
const spec = z.looseObject({ spec: z.looseObject({}) });

beforeAll(async () => {
  world = await landscape({ rolesOnly: true, operator: ["--retry", "1s"] });
});

/** A user of the platform, and an Account that logs in as this user. */
async function enter(name: string, more: object = {}): Promise<string> {
  const login = { username: `${name}@example.org`, password: `the-password-of-${name}` };
  const { userId } = user.parse(
    await world.platform.call("POST", "/_simulator/users", { ...login, role: "administrator", ...more }),
  );
  const account = spec.parse(await world.get("account/main")).spec;
  await world.apply(
    { apiVersion: "v1", kind: "Secret", metadata: { name }, stringData: login },
    {
      apiVersion: api,
      kind: "Account",
      metadata: { name },
      spec: { ...account, credentialsSecretRef: { name }, tokenLifetime: "1d" },
    },
  );
  return userId;
}
const tokensOf = async (userId: string) =>
  (await world.platform.resources("tokens")).filter(
    (token) => token.userId === userId && token.properties?.ttl === 86_400,
  );

it("an Account with a password works with tokens that are made, renewed and revoked for it", async () => {
  const userId = await enter("ops");
  await world.untilReady("account/ops");
  const [first, ...more] = await tokensOf(userId);
  expect(more).toEqual([]);
  expect(await world.value("account/ops", "{.status.tokenId}")).toBe(first?.id);
  await world.apply(datacenter("dc", { accountRef: { name: "ops" } }));
  await world.untilReady("datacenter/dc");

  await world.platform.call("POST", "/_simulator/advance", { seconds: 16 * 3600 });
  await world.kubectl("annotate", "account", "ops", "mooring.dev/reconcile-at=now");
  await expect.poll(() => world.value("account/ops", "{.status.tokenId}")).not.toBe(first?.id);
  expect((await tokensOf(userId)).length).toBeLessThanOrEqual(2);
  await world.untilReady("account/ops");

  await world.kubectl("delete", "datacenter/dc", "account/ops", "--timeout=60s");
  expect(await tokensOf(userId)).toEqual([]);
});

it("an Account whose user has a second factor says that it needs a token, and works as soon as it has one", async () => {
  await enter("careful", { twoFactor: true });
  await world.untilReason("account/careful", "Unauthorized");
  const message = await world.value("account/careful", '{.status.conditions[?(@.type=="Ready")].message}');
  expect(message).toContain("put a token into key token of Secret careful");
  const stringData = { token: world.platform.token };
  await world.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "careful" }, stringData });
  await world.untilReady("account/careful");
});

it("an Account that gets a token instead of its password uses that one, and nothing is left of those that it had", async () => {
  const userId = await enter("changed");
  await world.untilReady("account/changed");
  expect(await tokensOf(userId)).toHaveLength(1);
  const stringData = { token: world.platform.token };
  await world.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "changed" }, stringData });
  await expect.poll(() => world.value("account/changed", "{.status.tokenId}")).toBe("");
  await world.untilReady("account/changed");
  expect(await tokensOf(userId)).toEqual([]);
});
