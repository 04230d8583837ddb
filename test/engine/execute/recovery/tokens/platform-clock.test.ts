import { afterEach, describe, expect, test } from "vitest";
import { ROTATE_AT } from "../../../../../src/engine/state/names.ts";
import { A, checkWorlds, HOUR, open, token } from "./token-world.ts";

afterEach(checkWorlds);

describe("with a platform whose clock is 66 minutes behind", () => {
  const behindMs = 66 * 60_000;
  const ready = (world: ReturnType<typeof open>) => world.status().conditions?.find(({ type }) => type === "Ready");
  /** Passes for a quarter of an hour, whatever the engine waits for. */
  const live = async (world: ReturnType<typeof open>) => {
    const { passes, sync, clock } = world.live();
    for (let seconds = 0; seconds < 900; seconds += 5) {
      sync();
      await passes(A);
      await clock.advance(5000);
    }
  };

  test("a token of an hour is refused, and says why and what to do", async () => {
    const world = open(token({ lifetime: "1h" }), { behindMs });
    await live(world);
    expect(world.platform.values).toEqual([]);
    expect(ready(world)).toMatchObject({ status: "False", reason: "InvalidSpec" });
    expect(ready(world)?.message).toMatch(/^lifetime: .* 66 minutes behind .*choose a longer one/);
  });

  test("a token of four hours is made once", async () => {
    const world = open(token({ lifetime: "4h" }), { behindMs });
    await live(world);
    expect(world.platform.values).toHaveLength(1);
    expect(ready(world)).toMatchObject({ status: "True" });
  });

  test("a token of an hour that exists is renewed at two thirds of its life", async () => {
    const world = open(token({ lifetime: "1h" }), { behindMs });
    Reflect.set(world.platform.connection, "aheadMs", 0);
    const { settle, skip } = world.live();
    await settle();
    Reflect.set(world.platform.connection, "aheadMs", -behindMs);
    const made = world.platform.values.length;
    skip(HOUR / 2);
    await settle();
    expect(world.platform.values).toHaveLength(made);
    skip(HOUR / 4);
    await settle();
    expect(world.platform.values).toHaveLength(made + 1);
  });

  test("which the operator does not know, tokens follow one another with a growing pause", async () => {
    const world = open(token({ lifetime: "1h" }), { behindMs, isKnown: false });
    await live(world);
    // The pause doubles from 1 to 32 seconds and then stays.
    expect(world.platform.values.length).toBeGreaterThan(3);
    expect(world.platform.values.length).toBeLessThan(35);
  });
});

describe("with Date headers that differ from the operator's clock", () => {
  const DAY = 24 * HOUR;
  const lie = ({ platform }: ReturnType<typeof open>, ms: number) => Reflect.set(platform.connection, "aheadMs", ms);
  /** Passes for some minutes, whatever the engine waits for. Returns how many former tokens were valid in each. */
  const live = async ({ platform }: ReturnType<typeof open>, { passes, sync, clock }: Life, minutes: number) => {
    const good: boolean[] = [];
    for (let seconds = 0; seconds < minutes * 60; seconds += 20) {
      sync();
      await passes(A);
      good.push(platform.isGood(platform.values[0]));
      await clock.advance(20_000);
    }
    return good;
  };
  type Life = ReturnType<ReturnType<typeof open>["live"]>;

  test.each([25 * DAY, 400 * DAY])("%i ms ahead, a token that workloads have works for its time", async (aheadMs) => {
    const world = open();
    const life = world.live();
    await life.settle();
    lie(world, aheadMs);
    expect(await live(world, life, 9)).not.toContain(false);
    expect(world.platform.isGood(world.held())).toBe(true);
    lie(world, 0);
    expect(await live(world, life, 15)).toContain(false);
    expect([...world.platform.items.values()].map(({ value }) => value)).toEqual([world.held()]);
  });

  test.each([
    ["ahead while the next is made", 25, 0],
    ["behind while the next is made", -25, 0],
    ["ahead after that", 0, 25],
  ])("%s, the token before works for its time and no longer", async (_, atMake, later) => {
    const world = open(token({ lifetime: "1d" }));
    const life = world.live();
    await life.settle();
    lie(world, atMake * DAY);
    world.annotate({ [ROTATE_AT]: "first" });
    await life.settle();
    lie(world, later * DAY);
    expect(world.status().previous).toBeDefined();
    const good = await live(world, life, 9);
    expect(good).not.toContain(false);
    lie(world, 0);
    await live(world, life, 3);
    expect(world.platform.isGood(world.platform.values[0])).toBe(false);
  });

  test("by 66 minutes, because the platform's clock is ahead, tokens of an hour are renewed before they end", async () => {
    const world = open(token(), { behindMs: -66 * 60_000 });
    const life = world.live();
    await live(world, life, 180);
    const { size } = world.platform.items;
    expect(size).toBeLessThanOrEqual(2);
    expect(world.platform.values.length).toBeLessThanOrEqual(6);
    const [held] = [...world.platform.items.values()].filter(({ value }) => value === world.held());
    expect(held?.expiresAt).toBeGreaterThan(life.clock.now() + 66 * 60_000);
  });
});
