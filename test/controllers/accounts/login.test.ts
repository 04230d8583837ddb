import { afterEach, describe, expect, test } from "vitest";
import { Retry, Unauthorized } from "../../../src/platform/answers/errors.ts";
import type { PlatformCall } from "../../../src/platform/calls/transport.ts";
import { BEGIN } from "../../engine/support/stage.ts";
import { HOUR, isGeneration, KEY, noSecretIsShown, open } from "./password-account.ts";

afterEach(noSecretIsShown);

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

  test("has a token that the next process finds again", async () => {
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

test("a token that the user brought is announced 14 days before it expires", async () => {
  const { live, platform, secret, ready, status, reported } = open();
  secret.token = platform.make(30 * 86_400);
  const { check, skip } = live();
  await check();
  expect(status().advice).toBeUndefined();
  skip(17 * 86_400_000);
  await check();
  const expiry = `the token expires at ${new Date(BEGIN + 30 * 86_400_000).toISOString()}: update key token of Secret cred`;
  expect(ready()).toMatchObject({ status: "True", message: expect.stringContaining(expiry) });
  expect(reported).toContain(`Warning Advice ${expiry}`);
});
