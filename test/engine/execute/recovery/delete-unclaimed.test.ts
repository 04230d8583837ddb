import { describe, expect, test } from "vitest";
import { isDropped, undo } from "../../../../src/engine/execute/delete-unclaimed.ts";
import type { Memory } from "../../../../src/engine/state/memory.ts";
import { FINALIZER } from "../../../../src/engine/state/names.ts";
import { claimOf } from "../../../../src/engine/state/object.ts";
import { datacenter } from "../../../../src/kinds/compute/datacenter.ts";
import type { KubeObject } from "../../../../src/kube/resource.ts";
import { Retry } from "../../../../src/platform/answers/errors.ts";
import { hashBody } from "../../../../src/runtime/hash.ts";
import { API, type FakePlatform } from "../../support/fake-platform.ts";
import { intending, intentOf, objectOf } from "../../support/fixtures.ts";
import { BEGIN, SETTINGS, stage, withResource } from "../../support/stage.ts";

const spec = { name: "same", location: "de/txl" };
const body = { properties: { name: "same", location: "de/txl" } };
const KEY = "Datacenter/shop/a";
const MADE = `${API}/cloudapi/v6/datacenters/dc-same-0`;

/** An object whose creation meets the faults of the test, and the deletions on the platform at the end. */
function open(policy: object = {}, others: KubeObject[] = []) {
  const object = objectOf("Datacenter", "a", { spec: { ...spec, ...policy } });
  const life = stage([object, ...others]);
  const { api, objects, platform, cleanups, clock, deps } = life;
  const lost = () => new Retry({ call: "POST /datacenters", status: 0 }, "unknown");
  /** The API server removes it, and the watch reports that. */
  const drop = () => {
    const last = api.get(object);
    api.remove(object);
    if (last) objects.store("Datacenter").remove({ ...last, metadata: { ...last.metadata, resourceVersion: "9000" } });
  };
  const onPost = (what: () => void) =>
    platform.afterEach(({ method }) => {
      if (method === "POST") what();
    });
  /** One pass with any outcome, and all work that follows from it. */
  async function run(): Promise<string[]> {
    await life.pass(KEY).catch(() => {});
    const all = Promise.all(cleanups);
    await clock.advance(SETTINGS.createDeadlineMs + SETTINGS.settleMs + 10_000);
    await all;
    return platform.sent("DELETE").map(({ url }) => url);
  }
  const created = (then: () => void) => {
    deps.events.record = (_, __, reason) => {
      if (reason === "Creating") then();
    };
  };
  return { object, drop, lost, onPost, run, created, platform, life };
}

describe("an object that goes while its creation is under way leaves nothing", () => {
  test("when it goes before the answer", async () => {
    const { drop, onPost, run } = open();
    onPost(drop);
    expect(await run()).toEqual([MADE]);
  });

  test("when it goes after the id was written, and before the pass ends", async () => {
    const { drop, created, run } = open();
    created(drop);
    expect(await run()).toEqual([MADE]);
  });

  test("when there is no answer: what was made is found in the platform's log", async () => {
    const { drop, lost, onPost, run } = open();
    onPost(() => {
      drop();
      throw lost();
    });
    expect(await run()).toEqual([MADE]);
  });

  test("when nothing was made, nothing is deleted", async () => {
    const { drop, lost, run, platform } = open();
    platform.beforeEach(({ method }) => {
      if (method !== "POST") return;
      drop();
      throw lost();
    });
    expect(await run()).toEqual([]);
  });

  test("but for twins that cannot be told apart: neither is deleted", async () => {
    const { drop, lost, onPost, run, platform } = open();
    onPost(() => {
      platform.make("same", body);
      drop();
      throw lost();
    });
    expect(await run()).toEqual([]);
  });

  test("unless it asks to keep its resource", async () => {
    const early = open({ deletionPolicy: "Retain" });
    early.onPost(early.drop);
    expect(await early.run()).toEqual([]);
    const late = open({ deletionPolicy: "Retain" });
    late.created(late.drop);
    expect(await late.run()).toEqual([]);
  });
});

describe("an equal whose creation got no answer", () => {
  async function neighbours(
    happens: (world: ReturnType<typeof open>) => void,
    its: Parameters<FakePlatform["make"]>[2],
  ) {
    const intent = intentOf({ hash: hashBody(body), endpoint: API });
    const equal = objectOf("Datacenter", "b", { spec, metadata: intending("b", intent) });
    const world = open({}, [equal]);
    const { life, platform, onPost } = world;
    const own = platform.make("same", body, its);
    platform.setClock(life.clock.now);
    // A deleted resource stays visible while its deletion runs.
    platform.setPace({
      removing(item) {
        item.state = "BUSY";
      },
    });
    onPost(() => happens(world));
    await life.pass(KEY).catch(() => {});
    for (let seconds = 0; seconds < 80; seconds++) {
      await life.passes("Datacenter/shop/b");
      await life.clock.advance(1000);
    }
    const deleted = platform.sent("DELETE").map(({ url }) => new URL(url).pathname);
    return { own, owned: claimOf(life.api.get(equal) ?? equal)?.id, deleted };
  }

  test("has one of the two when which is whose cannot be told, and the other one is deleted", async () => {
    const { own, owned, deleted } = await neighbours(({ drop, lost }) => {
      drop();
      throw lost();
    }, {});
    expect(owned).toBe(own);
    expect(deleted).toEqual(["/cloudapi/v6/datacenters/dc-same-1"]);
  });

  test("does not take what is being deleted while its own cannot be seen yet", async () => {
    const until = BEGIN + 20_000;
    const { own, owned, deleted } = await neighbours(({ drop }) => drop(), { visibleAt: until, loggedAt: until });
    expect(owned).toBe(own);
    expect(deleted).toEqual(["/cloudapi/v6/datacenters/dc-same-1"]);
  });
});

test("an object that stays keeps what it made", async () => {
  const { run, platform } = open();
  expect(await run()).toEqual([]);
  expect(platform.items.size).toBe(1);
});

test("one that is dropped has our finalizer, was never marked as being deleted, and was just being created", () => {
  const { deps, skip } = stage([]);
  const memory = { creation: { intent: intentOf(), begunAt: 0, phase: "sent" as const } };
  const object = (metadata: object): KubeObject =>
    objectOf("Datacenter", "a", { metadata: { name: "a", ...metadata } });
  const dropped = object({ finalizers: [FINALIZER] });
  expect(isDropped(deps, dropped, memory)).toBe(true);
  expect(isDropped(deps, dropped, {})).toBe(false);
  expect(isDropped(deps, object({ finalizers: ["others/finalizer"] }), memory)).toBe(false);
  const deleted = object({ finalizers: [FINALIZER], deletionTimestamp: "2026-01-01T00:00:00Z" });
  expect(isDropped(deps, deleted, memory)).toBe(false);
  skip(61_000);
  expect(isDropped(deps, dropped, memory)).toBe(false);
});

describe("the creation of an object that is gone", () => {
  const kind = withResource(datacenter);
  const last = objectOf("Datacenter", "a", { spec });
  async function undone(memory: Memory) {
    const { deps, platform, cleanups, accounts } = stage([]);
    platform.make("same", body);
    undo(deps, { key: KEY, kind, account: accounts.get("shop/main"), object: last, memory });
    await Promise.all(cleanups);
    return platform.sent("DELETE").map(({ url }) => url);
  }
  const begun = { intent: intentOf({ nonce: "n" }), begunAt: 0 };
  const claimed = { ...begun, phase: "claimed" as const, made: { id: "dc-same-0" } };

  test("is undone by the id of what it made", async () => {
    expect(await undone({ creation: claimed })).toEqual([MADE]);
    expect(await undone({ creation: { ...claimed, phase: "made" } })).toEqual([MADE]);
  });

  test("is undone once", async () => {
    const memory: Memory = { creation: claimed };
    expect(await undone(memory)).toEqual([MADE]);
    expect(await undone(memory)).toEqual([]);
  });

  test("is nothing when it was certainly not sent", async () => {
    expect(await undone({ creation: { ...begun, phase: "unsent" } })).toEqual([]);
  });

  test("is remembered only while it would be undone", async () => {
    const { deps, clock, passes, sync } = stage([objectOf("Datacenter", "a", { spec })]);
    const settle = async () => {
      for (let round = 0; round < 4; round++) {
        await clock.advance(2_000);
        sync();
        await passes(KEY);
      }
    };
    await settle();
    expect(deps.memories.of(KEY).creation).toMatchObject({ phase: "claimed", made: { id: "dc-same-0" } });
    await clock.advance(6 * SETTINGS.settleMs);
    await settle();
    expect(deps.memories.of(KEY).creation).toBeUndefined();
  });
});
