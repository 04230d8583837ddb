import { describe, expect, test } from "vitest";
import { RECREATE } from "../../src/engine/state/names.ts";
import { readyOf } from "../../src/engine/status/status.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { fakeApiServer } from "../engine/support/fake-api-server.ts";
import { fakePlatform } from "../engine/support/fake-platform.ts";
import {
  clusterAccountOf,
  datacenterSpec,
  intending,
  intentOf,
  objectOf,
  readyCondition,
} from "../engine/support/fixtures.ts";
import { accountOf, credentials, runEngine } from "../engine/support/running-engine.ts";
import { stage } from "../engine/support/stage.ts";
import { fakeClock } from "../fake-clock.ts";
import { dc, KEY, settle } from "./restored-datacenter.ts";

const MINUTE = 60_000;
const body = (name: string) => ({ properties: { name, location: "de/txl" } });

/** An engine that starts with these objects. */
async function startWith(platform: ReturnType<typeof fakePlatform>, ...objects: KubeObject[]) {
  const initial = [credentials, accountOf("main"), ...objects];
  const api = fakeApiServer(...initial);
  const clock = fakeClock();
  const engine = await runEngine(initial, { clock, platform, api });
  await clock.advance(MINUTE);
  const condition = (object: KubeObject) => readyOf(api.get(object) ?? object);
  const edit = async (object: KubeObject, change: (now: KubeObject) => KubeObject) => {
    engine.put(change(api.get(object) ?? object));
    await clock.advance(MINUTE);
  };
  return { engine, clock, condition, edit, api };
}

describe("an object that is older than the operator and names no resource", () => {
  test("does not create what is there under its name, and says how to adopt it and how to create another one", async () => {
    const platform = fakePlatform();
    const id = platform.make("a", body("a"));
    const object = dc();
    const { engine, condition } = await startWith(platform, object);
    await using _ = engine;
    expect(platform.sent("POST")).toEqual([]);
    expect(condition(object)?.reason).toBe("AlreadyExists");
    const { message } = condition(object) ?? {};
    expect(message).toContain(`kubectl -n shop patch datacenter a --type merge -p '{"spec":{"externalId":"${id}"}}'`);
    expect(message).toContain(`kubectl -n shop annotate datacenter a ${RECREATE}=${id}`);
  });

  test("adopts it, or creates another one, on request", async () => {
    for (const [change, posts] of [
      [(now: KubeObject, id: string) => ({ ...now, spec: { ...Object(now.spec), externalId: id } }), 0],
      [
        (now: KubeObject, id: string) => ({ ...now, metadata: { ...now.metadata, annotations: { [RECREATE]: id } } }),
        1,
      ],
    ] as const) {
      const platform = fakePlatform();
      const id = platform.make("a", body("a"));
      const object = dc();
      const { engine, condition, edit } = await startWith(platform, object);
      await using _ = engine;
      await edit(object, (now) => {
        const { metadata, ...rest } = change(now, id);
        return { ...rest, metadata: { ...metadata, generation: (metadata.generation ?? 1) + (posts === 0 ? 1 : 0) } };
      });
      expect(condition(object)?.reason).toBe("Available");
      expect(platform.sent("POST")).toHaveLength(posts);
    }
  });

  test("adopts it also if a creation was begun before, once that has certainly created nothing", async () => {
    const platform = fakePlatform();
    const object = dc({}, intending("a", intentOf({ hash: "of another body" })));
    const life = stage([object], { platform });
    life.deps.memories.of(KEY).doubt = { since: life.clock.monotonic() };
    const id = platform.make("a", body("a"));
    const untilSettled = async () => {
      for (let pass = 0; pass < 5; pass++) {
        await life.passes(KEY);
        await life.clock.advance(settle);
      }
      const found = life.api.get(object) ?? object;
      return { found, reason: readyOf(found)?.reason };
    };
    const { found, reason } = await untilSettled();
    expect(reason).toBe("AlreadyExists");
    const metadata = { ...found.metadata, generation: 2 };
    life.api.put({ ...found, metadata, spec: { ...Object(found.spec), externalId: id } });
    life.sync();
    expect(await untilSettled()).toMatchObject({ found: { status: { id } }, reason: "Available" });
    expect(platform.sent("POST")).toEqual([]);
  });

  test("creates nothing because a list hides what is there: by its id it can be read", async () => {
    const platform = fakePlatform();
    const id = platform.make("a", body("a"));
    platform.make("b", body("b"));
    const object = dc();
    const { engine, condition, clock } = await startWith(platform, object);
    await using _ = engine;
    expect(condition(object)?.reason).toBe("AlreadyExists");
    platform.hideInLists(id);
    await clock.advance(20 * MINUTE);
    expect(platform.sent("POST")).toEqual([]);
    expect(condition(object)?.reason).toBe("AlreadyExists");
  });

  test("creates nothing while the list lacks what other objects own", async () => {
    const platform = fakePlatform();
    const ids = [platform.make("a", body("a")), platform.make("owned", body("owned"))];
    const status = { id: ids[1] ?? "", account: "shop/main", conditions: [readyCondition()], observedGeneration: 1 };
    const owner = objectOf("Datacenter", "owned", { spec: datacenterSpec, status });
    platform.hideInLists(...ids);
    const object = dc();
    const { engine, condition, clock } = await startWith(platform, owner, object);
    await using _ = engine;
    await clock.advance(5 * MINUTE);
    expect(platform.sent("POST")).toEqual([]);
    platform.hideInLists();
    await clock.advance(10 * MINUTE);
    expect(platform.sent("POST")).toEqual([]);
    expect(condition(object)?.reason).toBe("AlreadyExists");
  });

  test("continues by itself when its obstacle is gone", async () => {
    const platform = fakePlatform();
    const id = platform.make("a", body("a"));
    const object = dc();
    const { engine, condition, clock } = await startWith(platform, object);
    await using _ = engine;
    platform.removeByHand(id);
    await clock.advance(10 * MINUTE);
    expect(condition(object)?.reason).toBe("Available");
    expect(platform.sent("POST")).toHaveLength(1);
  });

  test("is created when what is there has another name or another creator, or is another object's", async () => {
    const platform = fakePlatform();
    platform.make("b", body("b"));
    platform.make("a", body("a"), { user: "somebody" });
    const id = platform.make("a", body("a"));
    const owner = objectOf("Datacenter", "owner", {
      spec: { ...datacenterSpec, name: "a" },
      status: { id, account: "shop/main" },
    });
    const object = dc();
    const { engine, condition } = await startWith(platform, owner, object);
    await using _ = engine;
    expect(condition(object)?.reason).toBe("Available");
    expect(platform.sent("POST")).toHaveLength(1);
  });

  test("creates no Lan while there is one with the number that it had", async () => {
    const platform = fakePlatform();
    const path = "/datacenters/dc-1/lans";
    const number = platform.make("a", { properties: { name: "a", public: false } }, { path });
    const home = objectOf("Datacenter", "home", {
      spec: datacenterSpec,
      status: { id: "dc-1", account: "shop/main", conditions: [readyCondition()], observedGeneration: 1 },
    });
    const status = { internal: { left: number } };
    const object = objectOf("Lan", "a", { spec: { datacenterRef: { name: "home" } }, status });
    const life = stage([home, object], { platform });
    const key = "Lan/shop/a";
    life.deps.memories.of(key).doubt = { since: life.clock.monotonic() };
    await life.passes(key);
    await life.clock.advance(5000);
    await life.passes(key);
    const found = life.api.get(object);
    expect(found && readyOf(found)?.reason).toBe("AlreadyExists");
    expect(platform.sent("POST")).toEqual([]);
  });

  test("does not create what is there in its current parent, after a creation that was begun in another one", async () => {
    const platform = fakePlatform();
    platform.make("a", { properties: { name: "a", public: false } }, { path: "/datacenters/dc-1/lans" });
    const home = objectOf("Datacenter", "home", {
      spec: datacenterSpec,
      status: { id: "dc-1", account: "shop/main", conditions: [readyCondition()], observedGeneration: 1 },
    });
    const metadata = intending("a", intentOf({ hash: "h", parents: { datacenter: "dc-0" } }));
    const object = objectOf("Lan", "a", { spec: { datacenterRef: { name: "home" } }, metadata });
    const life = stage([home, object], { platform });
    const key = "Lan/shop/a";
    life.deps.memories.of(key).doubt = { since: life.clock.monotonic() };
    for (let pass = 0; pass < 8; pass++) {
      await life.passes(key);
      await life.clock.advance(settle);
    }
    const found = life.api.get(object);
    expect(platform.sent("POST")).toEqual([]);
    expect(found && readyOf(found)?.reason).toBe("AlreadyExists");
  });

  test("learns no id of a contract that is shared", async () => {
    const platform = fakePlatform();
    const id = platform.make("a", body("a"));
    const shared = clusterAccountOf("shared", { default: true, namespaces: { selector: {} } });
    const object = dc({ accountRef: { kind: "ClusterAccount", name: "shared" } });
    const life = stage([shared, object], { platform });
    life.deps.memories.of(KEY).doubt = { since: life.clock.monotonic() };
    await life.passes(KEY);
    await life.clock.advance(5000);
    await life.passes(KEY);
    const found = life.api.get(object);
    expect(found && readyOf(found)?.reason).toBe("AlreadyExists");
    expect(JSON.stringify(found)).not.toContain(id);
    expect(found && readyOf(found)?.message).toContain(`${RECREATE}=another`);
  });
});

test("an object that comes while the operator runs is created without a list", async () => {
  const platform = fakePlatform();
  platform.make("a", body("a"));
  const { engine, clock, condition } = await startWith(platform);
  await using _ = engine;
  const lists = () => platform.sent("GET").filter(({ url }) => new URL(url).pathname.endsWith("/datacenters")).length;
  const before = lists();
  const object = dc();
  platform.beforeEach(({ method }) => {
    if (method === "POST") expect(lists()).toBe(before);
  });
  engine.put(object);
  await clock.advance(MINUTE);
  expect(condition(object)?.reason).toBe("Available");
  expect(platform.sent("POST")).toHaveLength(1);
});
