import { describe, expect, test } from "vitest";
import { RECREATE } from "../../../../../src/engine/state/names.ts";
import { readyOf } from "../../../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../../../src/kube/resource.ts";
import { Retry } from "../../../../../src/platform/answers/errors.ts";
import type { Connection, Reply } from "../../../../../src/platform/calls/transport.ts";
import { fakePlatform } from "../../../support/fake-platform.ts";
import { objectOf } from "../../../support/fixtures.ts";
import { stage } from "../../../support/stage.ts";

const NOTHING: string[] = [];
const SHARED = { kind: "ClusterAccount", name: "shared" };

/** A platform that answers each of the first creations with the id of an older resource, which nobody has. */
function deceived(
  spec: object = {},
  { lies = Number.POSITIVE_INFINITY, others = [] as KubeObject[], shared = false } = {},
) {
  const platform = fakePlatform();
  const older = platform.make("x", { properties: { name: "by-hand", location: "de/txl" } }, { targets: [OLDER] });
  const honest = platform.connectionOf("shop/main");
  let left = lies;
  const connection: Connection = {
    ...honest,
    get identity() {
      return honest.identity;
    },
    async send(call): Promise<Reply> {
      const reply = await honest.send(call);
      return call.method === "POST" && left-- > 0 ? { ...reply, body: { ...Object(reply.body), id: older } } : reply;
    },
  };
  const accountRef = shared ? { accountRef: SHARED } : {};
  const object = objectOf("Datacenter", "a", { spec: { name: "a", location: "de/txl", ...accountRef, ...spec } });
  const begun = stage([object, ...others], { platform, connection });
  const handle = begun.accounts.get("ClusterAccount/shared");
  if (handle) begun.accounts.put({ ...handle, connection });
  const world = { all: begun };
  platform.setClock(() => world.all.clock.now());
  const stored = () => begun.api.get(object) ?? object;
  const edit = (change: (object: KubeObject) => KubeObject) => {
    const { generation = 1 } = stored().metadata;
    const edited = change(stored());
    begun.api.put({ ...edited, metadata: { ...edited.metadata, generation: generation + 1 } });
  };
  return {
    platform,
    older,
    begun,
    stored,
    ready: () => readyOf(stored()),
    annotate: (annotations: Record<string, string>) =>
      edit((each) => ({ ...each, metadata: { ...each.metadata, annotations } })),
    manage: (managementPolicy: string) =>
      edit((each) => ({ ...each, spec: { ...Object(each.spec), managementPolicy } })),
    remove: () =>
      edit((each) => ({ ...each, metadata: { ...each.metadata, deletionTimestamp: "2026-01-01T01:00:00Z" } })),
    creations: () => platform.sent("POST").length,
    touched: () => platform.writes().filter((write) => !write.startsWith("POST")),
    isGone: () => (begun.objects.find("Datacenter/shop/a")?.object.metadata.finalizers ?? []).length === 0,
    restart(): void {
      world.all = stage([stored()], { platform, connection, api: begun.api, wallTime: world.all.clock.now() });
    },
    /** Passes of this object and of others, and minutes. */
    async minutes(count: number, ...keys: string[]): Promise<void> {
      for (let second = 0; second < count * 60; second += 5) {
        world.all.sync();
        for (const key of ["Datacenter/shop/a", ...keys]) if (world.all.objects.find(key)) await world.all.passes(key);
        await world.all.clock.advance(5000);
      }
    },
  };
}
const OLDER = "72e73b81-8551-4e74-b398-fc63b39994af";

/** The older resource is an hour older than the creation. */
async function answered(...options: Parameters<typeof deceived>) {
  const world = deceived(...options);
  await world.begun.clock.advance(3_600_000);
  world.begun.sync();
  await world.begun.passes("Datacenter/shop/a");
  expect(Object(world.stored().status).id).toBe(world.older);
  return world;
}

describe("an older resource of nobody that a creation was answered with", () => {
  test("is not the object's: it says so, also after a restart, and creates nothing else", async () => {
    const world = await answered();
    await world.minutes(5);
    world.restart();
    await world.minutes(5);
    expect(Object(world.stored().status).id).toBeUndefined();
    expect(world.ready()).toMatchObject({ status: "False", reason: "AlreadyExists" });
    expect(world.ready()?.message).toContain(`Datacenter ${world.older} is not what this object has created`);
    expect([world.creations(), world.touched()]).toEqual([1, NOTHING]);
  });

  const ways: [what: string, way: (world: Awaited<ReturnType<typeof answered>>) => Promise<void>][] = [
    ["the intent being removed", async (world) => world.annotate({})],
    [
      "Observe, and then Manage",
      async (world) => {
        world.manage("Observe");
        await world.minutes(3);
        world.manage("Manage");
      },
    ],
    [
      "both",
      async (world) => {
        world.annotate({});
        world.manage("Observe");
        await world.minutes(3);
        world.manage("Manage");
      },
    ],
  ];
  test.each(ways.flatMap(([what, way]) => [0, 3].map((later) => ({ what, way, later }))))(
    "is not owned by $what, $later minutes later: it is not changed, and outlives the object",
    async ({ way, later }) => {
      const world = await answered();
      await world.minutes(later);
      await way(world);
      await world.minutes(5);
      expect([Object(world.stored().status).id, world.creations()]).toEqual([undefined, 1]);
      world.restart();
      world.remove();
      await world.minutes(5);
      expect([world.touched(), world.platform.items.has(world.older)]).toEqual([NOTHING, true]);
      expect(world.stored().metadata.finalizers ?? []).toEqual([]);
    },
  );

  test("is not the object's either where the object is deleted before the answer is read: it says what is left", async () => {
    const world = await answered();
    world.remove();
    await world.minutes(5);
    expect([world.touched(), world.platform.items.has(world.older)]).toEqual([NOTHING, true]);
    expect(world.isGone()).toBe(true);
    expect(world.begun.events.at(-1)).toMatch(`Datacenter ${world.older}`);
  });

  test.each([0, 3])("is not the namespace's own in a shared contract, %i minutes later", async (later) => {
    const metadata = { name: "thief", annotations: { "mooring.dev/paused": "true" } };
    const others = [
      objectOf("Lan", "thief", { spec: { accountRef: SHARED, datacenterId: OLDER }, metadata }),
      objectOf("Datacenter", "thief", { spec: { accountRef: SHARED, externalId: OLDER }, metadata }),
    ];
    const world = await answered({}, { others, shared: true });
    await world.minutes(later);
    for (const other of others) {
      const { view } = world.begun.contextOf(`${other.kind}/shop/thief`);
      expect(view.spec.obstacle?.reason).toBe("NotYours");
    }
  });

  test.each(["the same process", "the next process"])(
    "is followed by one other creation in %s where a person asks for it, and by no more if that is answered alike",
    async (which) => {
      const world = await answered();
      await world.minutes(3);
      if (which === "the next process") world.restart();
      world.annotate({ ...world.stored().metadata.annotations, [RECREATE]: world.older });
      await world.minutes(10);
      expect(world.creations()).toBe(2);
      world.restart();
      await world.minutes(10);
      expect([world.creations(), world.touched()]).toEqual([2, NOTHING]);
      expect(Object(world.stored().status).id).not.toBe(world.older);
    },
  );

  test("is followed by an honest answer, which the object has", async () => {
    const world = await answered({}, { lies: 1 });
    await world.minutes(3);
    world.annotate({ ...world.stored().metadata.annotations, [RECREATE]: world.older });
    await world.minutes(10);
    expect(world.ready()?.reason).toBe("Available");
    expect(Object(world.stored().status).id).not.toBe(world.older);
    expect([world.creations(), world.touched()]).toEqual([2, NOTHING]);
  });

  test("can be adopted by its id, by a person who wants it", async () => {
    const world = await answered();
    await world.minutes(3);
    const { spec, ...rest } = world.stored();
    world.begun.api.put({ ...rest, spec: { ...Object(spec), name: "by-hand", externalId: world.older } });
    await world.minutes(3);
    expect(world.ready()?.reason).toBe("Available");
    expect([Object(world.stored().status).id, world.creations()]).toEqual([world.older, 1]);
  });

  test("stays when the API server drops the object during its creation", async () => {
    const world = deceived();
    await world.begun.clock.advance(3_600_000);
    const { api, objects, clock, cleanups } = world.begun;
    world.platform.afterEach(({ method }) => {
      if (method !== "POST") return;
      const last = world.stored();
      api.remove(last);
      objects.store("Datacenter").remove({ ...last, metadata: { ...last.metadata, resourceVersion: "9000" } });
    });
    await world.begun.pass("Datacenter/shop/a").catch(() => {});
    await clock.advance(700_000);
    await Promise.all(cleanups);
    expect([world.touched(), world.platform.items.has(world.older)]).toEqual([NOTHING, true]);
  });

  test("is not the object's either where only the platform's log names it as the result", async () => {
    const world = deceived();
    await world.begun.clock.advance(3_600_000);
    world.platform.beforeEach(({ method, body }) => {
      if (method !== "POST") return;
      const at = new Date(world.begun.clock.now()).toISOString();
      const logged = {
        id: "lie",
        at,
        method,
        path: "/datacenters",
        body: JSON.stringify(body),
        status: "DONE",
        user: "u1",
      };
      world.platform.log.push({ ...logged, targets: [world.older] });
      throw new Retry({ call: "POST /datacenters", status: 0 }, "unknown");
    });
    await world.minutes(10);
    expect(world.ready()).toMatchObject({ status: "False", reason: "AlreadyExists" });
    expect([Object(world.stored().status).id, world.creations()]).toEqual([undefined, 1]);
    world.remove();
    await world.minutes(5);
    expect([world.touched(), world.platform.items.has(world.older)]).toEqual([NOTHING, true]);
  });

  test("is not what a few reads with a wrong date say: the object keeps what it has made", async () => {
    const world = deceived({}, { lies: 0 });
    await world.begun.clock.advance(3_600_000);
    world.begun.sync();
    await world.begun.passes("Datacenter/shop/a");
    const { id } = Object(world.stored().status);
    const item = world.platform.items.get(id);
    const { born = "" } = item ?? {};
    Object.assign(item ?? {}, { born: "2025-12-31T00:00:00Z" });
    await world.minutes(0.4);
    expect(world.ready()).toMatchObject({ status: "False", reason: "PlatformUnavailable" });
    Object.assign(item ?? {}, { born });
    await world.minutes(2);
    expect(world.ready()?.reason).toBe("Available");
    expect([Object(world.stored().status).id, world.creations(), world.touched()]).toEqual([id, 1, NOTHING]);
  });
});
