import { afterEach, describe, expect, test } from "vitest";
import { hashBody } from "../../../src/runtime/hash.ts";
import { API } from "../../engine/support/fake-platform.ts";
import { handleOf, intending, intentOf, objectOf } from "../../engine/support/fixtures.ts";
import { BEGIN } from "../../engine/support/stage.ts";
import { HOUR, isGeneration, isKept, noSecretIsShown, open } from "./password-account.ts";

afterEach(noSecretIsShown);

describe("a process that dies", () => {
  type World = ReturnType<typeof open>;
  const died = new Error("died");
  const deaths: [string, (world: World) => void][] = [
    [
      "before it records that it makes a token",
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

  test.each(deaths)("%s in a renewal leaves the one that works, until the next is there", async (_, die) => {
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
  ])(
    "while %s of that lifetime is made (user %s) revokes only what is certainly its own: %i left",
    async (_, userId, left) => {
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
    },
  );

  const live = async (world: World) => {
    await expect(world.live().check()).rejects.toThrow("died");
  };
});
