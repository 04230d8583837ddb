import { afterEach, describe, expect, test } from "vitest";
import { createTokenStore, type TokenRecord, tokenSecretName } from "../../../src/controllers/accounts/token-store.ts";
import { FINALIZER, SHARD } from "../../../src/engine/state/names.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { Forbidden, Retry } from "../../../src/platform/answers/errors.ts";
import type { PlatformCall } from "../../../src/platform/calls/transport.ts";
import { fakeApiServer } from "../../engine/support/fake-api-server.ts";
import { API } from "../../engine/support/fake-platform.ts";
import { fakeTokens } from "../../engine/support/fake-tokens.ts";
import { objectOf } from "../../engine/support/fixtures.ts";
import { accountOf, credentials, runEngine } from "../../engine/support/running-engine.ts";
import { fakeClock } from "../../fake-clock.ts";

const HOME = "mooring-system";
const KEY = "shop/main";
const HOUR = 3_600_000;
const account = accountOf("main", {}, { finalizers: [FINALIZER] });
const space = (name: string, shard?: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, uid: `uid-${name}`, labels: shard === undefined ? {} : { [SHARD]: shard } },
});

const ending: { [Symbol.asyncDispose](): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of ending.splice(0)) await each[Symbol.asyncDispose]();
});

/** A platform, and an API server on which these objects are; operators come and go. */
function open(...there: KubeObject[]) {
  const clock = fakeClock();
  const platform = fakeTokens(clock.now);
  const data = Object.fromEntries(
    Object.entries(platform.login).map(([name, value]) => [name, Buffer.from(value).toString("base64")]),
  );
  const secret = { ...credentials, data };
  const api = fakeApiServer(secret, ...there);
  const reported: string[] = [];
  const tell = (fields: object, message: string) => void reported.push(JSON.stringify([fields, message]));
  const store = createTokenStore({ client: api.client, clock, guard: () => {} }, HOME);
  const keep = (name: string, record: Partial<TokenRecord>, value?: string) => {
    const whole = { account: name, username: "ops@example.org", endpoint: API, count: 1, unclaimed: [], ...record };
    return store.write(name, whole, value, "");
  };
  return {
    api,
    clock,
    platform,
    reported,
    keep,
    /** A previous operator has logged in for an Account. */
    async logIn(name = KEY) {
      const value = platform.make(HOUR / 1000);
      const [id = ""] = [...platform.items].find(([, each]) => each.value === value) ?? [];
      await keep(name, { current: { id, issuedAt: clock.now(), expiresAt: clock.now() + HOUR } }, value);
    },
    /** Starts an operator whose caches have these objects. */
    async start(known: readonly KubeObject[] = there, options: { namespace?: string; shard?: string } = {}) {
      const log = { debug: () => {}, info: () => {}, warn: tell, error: tell };
      const connect = () => platform.connection;
      const running = await runEngine([secret, ...known], { clock, api, connect, log, home: HOME, ...options });
      ending.push(running);
      return running;
    },
    stored: (name = KEY) => {
      const metadata = { name: tokenSecretName(name), namespace: HOME };
      return api.get(objectOf("Secret", metadata.name, { apiVersion: "v1", metadata })) !== undefined;
    },
  };
}
const isDeletion = ({ method }: PlatformCall) => method === "DELETE";

describe("the token of an Account that is gone despite its finalizer", () => {
  test("is revoked, and its Secret removed, by the next operator", async () => {
    const { clock, platform, api, start, stored } = open(account);
    const first = await start();
    await clock.advance(5000);
    expect([platform.items.size, stored()]).toEqual([1, true]);
    await first[Symbol.asyncDispose]();
    ending.pop();
    api.remove(account);
    await start([]);
    await clock.advance(5000);
    expect([platform.items.size, stored()]).toEqual([0, false]);
  });

  test("is revoked, and its Secret removed, while the operator runs", async () => {
    const { clock, platform, start, stored } = open(account);
    const { remove } = await start();
    await clock.advance(5000);
    expect([platform.items.size, stored()]).toEqual([1, true]);
    remove(account);
    await clock.advance(60_000);
    expect([platform.items.size, stored()]).toEqual([0, false]);
  });

  test("works on for the objects that this operator still cleans up with it", async () => {
    const status = { id: "b1", account: KEY, contract: 1, endpoint: API, parents: {} };
    const user = objectOf("IPBlock", "a", { spec: { location: "de/txl", size: 1 }, status });
    const { clock, platform, start, stored } = open(account, user);
    const { remove } = await start();
    await clock.advance(5000);
    remove(account);
    await clock.advance(60_000);
    expect([platform.items.size, stored()]).toEqual([1, true]);
    remove(user);
    await clock.advance(60_000);
    expect([platform.items.size, stored()]).toEqual([0, false]);
  });

  test("of a ClusterAccount or a namespace that is gone goes, too", async () => {
    const { clock, platform, logIn, start, stored } = open();
    await logIn("ClusterAccount/shared");
    await logIn("former/main");
    await start();
    await clock.advance(5000);
    expect([platform.items.size, stored("ClusterAccount/shared"), stored("former/main")]).toEqual([0, false, false]);
  });

  test("waits for a platform that does not answer, but not longer than the token lives", async () => {
    const { clock, platform, logIn, start, stored } = open();
    platform.beforeEach(() => {
      throw new Retry({ call: "DELETE /auth/v1/tokens", status: 503 }, "no");
    });
    await logIn();
    await start();
    await clock.advance(HOUR / 2);
    expect(stored()).toBe(true);
    await clock.advance(HOUR);
    expect(stored()).toBe(false);
  });

  test("waits as long as it lives by the platform's clock, when ours is ahead", async () => {
    const { clock, platform, logIn, start, stored } = open();
    Reflect.set(platform.connection, "aheadMs", -2 * HOUR);
    platform.beforeEach(() => {
      throw new Retry({ call: "DELETE /auth/v1/tokens", status: 503 }, "no");
    });
    await logIn();
    await start();
    await clock.advance(2 * HOUR);
    expect(stored()).toBe(true);
    await clock.advance(2 * HOUR);
    expect(stored()).toBe(false);
  });

  test("is left to expire where the platform refuses to revoke it, and the log says so", async () => {
    const { clock, platform, reported, logIn, start, stored } = open();
    platform.beforeEach(() => {
      throw new Forbidden({ call: "DELETE /auth/v1/tokens", status: 403 });
    });
    await logIn();
    await start();
    await clock.advance(5000);
    expect([stored(), reported.length]).toEqual([false, 1]);
    expect(reported[0]).toContain("Account/shop/main");
    expect(reported[0]).toContain("expire by themselves");
  });

  test("is left to expire where its value is unknown, and the log says so", async () => {
    const { clock, platform, reported, keep, start, stored } = open();
    const by = { pod: "mooring-0", process: "before", deadlineMs: 10_000 };
    await keep(KEY, { intent: { nonce: "n1", at: clock.now(), by, ttl: 3600, seen: [] } });
    await start();
    await clock.advance(5000);
    expect([stored(), platform.calls.length]).toEqual([false, 0]);
    expect(reported.join()).toContain("expires by itself");
  });
});

describe("the token of an Account that exists stays", () => {
  const stays = { items: 1, stored: true, deletions: 0 };
  async function later(world: ReturnType<typeof open>, name = KEY) {
    await world.clock.advance(60_000);
    const { items, calls } = world.platform;
    return { items: items.size, stored: world.stored(name), deletions: calls.filter(isDeletion).length };
  }

  test("although the cache does not show the Account yet", async () => {
    const world = open(account);
    await world.logIn();
    await world.start([]);
    expect(await later(world)).toEqual(stays);
  });

  test("although the operator watches another namespace", async () => {
    const world = open();
    await world.logIn();
    await world.start([], { namespace: "orders" });
    expect(await later(world)).toEqual(stays);
  });

  test("although the operator of one namespace knows no ClusterAccount, not even one with the name of the namespace", async () => {
    const world = open();
    await world.logIn("ClusterAccount/shop");
    await world.start([], { namespace: "shop" });
    expect(await later(world, "ClusterAccount/shop")).toEqual(stays);
  });

  test.each([
    ["Account", KEY, undefined],
    ["Account", "orders/main", "a"],
    ["ClusterAccount", "ClusterAccount/shared", "a"],
  ])("although another shard keeps the %s: %s is not for shard %s", async (_, name, shard) => {
    const spaces = [space("shop", "a"), space("orders")];
    const world = open(...spaces);
    await world.logIn(name);
    await world.start(spaces, shard === undefined ? {} : { shard });
    expect(await later(world, name)).toEqual(stays);
  });
});
