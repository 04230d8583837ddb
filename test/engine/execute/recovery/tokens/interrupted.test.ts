import { afterEach, describe, expect, test } from "vitest";
import { ROTATE_AT } from "../../../../../src/engine/state/names.ts";
import type { KubeCall } from "../../../../../src/kube/client/transport.ts";
import { Retry } from "../../../../../src/platform/answers/errors.ts";
import type { PlatformCall } from "../../../../../src/platform/calls/transport.ts";
import { isDryRun } from "../../../support/fake-api-server.ts";
import type { fakeTokens } from "../../../support/fake-tokens.ts";
import { A, checkWorlds, isGeneration, open, token, worlds } from "./token-world.ts";

afterEach(checkWorlds);

const isSecret = (call: KubeCall) => call.path.includes("/secrets") && call.method !== "GET" && !isDryRun(call);
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

  test("waits for no list that may show it: none says whose a token is", async () => {
    const { live, platform } = open();
    let lost = false;
    platform.beforeEach((call) => {
      if (!isGeneration(call) || lost) return;
      lost = true;
      throw new Retry({ call: "GET /tokens/generate", status: 0, detail: "reset" }, "unknown");
    });
    const life = live();
    const doubts = new Set<unknown>();
    for (let round = 0; round < 60; round++) {
      life.sync();
      await life.pass(A);
      doubts.add(life.deps.memories.of(A).doubt);
      await life.clock.advance(2000);
    }
    expect(platform.values).toHaveLength(1);
    expect([...doubts]).toEqual([undefined]);
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
