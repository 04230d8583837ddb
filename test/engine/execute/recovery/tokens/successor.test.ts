import { afterEach, describe, expect, test } from "vitest";
import { ROTATE_AT } from "../../../../../src/engine/state/names.ts";
import { openIntent } from "../../../../../src/engine/state/object.ts";
import { readFacts, readStatus } from "../../../../../src/engine/status/status.ts";
import { Retry, Terminal } from "../../../../../src/platform/answers/errors.ts";
import { API } from "../../../support/fake-platform.ts";
import { A, checkWorlds, HOUR, isGeneration, open, SECRET } from "./token-world.ts";

afterEach(checkWorlds);

describe("an access token", () => {
  test("is made once, and is in its Secret with nothing else", async () => {
    const { live, held, platform, status, current } = open();
    await live().settle();
    expect(platform.values).toEqual([held()]);
    const [[id, { expiresAt }] = ["", { expiresAt: 0 }]] = platform.items;
    const expires = new Date(expiresAt).toISOString();
    expect(status()).toMatchObject({ id, secretName: SECRET, key: { version: 1, expiresAt: expires } });
    expect(readFacts(current())).toEqual({ lifetime: "1h", tokenExpiresAt: expires });
  });

  test("stays Ready while it is rotated on request", async () => {
    const { live, held, annotate, api, current } = open();
    const { settle } = live();
    await settle();
    const first = held();
    const reported = new Set<string>();
    api.beforeEach(() => {
      for (const { type, status, reason } of readStatus(current()).conditions ?? [])
        reported.add(`${type} ${status} ${reason}`);
    });
    annotate({ [ROTATE_AT]: "now" });
    expect(await settle()).toContain("renew");
    expect(held()).not.toBe(first);
    expect([...reported].filter((each) => each.startsWith("Ready"))).toEqual(["Ready True Available"]);
  });

  test("is replaced at two thirds of its life; the one before works for ten more minutes", async () => {
    const { live, held, platform, status } = open();
    const { settle, skip } = live();
    await settle();
    const first = held();
    skip((HOUR * 2) / 3 - 120_000);
    expect(await settle()).toEqual(["rest"]);
    skip(120_000);
    expect(await settle()).toContain("renew");
    expect(held()).not.toBe(first);
    expect([platform.isGood(held()), platform.isGood(first)]).toEqual([true, true]);
    expect(status()).toMatchObject({ key: { version: 2 }, previous: { id: expect.any(String) } });
    skip(590_000);
    expect(await settle()).toEqual(["rest"]);
    skip(20_000);
    expect(await settle()).toContain("revoke");
    expect([platform.isGood(held()), platform.isGood(first)]).toEqual([true, false]);
    expect(status().previous).toBeUndefined();
  });

  test("lives for a day without a moment in which what is in the Secret has expired", async () => {
    const { live, held, platform } = open();
    const { settle, skip, clock } = live();
    for (let minutes = 0; minutes < 24 * 60; minutes += 5) {
      await settle();
      const own = [...platform.items.values()].find(({ value }) => value === held());
      expect(own?.expiresAt).toBeGreaterThan(clock.now());
      skip(300_000);
    }
    expect(platform.values.length).toBeGreaterThan(30);
  });

  test("is replaced on request, which ends the one before the last at once", async () => {
    const { live, annotate, platform, held } = open();
    const { settle } = live();
    await settle();
    annotate({ [ROTATE_AT]: "first" });
    await settle();
    annotate({ [ROTATE_AT]: "second" });
    await settle();
    expect(platform.values).toHaveLength(3);
    expect([...platform.items.values()].map(({ value }) => value)).toEqual(platform.values.slice(1));
    expect(held()).toBe(platform.values[2]);
  });

  test("is revoked with the one before when the object is deleted", async () => {
    const { live, annotate, remove, platform, api, object } = open();
    const { settle } = live();
    await settle();
    annotate({ [ROTATE_AT]: "first" });
    await settle();
    expect(platform.items.size).toBe(2);
    remove();
    await settle();
    expect([platform.items.size, api.get(object)]).toEqual([0, undefined]);
  });

  test("is made again when somebody has revoked it", async () => {
    const { live, platform, held, annotate } = open();
    await live().settle();
    platform.revokeByHand();
    annotate({ "mooring.dev/reconcile-at": "now" });
    await live().settle();
    expect(platform.isGood(held())).toBe(true);
    expect(platform.items.size).toBe(1);
  });

  test("at 80 tokens of the user: those that have expired are deleted, and else it says so and makes none", async () => {
    const { live, platform, status, held, annotate } = open();
    for (let nth = 0; nth < 80; nth++) platform.make(nth === 0 ? 3600 : 31_536_000);
    const { settle, skip } = live();
    const ready = () => status().conditions?.find(({ type }) => type === "Ready");
    await settle(3);
    expect([ready()?.reason, platform.values.length]).toEqual(["QuotaExceeded", 80]);
    expect(ready()?.message).toContain("has 80 tokens and the platform allows 100, of which the last 20 are kept");
    skip(HOUR + 1000);
    annotate({ "mooring.dev/reconcile-at": "now" });
    await settle();
    expect([platform.items.size, platform.isGood(held())]).toEqual([80, true]);
    platform.items.clear();
    platform.forgetMost();
  });

  test.each([
    [94, true],
    [95, false],
  ])(
    "is replaced while its user has %i tokens: %s, because Accounts need the last five",
    async (tokens, isReplaced) => {
      const { live, platform, held, annotate, status } = open();
      const { settle } = live();
      await settle();
      const first = held();
      for (let nth = 1; nth < tokens; nth++) platform.make(31_536_000);
      annotate({ [ROTATE_AT]: "now" });
      await settle(4);
      expect([held() !== first, platform.isGood(first)]).toEqual([isReplaced, true]);
      expect(status().conditions?.[0]?.reason === "QuotaExceeded").toBe(!isReplaced);
      platform.items.clear();
      platform.forgetMost();
    },
  );

  test("stays when the platform refuses another one, and is tried again", async () => {
    const { live, platform, held, status } = open();
    const { settle, skip } = live();
    await settle();
    const first = held();
    skip((HOUR * 2) / 3);
    platform.beforeEach((call) => {
      if (isGeneration(call)) throw new Terminal({ call: "GET /tokens/generate", status: 422, detail: "at most 100" });
    });
    await settle(3);
    expect([held(), platform.isGood(first)]).toEqual([first, true]);
    expect(status()).toMatchObject({ key: { version: 1 }, conditions: [{ reason: "Rejected" }, {}] });
    platform.beforeEach(() => {});
    await settle();
    expect(held()).not.toBe(first);
    expect(platform.isGood(held())).toBe(true);
  });
});

test("a token is the object's also while its replacement is created, and after that until it is revoked", async () => {
  const { live, annotate, platform, status, current } = open();
  const { settle, skip, objects } = live();
  await settle();
  const { id = "" } = status();
  const owners = () => objects.claimants("AccessToken", { id, parents: {}, endpoint: API });
  annotate({ [ROTATE_AT]: "first" });
  platform.beforeEach((call) => {
    if (isGeneration(call)) throw new Retry({ call: "GET /tokens/generate", status: 0, detail: "reset" }, "unknown");
  });
  await settle(8);
  expect(openIntent(current())).toMatchObject({ succeeds: id });
  expect([status().id, owners()]).toEqual([id, [A]]);
  platform.beforeEach(() => {});
  await settle();
  expect([status().previous?.id, owners()]).toEqual([id, [A]]);
  skip(700_000);
  await settle();
  expect(owners()).toEqual([]);
});
