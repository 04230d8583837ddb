import { afterEach, describe, expect, test } from "vitest";
import { ROTATE_AT } from "../../../../src/engine/state/names.ts";
import { openIntent } from "../../../../src/engine/state/object.ts";
import { readFacts, readStatus } from "../../../../src/engine/status/status.ts";
import type { KubeCall } from "../../../../src/kube/client/transport.ts";
import type { KubeObject } from "../../../../src/kube/resource.ts";
import { Retry, Terminal } from "../../../../src/platform/answers/errors.ts";
import type { PlatformCall } from "../../../../src/platform/calls/transport.ts";
import { fakeApiServer, isDryRun } from "../../support/fake-api-server.ts";
import { API } from "../../support/fake-platform.ts";
import { fakeTokens } from "../../support/fake-tokens.ts";
import { objectOf } from "../../support/fixtures.ts";
import { BEGIN, stage } from "../../support/stage.ts";

const A = "AccessToken/shop/a";
const SECRET = "a-accesstoken";
const HOUR = 3_600_000;
const token = (spec: object = {}): KubeObject => objectOf("AccessToken", "a", { spec: { lifetime: "1h", ...spec } });

interface Visible {
  object: KubeObject;
  api: ReturnType<typeof fakeApiServer>;
  platform: ReturnType<typeof fakeTokens>;
  told: string[];
}
const worlds: Visible[] = [];
afterEach(() => {
  for (const { api, platform, object, told } of worlds.splice(0)) {
    expect(platform.most()).toBeLessThanOrEqual(2);
    const visible = JSON.stringify([api.get(object), api.get(objectOf("Secret", SECRET))?.metadata, told]);
    for (const value of platform.values) expect(visible).not.toContain(value);
  }
});

/** A platform and an API server that outlive the operator's processes. */
function open(object = token(), { behindMs = 0, isKnown = true } = {}) {
  let now = () => BEGIN;
  const platform = fakeTokens(() => now() - behindMs, isKnown ? -behindMs : 0);
  const api = fakeApiServer(object);
  const told: string[] = [];
  let nonces = 0;
  const secret = () => api.get(objectOf("Secret", SECRET));
  const held = () => {
    const data: Record<string, string> = { ...Object(secret()?.data) };
    expect(Object.keys(data).filter((key) => key !== "token")).toEqual([]);
    return data.token === undefined ? undefined : Buffer.from(data.token, "base64").toString();
  };
  /** One process of the operator, which continues where the former one ended. */
  function live() {
    const life = stage([object], { api, connection: platform.connection, wallTime: now() });
    now = life.clock.now;
    life.deps.nonce = () => `unique-${++nonces}`;
    const found = secret();
    if (found) life.deps.published.put(found);
    /** Repeats passes and waits, until the object rests or nothing more can be done. */
    async function settle(rounds = 60): Promise<string[]> {
      const steps: string[] = [];
      for (let round = 0; round < rounds && steps.at(-1) !== "rest"; round++) {
        life.sync();
        if (!life.objects.find(A)) break;
        steps.push(...(await life.passes(A)));
        if (steps.at(-1) !== "rest") await life.clock.advance(2000);
      }
      told.push(...life.events);
      return steps;
    }
    return { ...life, settle };
  }
  const current = () => api.get(object) ?? object;
  const annotate = (annotations: Record<string, string>) => {
    const { metadata } = current();
    api.put({ ...current(), metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } });
  };
  const remove = () => {
    const { metadata } = current();
    api.put({ ...current(), metadata: { ...metadata, deletionTimestamp: new Date(now()).toISOString() } });
  };
  const status = () => readStatus(current());
  const world = { object, platform, api, secret, held, live, annotate, remove, current, status, told };
  worlds.push(world);
  return world;
}

const isSecret = (call: KubeCall) => call.path.includes("/secrets") && call.method !== "GET" && !isDryRun(call);
const isGeneration = ({ url }: PlatformCall) => url.includes("/tokens/generate");
const isRevocation = ({ method }: PlatformCall) => method === "DELETE";
const isStatus = ({ path }: KubeCall) => path.endsWith("/status");

/** Throws at the nth matching call, like a crash: nothing happens after it. */
function dieAt<Call>(hook: (next: (call: Call) => void) => void, fits: (call: Call) => boolean, nth = 1): void {
  let met = 0;
  let dead = false;
  hook((call) => {
    if (fits(call)) met += 1;
    dead ||= met === nth;
    if (dead) throw new Error("died");
  });
}

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
    const told = new Set<string>();
    api.beforeEach(() => {
      for (const { type, status, reason } of readStatus(current()).conditions ?? [])
        told.add(`${type} ${status} ${reason}`);
    });
    annotate({ [ROTATE_AT]: "now" });
    expect(await settle()).toContain("renew");
    expect(held()).not.toBe(first);
    expect([...told].filter((each) => each.startsWith("Ready"))).toEqual(["Ready True Available"]);
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

  test("at 100 tokens of the user: those that have expired are deleted, and else it says so and makes none", async () => {
    const { live, platform, status, held, annotate } = open();
    for (let nth = 0; nth < 100; nth++) platform.make(nth === 0 ? 3600 : 31_536_000);
    const { settle, skip } = live();
    const ready = () => status().conditions?.find(({ type }) => type === "Ready");
    await settle(3);
    expect([ready()?.reason, platform.values.length]).toEqual(["QuotaExceeded", 100]);
    expect(ready()?.message).toContain("has 100 tokens and the platform allows 100: delete those");
    skip(HOUR + 1000);
    annotate({ "mooring.dev/reconcile-at": "now" });
    await settle();
    expect([platform.items.size, platform.isGood(held())]).toEqual([100, true]);
    platform.items.clear();
    platform.forgetMost();
  });

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

  test("and not known to be, tokens follow one another with a growing pause", async () => {
    const world = open(token({ lifetime: "1h" }), { behindMs, isKnown: false });
    await live(world);
    // The pause doubles from 1 to 32 seconds and then stays.
    expect(world.platform.values.length).toBeGreaterThan(3);
    expect(world.platform.values.length).toBeLessThan(35);
  });
});

describe("with Date headers that are wrong", () => {
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

  test("or not, a platform that is 66 minutes ahead has tokens of an hour renewed before they end", async () => {
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

test("a token is the object's also while its successor is made, and after that until it is revoked", async () => {
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

describe("a lost answer", () => {
  const lose = (platform: ReturnType<typeof fakeTokens>) => {
    let lost = false;
    platform.afterEach((call) => {
      if (!isGeneration(call) || lost) return;
      lost = true;
      throw new Retry({ call: "GET /tokens/generate", status: 0, detail: "reset" }, "unknown");
    });
  };

  test("to the first creation: the token that nobody has is revoked, and another one made", async () => {
    const { live, platform, held } = open();
    lose(platform);
    await live().settle();
    expect(platform.values).toHaveLength(2);
    expect(held()).toBe(platform.values[1]);
    expect([...platform.items.values()].map(({ value }) => value)).toEqual([held()]);
  });

  test("to a renewal: the one in the Secret stays until the next is there", async () => {
    const { live, annotate, platform, held } = open();
    const { settle } = live();
    await settle();
    const first = held();
    lose(platform);
    annotate({ [ROTATE_AT]: "first" });
    platform.beforeEach(() => expect(platform.isGood(held())).toBe(true));
    await settle();
    expect(platform.values).toHaveLength(3);
    expect(held()).toBe(platform.values[2]);
    expect([...platform.items.values()].map(({ value }) => value)).toEqual([first, held()]);
  });

  test("when there are more tokens than it can have made: none is revoked, and the object says so", async () => {
    const { live, platform, held, status } = open();
    platform.make(3600);
    platform.beforeEach((call) => {
      if (isGeneration(call) && platform.values.length === 1) platform.make(3600);
    });
    lose(platform);
    await live().settle();
    expect(platform.isGood(held())).toBe(true);
    const [before = "", theirs = "", ours = ""] = [...platform.items.keys()];
    expect(status().advice?.[0]).toContain(`${theirs}, ${ours}`);
    expect(status().advice?.[0]).not.toContain(before);
    worlds.pop();
  });

  test("that made nothing: a token of the same lifetime from just before is somebody else's", async () => {
    const { live, platform, held } = open();
    const theirs = platform.make(3600);
    let lost = false;
    platform.beforeEach((call) => {
      if (!isGeneration(call) || lost) return;
      lost = true;
      throw new Retry({ call: "GET /tokens/generate", status: 0, detail: "reset" }, "unknown");
    });
    await live().settle();
    expect([platform.isGood(theirs), platform.isGood(held()), platform.values.length]).toEqual([true, true, 2]);
  });

  test("when the token of another lifetime was made meanwhile: that one is somebody else's", async () => {
    const { live, platform, held } = open();
    platform.beforeEach((call) => {
      if (isGeneration(call) && platform.values.length === 0) platform.make(86_400);
    });
    lose(platform);
    await live().settle();
    expect(platform.isGood(platform.values[0])).toBe(true);
    expect([...platform.items.values()].map(({ value }) => value)).toEqual([platform.values[0], held()]);
    worlds.pop();
  });
});

describe("a process that dies", () => {
  const deaths: [string, (world: ReturnType<typeof open>) => void][] = [
    ["before the platform is asked", ({ platform }) => dieAt(platform.beforeEach, isGeneration)],
    ["before it reads the answer", ({ platform }) => dieAt(platform.afterEach, isGeneration)],
    ["before the Secret is written", ({ api }) => dieAt(api.beforeEach, isSecret)],
    ["before the claim is written", ({ api }) => dieAt(api.beforeEach, isStatus)],
    ["after the claim is written", ({ api }) => dieAt(api.beforeEach, isStatus, 2)],
    ["before the one before is revoked", ({ platform }) => dieAt(platform.beforeEach, isRevocation)],
    ["after the one before was revoked", ({ platform }) => dieAt(platform.afterEach, isRevocation)],
  ];

  test.each(deaths)("%s leaves one token, in the Secret, and the one before for its time", async (_, die) => {
    const world = open(token({ lifetime: "1d" }));
    const { live, platform, api, annotate, held, remove, object } = world;
    const first = live();
    await first.settle();
    annotate({ [ROTATE_AT]: "first" });
    die(world);
    for (let rounds = 0; rounds < 3; rounds++) {
      await first.settle().catch(() => {});
      first.skip(700_000);
    }
    platform.beforeEach(() => {});
    platform.afterEach(() => {});
    api.beforeEach(() => {});
    const second = live();
    await second.settle();
    expect(platform.isGood(held())).toBe(true);
    expect(held()).not.toBe(platform.values[0]);
    second.skip(700_000);
    await second.settle();
    expect([...platform.items.values()].map(({ value }) => value)).toEqual([held()]);
    remove();
    await second.settle();
    expect([platform.items.size, api.get(object)]).toEqual([0, undefined]);
  });
});
