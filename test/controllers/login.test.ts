import { afterEach, describe, expect, test } from "vitest";
import { type AccountDeps, reconcileAccount } from "../../src/controllers/accounts/reconcile.ts";
import { createTokenStore, tokenSecretName } from "../../src/controllers/accounts/token-store.ts";
import { FINALIZER } from "../../src/engine/state/names.ts";
import { undivided } from "../../src/engine/state/shards.ts";
import { account } from "../../src/kinds/identity/account.ts";
import type { KubeCall } from "../../src/kube/client/transport.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { Retry, Unauthorized } from "../../src/platform/answers/errors.ts";
import type { PlatformCall } from "../../src/platform/calls/transport.ts";
import { hashBody } from "../../src/runtime/hash.ts";
import { fakeApiServer } from "../engine/support/fake-api-server.ts";
import { API } from "../engine/support/fake-platform.ts";
import { fakeTokens } from "../engine/support/fake-tokens.ts";
import { handleOf, intending, intentOf, objectOf, tokens } from "../engine/support/fixtures.ts";
import { BEGIN, stage } from "../engine/support/stage.ts";

const KEY = "shop/main";
const HOUR = 3_600_000;
const spec = { endpoints: { api: API }, credentialsSecretRef: { name: "cred" }, tokenLifetime: "1h" };

interface Visible {
  object: KubeObject;
  api: ReturnType<typeof fakeApiServer>;
  platform: ReturnType<typeof fakeTokens>;
  told: string[];
}
const worlds: Visible[] = [];
afterEach(() => {
  for (const { api, platform, object, told } of worlds.splice(0)) {
    const visible = JSON.stringify([api.get(object), told]);
    for (const value of [...platform.values, platform.login.password]) expect(visible).not.toContain(value);
  }
});

/** An Account with a password, on a platform and an API server that outlive the operator's processes. */
function open(related: KubeObject[] = [], { behindMs = 0, isKnown = true } = {}) {
  const object = objectOf("Account", "main", { spec, metadata: { name: "main", finalizers: [FINALIZER] } });
  let now = () => BEGIN;
  const platform = fakeTokens(() => now() - behindMs, isKnown ? -behindMs : 0);
  const api = fakeApiServer(object, ...related);
  const told: string[] = [];
  const secret: Record<string, string> = { ...platform.login };
  let nonces = 0;
  worlds.push({ object, api, platform, told });
  const secretOf = (name: string) =>
    api.get(objectOf("Secret", name, { ...home, metadata: { ...home.metadata, name } }));
  const kept = () => secretOf(tokenSecretName(KEY))?.data;
  function live(shards = undivided) {
    const life = stage([object, ...related], { api, connection: platform.connection, wallTime: now() });
    now = life.clock.now;
    life.accounts.remove(KEY);
    const deps: AccountDeps = {
      ...life.deps,
      shards,
      nonce: () => `unique-${++nonces}`,
      transport: { connect: () => platform.connection, close: async () => {} },
      secrets: { ...tokens, read: (_, __, ___, key) => ({ known: true, value: secret[key] }) },
      tokenStore: createTokenStore(life.deps, "mooring-system"),
      home: "mooring-system",
      sites: { endpoints: {}, isAllowed: () => true },
      changed: () => {},
      hasCleanup: () => false,
    };
    async function check() {
      life.sync();
      const again = await reconcileAccount(deps, KEY, {
        kind: account,
        object: life.objects.find(`Account/${KEY}`)?.object ?? object,
      });
      told.push(...life.events);
      return again;
    }
    /** Repeats checks and waits, until it is Ready or the time is up. */
    async function settle(rounds = 60) {
      for (let round = 0; round < rounds; round++) {
        await check();
        if (ready()?.status === "True") return;
        life.skip(2000);
      }
    }
    return { ...life, check, settle };
  }
  const status = () => Object(api.get(object)?.status);
  const ready = () => [...(status().conditions ?? [])].find(({ type }) => type === "Ready");
  return { object, api, platform, secret, live, status, ready, kept, told };
}
const home = { apiVersion: "v1", metadata: { namespace: "mooring-system" } };
const isGeneration = ({ url }: PlatformCall) => url.includes("/tokens/generate");
const isKept = ({ path, method }: KubeCall) => path.includes("/mooring-system/secrets") && method !== "GET";

describe("an Account with a password", () => {
  test("makes one token, keeps it in the operator's namespace and is Ready with it", async () => {
    const { live, platform, status, ready, kept } = open();
    const { check } = live();
    await check();
    await check();
    const [id] = platform.items.keys();
    expect(platform.values).toHaveLength(1);
    expect(ready()).toMatchObject({ status: "True", message: expect.stringContaining("renewed automatically") });
    expect(status()).toMatchObject({ tokenId: id, tokenExpiresAt: new Date(BEGIN + HOUR).toISOString() });
    expect(kept()).toEqual({ token: Buffer.from(platform.values[0] ?? "").toString("base64") });
  });

  test("is used by a process of another shard, which makes no token and writes nothing", async () => {
    const { live, platform, api, ready } = open();
    const other = live({ serves: () => false, divided: () => true });
    await other.check();
    expect(other.accounts.get(KEY)?.obstacle).toBeDefined();
    await live().check();
    const before = api.version;
    await other.check();
    expect(other.accounts.get(KEY)?.obstacle).toBeUndefined();
    expect(api.version).toBe(before);
    expect(platform.values).toHaveLength(1);
    expect(ready()).toMatchObject({ status: "True" });
  });

  test("gets one token although the shards before and after a move begin at once", async () => {
    const { live, platform } = open();
    const [before, after] = [live(), live()];
    await Promise.allSettled([before.check(), after.check()]);
    await before.check();
    await after.settle();
    expect(platform.values).toHaveLength(1);
  });

  test("is found again by the next process", async () => {
    const { live, platform, ready } = open();
    await live().check();
    await live().check();
    expect(platform.values).toHaveLength(1);
    expect(ready()).toMatchObject({ status: "True" });
  });

  test("never has a moment in which its token has expired, and never more than two", async () => {
    const { live, platform, ready } = open();
    const { check, skip } = live();
    for (let minutes = 0; minutes < 24 * 60; minutes += 5) {
      await check();
      expect(ready()).toMatchObject({ status: "True" });
      skip(300_000);
    }
    expect(platform.values.length).toBeGreaterThan(30);
    expect(platform.most()).toBe(2);
  });

  test("gets another token when somebody has revoked the one that it has", async () => {
    const { live, platform, ready } = open();
    const { check, skip } = live();
    await check();
    platform.items.clear();
    skip(1000);
    await check();
    expect([platform.items.size, ready()?.status]).toEqual([1, "True"]);
  });

  test("makes a new token, and ends the one before, when the user is another one", async () => {
    const { live, platform, secret } = open();
    await live().check();
    platform.login.username = secret.username = "other@example.org";
    await live().check();
    expect(platform.values).toHaveLength(2);
    expect([...platform.items.values()].map(({ value }) => value)).toEqual(platform.values.slice(1));
  });

  test("says what to do when the platform refuses the password, for example because of a second factor", async () => {
    const { live, platform, ready } = open();
    platform.beforeEach(() => {
      const platformMessage = "Accounts with two-factor authentication must use a bearer token";
      throw new Unauthorized({ call: "GET /auth/v1/tokens", status: 401, platformMessage });
    });
    await live().check();
    expect(ready()).toMatchObject({ status: "False", reason: "Unauthorized" });
    expect(ready()?.message).toContain("two-factor authentication must use a bearer token");
    expect(ready()?.message).toContain("put a token into key token of Secret cred");
  });

  test("says that the password was changed, not that its token ended, and which key of which Secret to put right", async () => {
    const { live, platform, ready, status } = open();
    const { check, skip } = live();
    await check();
    const refuse = (also: (call: PlatformCall) => boolean) =>
      platform.beforeEach((call) => {
        const platformMessage = also(call) ? "The token has expired" : "Wrong credentials";
        if (also(call) || call.url.includes("/auth/")) {
          throw new Unauthorized({ call: "GET /auth/v1/tokens", status: 401, platformMessage });
        }
      });
    refuse(() => false);
    skip((HOUR * 2) / 3);
    await check();
    expect(ready()).toMatchObject({ status: "True" });
    expect(status().advice?.[0]).toContain("into key password of Secret cred");
    refuse(({ url }) => url.includes("/contracts"));
    await check();
    expect(ready()).toMatchObject({ status: "False", reason: "Unauthorized" });
    expect(ready()?.message).toMatch(/refuses the password of user .*Wrong credentials.* key password of Secret cred/);
    expect(ready()?.message).not.toContain("expired");
  });

  const discontinued =
    "the platform has announced the end of username and password: store a token of the platform in key token of Secret cred";

  test("is advised to move to a token, because passwords are to be discontinued", async () => {
    const { live, status } = open();
    await live().check();
    expect(status().advice).toEqual([discontinued]);
  });

  test("stays Ready while its token is due and the platform refuses another, and says so", async () => {
    const { live, platform, ready, status } = open();
    const { check, skip } = live();
    await check();
    skip((HOUR * 2) / 3);
    platform.beforeEach((call) => {
      if (isGeneration(call)) throw new Retry({ call: "GET /auth/v1/tokens/generate", status: 503 }, "no");
    });
    await check();
    expect(ready()).toMatchObject({ status: "True" });
    expect(status().advice?.[0]).toContain("due for renewal");
    platform.beforeEach(() => {});
    await check();
    expect([platform.values.length, status().advice]).toEqual([2, [discontinued]]);
  });

  test("advises near 100 tokens; at 100 deletes the expired ones, and else says so", async () => {
    const { live, platform, ready, status } = open();
    for (let made = 0; made < 99; made++) platform.make(86_400);
    platform.make(3600);
    const { check, skip } = live();
    await check();
    expect(ready()).toMatchObject({ reason: "QuotaExceeded", message: expect.stringContaining("has 100 tokens") });
    skip(HOUR + 1000);
    await check();
    expect(ready()).toMatchObject({ status: "True" });
    expect(status().advice?.[0]).toContain("has 100 tokens");
  });

  test("revokes its tokens with the Account, and forgets them", async () => {
    const { live, platform, api, object, kept } = open();
    const { check, skip } = live();
    await check();
    skip((HOUR * 2) / 3);
    await check();
    expect(platform.items.size).toBe(2);
    const current = api.get(object);
    if (current) api.markDeleted(current);
    await live().check();
    expect([platform.items.size, api.get(object), kept()]).toEqual([0, undefined, undefined]);
  });

  test("forgets its tokens with the Account although the platform refuses to revoke them", async () => {
    const { live, platform, api, object, kept } = open();
    await live().check();
    platform.beforeEach(() => {
      throw new Unauthorized({ call: "DELETE /auth/v1/tokens", status: 401 });
    });
    const current = api.get(object);
    if (current) api.markDeleted(current);
    await live().check();
    expect([api.get(object), kept()]).toEqual([undefined, undefined]);
  });

  test("forgets a token without an answer although the password is gone before the Account", async () => {
    const { live, api, object, kept, secret, platform } = open();
    platform.afterEach((call) => {
      if (isGeneration(call)) throw new Retry({ call: "GET /auth/v1/tokens/generate", status: 503 }, "unknown");
    });
    await live().check();
    expect(kept()).toBeDefined();
    delete secret.username;
    delete secret.password;
    const current = api.get(object);
    if (current) api.markDeleted(current);
    await live().check();
    expect([api.get(object), kept()]).toEqual([undefined, undefined]);
  });

  test("that gets a token of its own uses that one, and revokes those that it had", async () => {
    const { live, platform, secret, status, ready } = open();
    const { check, skip } = live();
    await check();
    skip((HOUR * 2) / 3);
    await check();
    expect(platform.items.size).toBe(2);
    secret.token = platform.make(86_400);
    await check();
    expect([...platform.items.values()].map(({ value }) => value)).toEqual([secret.token]);
    expect([ready()?.status, status().tokenId]).toEqual(["True", undefined]);
  });
});

describe("an Account with a password on a platform whose clock is 66 minutes behind", () => {
  const behindMs = 66 * 60_000;

  test("makes no token of an hour, and says why and what to do", async () => {
    const { live, platform, ready } = open([], { behindMs });
    await live().settle();
    expect(platform.values).toEqual([]);
    expect(ready()).toMatchObject({ status: "False", reason: "InvalidSpec" });
    expect(ready()?.message).toMatch(/^tokenLifetime: .* 66 minutes behind .*choose a longer one/);
  });

  test("makes one token that lives longer than the clocks differ", async () => {
    const { live, platform, ready, object, api } = open([], { behindMs });
    api.put({ ...object, spec: { ...spec, tokenLifetime: "4h" } });
    const { check, skip } = live();
    for (let minutes = 0; minutes < 120; minutes++) {
      await check();
      skip(60_000);
    }
    expect(platform.values).toHaveLength(1);
    expect(ready()).toMatchObject({ status: "True" });
  });

  test("of which it does not know makes tokens with a growing pause", async () => {
    const { live, platform } = open([], { behindMs, isKnown: false });
    const { check, skip } = live();
    for (let seconds = 0; seconds < 900; seconds += 5) {
      await check();
      skip(5000);
    }
    expect(platform.values.length).toBeGreaterThan(3);
    expect(platform.values.length).toBeLessThan(35);
  });
});

describe("when Date headers are 25 days ahead", () => {
  const lie = ({ platform }: ReturnType<typeof open>, ms = 25 * 24 * HOUR) =>
    Reflect.set(platform.connection, "aheadMs", ms);

  test("it neither renews nor revokes a token that our own clock takes for good", async () => {
    const world = open();
    const { check, skip } = world.live();
    await check();
    lie(world);
    for (let minutes = 0; minutes < 30; minutes += 5) {
      await check();
      skip(300_000);
    }
    expect(world.ready()).toMatchObject({ status: "True" });
    lie(world, 0);
    await check();
    expect([world.platform.values.length, world.platform.items.size]).toEqual([1, 1]);
  });

  test("by less than its lifetime, it renews a token in time, as where our own clock is behind", async () => {
    const world = open();
    const { check, skip } = world.live();
    await check();
    lie(world, (HOUR * 2) / 3 + 1000);
    skip(60_000);
    await check();
    expect(world.ready()).toMatchObject({ status: "True" });
    expect(world.platform.values.map(world.platform.isGood)).toEqual([true, true]);
  });

  test("it renews a token that the platform refuses", async () => {
    const world = open();
    const { check, settle } = world.live();
    await check();
    lie(world);
    world.platform.revokeByHand();
    await settle();
    expect(world.ready()).toMatchObject({ status: "True" });
    expect(world.platform.values).toHaveLength(2);
  });

  test.each([
    ["ahead when the token before is replaced", 25, 0],
    ["behind when the token before is replaced", -25, 0],
    ["ahead after the token before was replaced", 0, 25],
  ])("%s, the token before works for its time", async (_, atMake, later) => {
    const world = open();
    const { check, skip } = world.live();
    await check();
    skip((HOUR * 2) / 3 + 1000);
    // The answer to the creation is the one with the wrong date.
    world.platform.afterEach((call) => void (isGeneration(call) && lie(world, atMake * 24 * HOUR)));
    await check();
    world.platform.afterEach(() => {});
    expect(world.platform.values).toHaveLength(2);
    lie(world, later * 24 * HOUR);
    await check();
    skip(300_000);
    await check();
    expect(world.platform.values.map(world.platform.isGood)).toEqual([true, true]);
  });
});

test("a token of more than 8 KiB is revoked and not kept, and says so", async () => {
  const { live, platform, ready, kept } = open();
  const { send } = platform.connection;
  platform.connection.send = async (call) => {
    const reply = await send(call);
    if (!isGeneration(call)) return reply;
    return { ...reply, body: { token: `${platform.values.at(-1)}${"x".repeat(8192)}` } };
  };
  await live().check();
  expect([platform.items.size, kept()]).toEqual([0, {}]);
  expect(ready()).toMatchObject({ status: "False", reason: "InvalidAnswer" });
  expect(ready()?.message).toContain("more than 8192 bytes");
});

test("a token that the platform refuses at once is made anew with a growing pause", async () => {
  const { live, platform, ready } = open();
  const { check, skip } = live();
  platform.beforeEach(({ url }) => {
    if (url.includes("/contracts")) throw new Unauthorized({ call: "GET /contracts", status: 401 });
  });
  for (let seconds = 0; seconds < 900; seconds += 5) {
    await check();
    skip(5000);
  }
  expect(ready()).toMatchObject({ status: "False", reason: "Unauthorized" });
  expect(platform.values.length).toBeGreaterThan(3);
  expect(platform.values.length).toBeLessThan(35);
});

describe("a process that dies", () => {
  type World = ReturnType<typeof open>;
  const died = new Error("died");
  const deaths: [string, (world: World) => void][] = [
    [
      "before it has said so",
      ({ api }) =>
        api.beforeEach((call) => {
          if (isKept(call)) throw died;
        }),
    ],
    [
      "before it asks for the token",
      ({ platform }) =>
        platform.beforeEach((call) => {
          if (isGeneration(call)) throw died;
        }),
    ],
    [
      "before it reads the answer",
      ({ platform }) =>
        platform.afterEach((call) => {
          if (isGeneration(call)) throw died;
        }),
    ],
    [
      "before it keeps the token",
      ({ api, platform }) =>
        platform.afterEach((call) => {
          if (!isGeneration(call)) return;
          api.beforeEach(() => {
            throw died;
          });
        }),
    ],
  ];
  const revive = ({ api, platform }: World) => {
    api.beforeEach(() => {});
    platform.beforeEach(() => {});
    platform.afterEach(() => {});
  };

  test.each(deaths)("%s leaves one token", async (_, die) => {
    const world = open();
    die(world);
    await live(world);
    revive(world);
    await world.live().settle();
    expect(world.ready()).toMatchObject({ status: "True" });
    expect(world.platform.items.size).toBe(1);
    expect(world.platform.most()).toBeLessThanOrEqual(2);
  });

  test.each(deaths)("%s of a renewal leaves the one that works, until the next is there", async (_, die) => {
    const world = open();
    const { check, skip } = world.live();
    await check();
    skip((HOUR * 2) / 3);
    die(world);
    await live(world);
    revive(world);
    const { settle, ...next } = world.live();
    for (let minutes = 0; minutes < 20; minutes++) {
      await settle();
      expect(world.ready()).toMatchObject({ status: "True" });
      next.skip(60_000);
    }
    await settle();
    expect(world.platform.items.size).toBe(1);
    expect(world.platform.most()).toBeLessThanOrEqual(2);
  });

  test.each([
    ["another user's AccessToken", "u2", 1],
    ["an AccessToken of the same user", "u1", 2],
  ])("while %s of that lifetime is made leaves %s's alone: %i tokens", async (_, userId, left) => {
    const hash = hashBody({ ttl: 3600 });
    const intent = intentOf({ hash, account: "shop/other", endpoint: API, at: new Date(BEGIN).toISOString() });
    const world = open([objectOf("AccessToken", "equal", { metadata: intending("equal", intent) })]);
    const enter = () => {
      const life = world.live();
      const connection = { ...world.platform.connection, identity: { userId } };
      life.accounts.put(handleOf("shop/other", { connection, endpoint: () => API }));
      return life;
    };
    await enter().check();
    const [, die] = deaths.at(-1) ?? [];
    const { check, skip } = enter();
    skip((HOUR * 2) / 3);
    die?.(world);
    await expect(check()).rejects.toThrow("died");
    revive(world);
    const next = enter();
    for (let minutes = 0; minutes < 20; minutes++) {
      await next.settle();
      next.skip(60_000);
    }
    expect(world.platform.items.size).toBe(left);
  });

  const live = async (world: World) => {
    await expect(world.live().check()).rejects.toThrow("died");
  };
});

test("a token that the user brought is announced 14 days before it expires", async () => {
  const { live, platform, secret, ready, status, told } = open();
  secret.token = platform.make(30 * 86_400);
  const { check, skip } = live();
  await check();
  expect(status().advice).toBeUndefined();
  skip(17 * 86_400_000);
  await check();
  const expiry = `the token expires at ${new Date(BEGIN + 30 * 86_400_000).toISOString()}: update key token of Secret cred`;
  expect(ready()).toMatchObject({ status: "True", message: expect.stringContaining(expiry) });
  expect(told).toContain(`Warning Advice ${expiry}`);
});
