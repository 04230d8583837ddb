import { describe, expect, test } from "vitest";
import { readFacts, readStatus } from "../../../src/engine/status/status.ts";
import { volume } from "../../../src/kinds/compute/volume/volume.ts";
import { NotFound } from "../../../src/platform/answers/errors.ts";
import { API } from "../support/fixtures.ts";
import { DC, ownedServer, readyOf, SERVERS } from "../support/lives.ts";
import { withResource } from "../support/stage.ts";

const VOLUMES = `/datacenters/${DC}/volumes`;
const spec = { bootVolume: { size: 10, type: "SSD Standard", licenceType: "OTHER" } };
const boot = { name: "a-boot", size: 10, type: "SSD Standard" };
const RESYNC_MS = 331_000;

/** A server at rest, with a boot volume that its creation made. */
async function open() {
  const entities = { volumes: { items: [{ id: "boot-1", properties: boot }] }, nics: { items: [] } };
  const life = ownedServer(false, { spec, properties: { bootVolume: { id: "boot-1" } }, entities });
  const { platform, api, clock } = life.all;
  platform.setClock(clock.now);
  platform.make("boot", { properties: { ...boot, bootServer: "srv-1" } }, { path: VOLUMES, targets: ["boot-1"] });
  // A new server has its boot volume immediately.
  platform.setPace({
    made(item) {
      if (item.path === SERVERS) item.entities = { volumes: { items: [{ id: "boot-2", properties: boot }] } };
      item.properties = { ...item.properties, vmState: "RUNNING", bootVolume: { id: "boot-2" } };
    },
  });
  const status = () => readStatus(api.get(life.object) ?? life.object);
  /** Passes like those of the queue, for this long. */
  async function pass(ms: number): Promise<void> {
    for (let spent = 0; spent < ms; spent += 1000) {
      life.all.sync();
      await life.all.passes(life.key);
      await clock.advance(1000);
    }
  }
  const volumeLists = () => platform.calls.filter(({ url }) => new URL(url).pathname.endsWith(VOLUMES)).length;
  /** Somebody deletes the server without its volumes. */
  const vanish = () => {
    platform.removeByHand("srv-1");
    const volume = platform.items.get("boot-1");
    if (volume) volume.properties = boot;
  };
  await pass(3000);
  expect(readyOf(life)).toMatchObject({ status: "True" });
  return { ...life, platform, status, pass, volumeLists, vanish };
}

const reported = (events: readonly string[]) => events.filter((event) => event.includes("Advice"));

describe("a server that somebody deleted without its boot volume", () => {
  test("is created again, and names the volume in advice and in one Event, while that is there", async () => {
    const { status, pass, vanish, all, object } = await open();
    vanish();
    await pass(RESYNC_MS + 60_000);
    expect(status().id).not.toBe("srv-1");
    expect(readyOf({ all, object })).toMatchObject({ status: "True" });
    expect(status().advice).toEqual([
      expect.stringContaining(`create a Volume object with spec {datacenterId: ${DC}, externalId: boot-1} to keep it`),
    ]);
    expect(status().leftBehind).toEqual([{ kind: "Volume", id: "boot-1", parents: { datacenter: DC } }]);
    await pass(RESYNC_MS);
    expect(reported(all.events)).toHaveLength(1);
  });

  test("no longer names it when it is gone, and asks for volumes no more", async () => {
    const { platform, status, pass, vanish, volumeLists } = await open();
    vanish();
    await pass(RESYNC_MS + 60_000);
    expect(status().advice).toHaveLength(1);
    platform.items.delete("boot-1");
    await pass(2 * RESYNC_MS);
    expect(status().leftBehind).toBeUndefined();
    expect(status().advice).toBeUndefined();
    const lists = volumeLists();
    await pass(2 * RESYNC_MS);
    expect(volumeLists()).toBe(lists);
  });

  test("no longer names it when an object has adopted it", async () => {
    const { all, status, pass, vanish } = await open();
    vanish();
    await pass(RESYNC_MS + 60_000);
    expect(status().advice).toHaveLength(1);
    const claim = { id: "boot-1", parents: { datacenter: DC }, account: "shop/main", endpoint: API };
    all.objects.store("Volume").put({
      apiVersion: "mooring.dev/v1alpha1",
      kind: "Volume",
      metadata: { name: "old", namespace: "shop", uid: "uid-old", resourceVersion: "5" },
      spec: { datacenterId: DC, size: 10, type: "SSD Standard", externalId: "boot-1" },
      status: claim,
    });
    await pass(RESYNC_MS);
    expect(status().leftBehind).toBeUndefined();
    expect(status().advice).toBeUndefined();
  });

  test("is told by a list that began after the server was gone", async () => {
    const { all, status, pass, vanish, key } = await open();
    const account = all.accounts.get("shop/main");
    if (!account) throw new Error("there is no Account");
    all.deps.collections.related(`${key}-other`, { account, kind: withResource(volume), parents: { datacenter: DC } }, [
      "boot-1",
    ]);
    await pass(3000);
    vanish();
    all.deps.collections.refresh(key);
    await pass(120_000);
    expect(status().advice).toHaveLength(1);
  });

  test("no longer names it when it is attached to a server", async () => {
    const { platform, status, pass, vanish } = await open();
    vanish();
    await pass(RESYNC_MS + 60_000);
    expect(status().advice).toHaveLength(1);
    const volume = platform.items.get("boot-1");
    if (volume) volume.properties = { ...boot, bootServer: "srv-9" };
    await pass(2 * RESYNC_MS);
    expect(status().advice).toBeUndefined();
  });

  test("names nothing when its datacenter is gone, and asks for that no more", async () => {
    const { platform, status, pass, vanish, volumeLists } = await open();
    vanish();
    platform.beforeEach(({ url }) => {
      const call = `GET ${url}`;
      if (new URL(url).pathname.endsWith(VOLUMES)) throw new NotFound({ call, status: 404 });
    });
    await pass(RESYNC_MS + 60_000);
    expect(status().leftBehind).toBeUndefined();
    const lists = volumeLists();
    await pass(RESYNC_MS);
    expect(volumeLists()).toBe(lists);
  });

  test("does not name it when nobody can tell whether it is there", async () => {
    const { platform, status, pass, vanish } = await open();
    vanish();
    platform.beforeEach(({ url }) => {
      if (new URL(url).pathname.endsWith(VOLUMES)) throw new Error("no answer");
    });
    await pass(RESYNC_MS + 60_000);
    expect(status().advice).toBeUndefined();
    expect(status().leftBehind).toHaveLength(1);
  });
});

test("a server at rest asks for no volumes", async () => {
  const { pass, volumeLists } = await open();
  await pass(2 * RESYNC_MS);
  expect(volumeLists()).toBe(0);
});

test("a server that is adopted after another one was lost is judged by its own boot volume", async () => {
  const entities = { volumes: { items: [{ id: "boot-1", properties: boot }] }, nics: { items: [] } };
  const { all, key, object } = ownedServer(false, {
    spec: { ...spec, externalId: "srv-1" },
    properties: { bootVolume: { id: "boot-1" } },
    status: { id: undefined, left: "srv-0", bootVolumeId: "boot-0" },
    entities,
  });
  for (let passes = 0; passes < 5; passes++) {
    all.sync();
    await all.passes(key);
    await all.clock.advance(1000);
  }
  const live = all.api.get(object) ?? object;
  expect(readStatus(live)).toMatchObject({ id: "srv-1", left: "srv-0" });
  expect(readFacts(live)).toMatchObject({ bootVolumeId: "boot-1" });
  expect(readyOf({ all, object })).toMatchObject({ status: "True" });
});
