import { describe, expect, test } from "vitest";
import { noticeChange } from "../../src/controllers/changes.ts";
import { createWaker } from "../../src/controllers/waker.ts";
import { readStatus, readyOf } from "../../src/engine/status/status.ts";
import { createQueue } from "../../src/kube/queue/queue.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { datacenterSpec, objectOf } from "../engine/support/fixtures.ts";
import { stage } from "../engine/support/stage.ts";
import { dc, KEY, settle } from "./restored-datacenter.ts";

for (let n = 0; n < 2000; n++) objectOf("Lan", "x");
describe("while the API server is set back to an earlier state", () => {
  test("nothing is created for an object that tells of nothing any more, or comes again, while its resource is there", async () => {
    const object = dc();
    const life = stage([object]);
    const { api, objects, platform, clock } = life;
    const early = structuredClone(api.get(object));
    await life.passes(KEY);
    life.sync();
    await life.passes(KEY);
    expect(platform.sent("POST")).toHaveLength(1);
    if (!early) throw new Error("the object is not there");
    const [, reborn] = [early, { ...early, metadata: { ...early.metadata, uid: "another", resourceVersion: "998" } }];
    for (const [list, then] of [
      [[early], undefined],
      [[], reborn],
    ] as const) {
      await objects.store("Datacenter").replaceAll(structuredClone(list), "990");
      api.remove(object);
      api.put(then ?? early);
      life.sync();
      for (let pass = 0; pass < 5; pass++) {
        await life.passes(KEY);
        await clock.advance(2000);
      }
      const found = api.get(object);
      expect(found && readyOf(found)?.reason).toBe("AlreadyExists");
    }
    expect(platform.sent("POST")).toHaveLength(1);
    expect(platform.sent("DELETE")).toEqual([]);
  });

  test("an object whose resource had another name afterwards does not create a third one", async () => {
    const object = dc();
    const life = stage([object]);
    const { api, objects, platform, clock } = life;
    const passes = async () => {
      for (let pass = 0; pass < 5; pass++) {
        life.sync();
        await life.passes(KEY);
        await clock.advance(2000);
      }
    };
    await passes();
    const early = structuredClone(api.get(object));
    const first = early && readStatus(early).id;
    if (!early || first === undefined) throw new Error("it was not created");
    platform.removeByHand(first);
    api.remove(object);
    life.sync();
    api.put(dc({ name: "renamed" }, { uid: "another" }));
    await passes();
    const second = readStatus(api.get(object) ?? object).id;
    expect(second).not.toBe(first);
    expect(platform.sent("POST")).toHaveLength(2);
    await objects.store("Datacenter").replaceAll([structuredClone(early)], "5");
    api.remove(object);
    api.put(early);
    await passes();
    expect(platform.sent("POST")).toHaveLength(2);
    const { reason, message } = readyOf(api.get(object) ?? object) ?? {};
    expect(reason).toBe("AlreadyExists");
    expect(message).toContain(`Datacenter ${second}, which this object had before the API server was restored,`);
  });

  test("an object whose number went to somebody else's resource meanwhile has lost nothing that is there", async () => {
    const parents = { datacenter: "72e73b81-8551-4e74-b398-fc63b39994af" };
    const path = `/datacenters/${parents.datacenter}/lans`;
    const spec = { datacenterId: parents.datacenter };
    const lan = objectOf("Lan", "a", { spec });
    const life = stage([lan]);
    const { api, objects, platform, clock } = life;
    platform.make("theirs", { properties: { name: "theirs", public: true } }, { path });
    const early = structuredClone(api.get(lan) ?? lan);
    api.put({ ...early, status: { id: "1", parents, account: "shop/main", born: "2025-12-01T00:00:00Z" } });
    life.sync();
    await objects.store("Lan").replaceAll([structuredClone(early)], "5");
    api.remove(lan);
    api.put(early);
    for (let pass = 0; pass < 100 && platform.sent("POST").length === 0; pass++) {
      life.sync();
      await life.passes("Lan/shop/a");
      await clock.advance(2000);
    }
    expect(readyOf(api.get(early) ?? early)?.message ?? "").not.toContain("before the API server was restored");
    expect(platform.writes()).toEqual([`POST /cloudapi/v6${path}`]);
  });

  test("an object that is set back to the middle of its creation gets its own resource again", async () => {
    const object = dc();
    const life = stage([object]);
    const { api, objects, platform, clock } = life;
    let early: KubeObject | undefined;
    platform.afterEach(({ method }) => {
      if (method === "POST") early = structuredClone(api.get(object));
    });
    await life.passes(KEY);
    life.sync();
    await life.passes(KEY);
    const { id } = readStatus(api.get(object) ?? object);
    if (!early || id === undefined) throw new Error("it was not created");
    await objects.store("Datacenter").replaceAll([structuredClone(early)], "990");
    api.remove(object);
    api.put(early);
    life.sync();
    for (let pass = 0; pass < 5; pass++) {
      await life.passes(KEY);
      await clock.advance(2000);
    }
    expect(api.get(object)).toMatchObject({ status: { id } });
    expect(platform.sent("POST")).toHaveLength(1);
  });

  test.each([
    ["seen", (life: ReturnType<typeof stage>) => life.objects.store("Datacenter").replaceAll([], "5")],
    [
      "not yet seen",
      (life: ReturnType<typeof stage>) => {
        const request = life.api.client.request.bind(life.api.client);
        life.deps.client = {
          ...life.api.client,
          async request<T>(call: Parameters<typeof request>[0]): Promise<T> {
            const answer = await request<T>(call);
            return call.method === "GET" && "limit" in (call.query ?? {})
              ? { ...answer, metadata: { resourceVersion: "5" } }
              : answer;
          },
        };
        const last = life.objects.find(KEY)?.object;
        if (last)
          life.objects.store("Datacenter").remove({ ...last, metadata: { ...last.metadata, resourceVersion: "9000" } });
      },
    ],
  ])("a resource that was being created for an object that no longer exists stays (%s)", async (_, rewind) => {
    const object = dc();
    const life = stage([object]);
    const { platform, api, deps, cleanups, clock } = life;
    const said: unknown[] = [];
    deps.log = { ...deps.log, error: (fields, message) => said.push([fields, message]) };
    platform.afterEach(({ method }) => {
      if (method !== "POST") return;
      api.remove(object);
      void rewind(life);
    });
    await life.pass(KEY).catch(() => {});
    const all = Promise.all(cleanups);
    await clock.advance(settle);
    await all;
    expect(platform.sent("DELETE")).toEqual([]);
    expect(JSON.stringify(said)).toContain("externalId");
    expect(readStatus(object).id).toBeUndefined();
  });

  test.each([
    ["Datacenter", datacenterSpec, true],
    ["AccessToken", { lifetime: "1h" }, false],
    ["CentralLogging", { region: "de/txl" }, false],
  ])("a %s waits for a list only where that may show the resource that it lost", async (kind, spec, waits) => {
    const object = objectOf(kind, "a", { spec });
    const { api, objects, deps, sync } = stage([object]);
    const early = structuredClone(api.get(object) ?? object);
    api.put(early);
    sync();
    await objects.store(kind).replaceAll([early], "990");
    expect(deps.memories.rewound.at).toBeDefined();
    expect(deps.memories.of(`${kind}/shop/a`).doubt !== undefined).toBe(waits);
  });

  test("an object whose status alone is older than before is reconciled, and an own write to status wakes nothing", () => {
    const { deps, clock } = stage([]);
    const queue = createQueue({ clock });
    const waker = createWaker(queue, deps.shards, () => 0);
    waker.start();
    const before = dc();
    const after = { ...before, status: { observedGeneration: 0 } };
    const parts = { queue, waker };
    const notice = (how: { rewound?: true }) =>
      noticeChange(deps as Parameters<typeof noticeChange>[0], parts, KEY, { before, after, ...how });
    notice({});
    expect(queue.depth).toBe(0);
    notice({ rewound: true });
    expect(queue.depth).toBe(1);
  });
});
