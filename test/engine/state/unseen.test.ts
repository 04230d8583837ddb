import { describe, expect, test } from "vitest";
import { RECREATE } from "../../../src/engine/state/names.ts";
import { Forbidden, NotFound, Retry, Unauthorized } from "../../../src/platform/answers/errors.ts";
import { LimitExceeded } from "../../../src/platform/answers/limits.ts";
import type { PlatformCall } from "../../../src/platform/calls/transport.ts";
import { API, type FakePlatform, fakePlatform } from "../support/fake-platform.ts";
import { handleOf, objectOf } from "../support/fixtures.ts";
import { stage } from "../support/stage.ts";

const A = "Datacenter/shop/a";
const id = "dc-a-0";
const body = { properties: { name: "a", location: "de/txl" } };
const status = { id, account: "shop/main", contract: 1, userId: "u1" };

/** An object whose datacenter was visible before `happens`. Returns the object after twenty minutes. */
async function observeAfter(
  happens: (platform: FakePlatform) => void,
  {
    spec = {},
    annotations = {},
    neighbours = 0,
    others = [],
  }: { spec?: object; annotations?: Record<string, string>; neighbours?: number; others?: string[] } = {},
) {
  const platform = fakePlatform();
  platform.make("a", body);
  for (const name of others) platform.make(name, { properties: { name } }, { targets: [name] });
  for (let n = 0; n < neighbours; n++) platform.make(`other-${n}`, { properties: { name: "other" } });
  const object = objectOf("Datacenter", "a", {
    spec: { location: "de/txl", ...spec },
    status,
    metadata: { name: "a", annotations, creationTimestamp: "2025-12-31T23:00:00Z" },
  });
  const owners = others.map((name) =>
    objectOf("Datacenter", name, { spec: { location: "de/txl" }, status: { ...status, id: name } }),
  );
  const all = stage([object, ...owners], { platform });
  platform.setClock(all.clock.now);
  for (const name of ["a", ...others]) all.contextOf(`Datacenter/shop/${name}`);
  await all.clock.advance(0);
  expect(await all.passes(A)).toContain("rest");
  happens(platform);
  all.deps.collections.refresh(A);
  const read = async (seconds: number) => {
    const steps = new Set<string>();
    for (let passed = 0; passed < seconds; passed += 5) {
      await all.clock.advance(5000);
      for (const step of await all.passes(A)) steps.add(step);
    }
    return steps;
  };
  const steps = await read(1200);
  return { ...all, steps, read, posts: () => platform.sent("POST").length };
}

const gateway = ({ method, url }: PlatformCall) => {
  const call = `${method} ${new URL(url).pathname}`;
  if (!url.includes("/contracts"))
    throw new Retry({ call, status: 404, detail: "404 without the platform's error body" }, "no");
};

describe("a claim of another user", () => {
  const theirs = objectOf("Datacenter", "a", { spec: { location: "de/txl" }, status: { ...status, userId: "u0" } });
  const open = (acceptsUser?: string) => {
    const platform = fakePlatform();
    platform.make("a", body);
    const connection = platform.connectionOf("shop/main");
    const all = stage([theirs], { platform, connection });
    all.accounts.put(handleOf("shop/main", { connection, endpoint: () => API, acceptsUser }));
    return all;
  };

  test("is neither looked for nor changed, and says whose token is needed", async () => {
    const { passes, contextOf, platform } = open();
    expect(await passes(A)).toEqual(["stall UserChanged"]);
    expect(contextOf(A).view.account.obstacle?.message).toMatch(/user u0.*user u1.*accept-user of the Account to "u1"/);
    expect(platform.calls).toEqual([]);
  });

  test("is kept by the user whom the Account accepts", async () => {
    const { passes, contextOf, clock, api } = open("u1");
    contextOf(A);
    await clock.advance(0);
    expect(await passes(A)).toContain("rest");
    expect(api.get(theirs)?.status).toMatchObject({ id, userId: "u1" });
  });
});

test("a list that is too large says so, and the object is read by itself", async () => {
  const platform = fakePlatform();
  platform.make("a", body);
  const limit = "the list has more than 60,000 items";
  platform.beforeEach(({ url }) => {
    if (url.includes("/datacenters?"))
      throw new Retry({ call: "GET /datacenters", status: 200, detail: limit, cause: new LimitExceeded(limit) }, "no");
  });
  const { contextOf, passes, clock } = stage([objectOf("Datacenter", "a", { spec: { location: "de/txl" }, status })], {
    platform,
  });
  contextOf(A);
  await clock.advance(0);
  expect(await passes(A)).toEqual(["wait ListTooLarge"]);
  await clock.advance(1000);
  expect(await passes(A)).toContain("rest");
});

describe("a resource that is not seen any more", () => {
  test.each<[string, (platform: FakePlatform) => void]>([
    ["because a gateway answers 404 to everything", (platform) => platform.beforeEach(gateway)],
    ["because all lists and reads are empty", (platform) => platform.items.clear()],
    [
      "because the platform itself answers 404 to everything",
      (platform) =>
        platform.beforeEach(({ method, url }) => {
          if (url.includes("/datacenters"))
            throw new NotFound({ call: `${method} ${url}`, status: 404, errorCode: "309" });
        }),
    ],
    [
      "because the token is refused",
      (platform) =>
        platform.beforeEach(({ url }) => {
          throw new Unauthorized({ call: url, status: 401 });
        }),
    ],
    [
      "because the user may not see it any more",
      (platform) =>
        platform.beforeEach(({ url }) => {
          throw new Forbidden({ call: url, status: 403 });
        }),
    ],
  ])("%s is not created a second time, and recovers when it is seen", async (_, happens) => {
    let before = new Map();
    const { steps, read, posts, platform } = await observeAfter((there) => {
      before = new Map(there.items);
      happens(there);
    });
    expect(posts()).toBe(0);
    expect([...steps]).not.toContain("forget");
    platform.beforeEach(() => {});
    for (const [key, item] of before) platform.items.set(key, item);
    expect([...(await read(400))]).toContain("rest");
    expect(posts()).toBe(0);
  });

  test("alone, while others are shown, and no log tells of its deletion is missing, and not created again", async () => {
    const { steps, posts } = await observeAfter((platform) => platform.items.delete(id), { neighbours: 5 });
    expect([...steps]).toContain("stall Missing");
    expect(posts()).toBe(0);
  });

  test("is created again where spec says that missing is enough, and others are shown", async () => {
    const { steps, posts, events } = await observeAfter((platform) => platform.items.delete(id), {
      neighbours: 5,
      spec: { recreatePolicy: "WhenMissing" },
    });
    expect([...steps]).toContain("forget");
    expect(posts()).toBe(1);
    expect(events.join()).toContain(`Vanished Datacenter ${id} is no longer on the platform`);
  });

  test("is not created again where that is enough but everything else is missing, too", async () => {
    const gone = (platform: FakePlatform) => platform.items.clear();
    const { posts } = await observeAfter(gone, { neighbours: 5, spec: { recreatePolicy: "WhenMissing" } });
    expect(posts()).toBe(0);
  });

  test.each([
    ["created again there while few others that have objects are missing", ["b", "c"], 1],
    ["not created again there while many are", ["b", "c", "d"], 0],
  ])("is %s", async (_, others, times) => {
    const gone = ({ items }: FakePlatform) => [id, ...others].forEach((each) => void items.delete(each));
    const { posts } = await observeAfter(gone, { neighbours: 5, others, spec: { recreatePolicy: "WhenMissing" } });
    expect(posts()).toBe(times);
  });

  test.each<[string, number, (call: string) => Error]>([
    ["not created again while the log of deletions fails", 0, (call) => new Retry({ call, status: 503 }, "no")],
    ["not created again while the token is refused there", 0, (call) => new Unauthorized({ call, status: 401 })],
    ["created again where no log may be read", 1, (call) => new Forbidden({ call, status: 403 })],
  ])("is %s", async (_, times, error) => {
    const happens = (platform: FakePlatform) => {
      platform.items.delete(id);
      platform.beforeEach(({ method, url }) => {
        if (method === "GET" && /requests|activitylog/.test(url)) throw error(url);
      });
    };
    expect((await observeAfter(happens, { neighbours: 5 })).posts()).toBe(times);
  });

  test.each<[string, (platform: FakePlatform) => void, (call: string, nth: number) => Error | undefined]>([
    [
      "four answers around ten minutes of trouble",
      ({ items }) => items.delete(id),
      (call, nth) => (nth % 4 === 0 ? undefined : new Retry({ call, status: 503 }, "no")),
    ],
    [
      "ten minutes without it, in which a read has shown it,",
      ({ hideInLists }) => hideInLists(id),
      (call, nth) => (nth % 4 === 0 ? undefined : new NotFound({ call, status: 404 })),
    ],
  ])("%s prove nothing", async (_, happens, errorOf) => {
    let reads = 0;
    const { posts } = await observeAfter(
      (platform) => {
        happens(platform);
        platform.beforeEach(({ url }) => {
          const error = url.includes(`/datacenters/${id}`) ? errorOf(url, ++reads) : undefined;
          if (error) throw error;
        });
      },
      { neighbours: 5, spec: { recreatePolicy: "WhenMissing" } },
    );
    expect(reads).toBeGreaterThan(4);
    expect(posts()).toBe(0);
  });

  test("is created again when the log tells of its deletion, and says by whom", async () => {
    const { steps, posts, events } = await observeAfter((platform) => platform.removeByHand(id));
    expect([...steps]).toContain("forget");
    expect(posts()).toBe(1);
    expect(events.join()).toContain(`Vanished Datacenter ${id} was deleted outside Mooring by somebody at 2026-01-01`);
  });

  test("is not created again while its deletion is under way, nor when that has failed", async () => {
    const { posts, steps } = await observeAfter((platform) => platform.removeByHand(id, { status: "FAILED" }));
    expect([posts(), [...steps].includes("forget")]).toEqual([0, false]);
    expect((await observeAfter((platform) => platform.removeByHand(id, { status: "BUSY" }))).posts()).toBe(0);
  });

  test("is never created again where spec says so, and says who deleted it", async () => {
    const { steps, posts, contextOf, api } = await observeAfter((platform) => platform.removeByHand(id), {
      spec: { recreatePolicy: "Never" },
    });
    expect([...steps]).toContain("stall DeletedExternally");
    expect(posts()).toBe(0);
    const message = JSON.stringify(api.get(contextOf(A).object)?.status);
    expect(message).toContain(`deleted outside Mooring by somebody at`);
    expect(message).toContain(`set the annotation ${RECREATE} to`);
  });

  type Observed = Awaited<ReturnType<typeof observeAfter>>;
  /** Somebody sets the annotation, or removes it. */
  const annotate = ({ api, contextOf, sync }: Observed, annotations: Record<string, string>) => {
    const { object } = contextOf(A);
    const now = api.get(object) ?? object;
    api.put({ ...now, metadata: { ...now.metadata, annotations } });
    sync();
  };
  const adviceOf = ({ api, contextOf }: Observed) => Object(api.get(contextOf(A).object)?.status).advice;
  const spec = { recreatePolicy: "Never" };

  test("is created anew when a person names it, and no other one, after status said so, once", async () => {
    const observed = await observeAfter((platform) => platform.items.delete(id), { neighbours: 5, spec });
    annotate(observed, { [RECREATE]: "dc-b-1" });
    await observed.read(60);
    expect(observed.posts()).toBe(0);
    expect(adviceOf(observed)).toEqual([expect.stringContaining(`has no effect: only "${id}" asks for a new one`)]);
    annotate(observed, { [RECREATE]: id });
    await observed.read(1200);
    expect(observed.posts()).toBe(1);
    expect(adviceOf(observed)).toBeUndefined();
  });

  test("is created anew where nothing proves its absence, when a person names it after status said so", async () => {
    const observed = await observeAfter((platform) => platform.items.clear(), { spec });
    expect(observed.posts()).toBe(0);
    annotate(observed, { [RECREATE]: id });
    await observed.read(60);
    expect(observed.posts()).toBe(1);
  });

  test("is not created anew by an annotation that was there before, which status.advice says, until it is set again", async () => {
    const annotations = { [RECREATE]: id };
    const observed = await observeAfter((platform) => platform.items.delete(id), { neighbours: 5, spec, annotations });
    const early = expect.stringContaining(`annotation ${RECREATE} is "${id}" and has no effect`);
    expect(adviceOf(observed)).toEqual([early]);
    expect([observed.posts(), observed.events.filter((event) => event.includes(RECREATE)).length]).toEqual([0, 2]);
    const before = observed.api.get(observed.contextOf(A).object)?.metadata.resourceVersion;
    await observed.read(1200);
    expect(observed.api.get(observed.contextOf(A).object)?.metadata.resourceVersion).toBe(before);
    annotate(observed, {});
    await observed.read(60);
    expect(adviceOf(observed)).toBeUndefined();
    annotate(observed, annotations);
    await observed.read(1200);
    expect(observed.posts()).toBe(1);
  });

  test("an annotation on an object whose resource is there has no effect, which status.advice says", async () => {
    const observed = await observeAfter(() => {}, { spec, annotations: { [RECREATE]: id } });
    expect(adviceOf(observed)).toEqual([expect.stringContaining("has no effect")]);
    observed.platform.items.clear();
    observed.deps.collections.refresh(A);
    await observed.read(1200);
    expect(observed.posts()).toBe(0);
  });
});
