import { afterEach, describe, expect, test } from "vitest";
import { HOUR, isGeneration, noSecretIsShown, open, spec } from "./password-account.ts";

afterEach(noSecretIsShown);

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
