import { describe, expect, test } from "vitest";
import { ALLOW_DATA_LOSS, FINALIZER } from "../../../src/engine/state/names.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { hashFields } from "../../../src/runtime/hash.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { objectOf } from "../support/fixtures.ts";
import { DC, type Life, NIC, ownedServer, readyOf, SERVERS } from "../support/lives.ts";
import { stage } from "../support/stage.ts";

const deletionTimestamp = "2026-01-01T00:00:00Z";
const edit = ({ all, object }: Life, change: (object: KubeObject) => KubeObject) => {
  all.api.put(change(structuredClone(all.api.get(object) ?? object)));
  all.sync();
  all.skip(1);
};
const deleteIt = (life: Life) =>
  edit(life, (object) => ({ ...object, metadata: { ...object.metadata, deletionTimestamp } }));
const changeSpec = (life: Life, spec: object) =>
  edit(life, ({ metadata, ...rest }) => ({
    ...rest,
    spec: { ...Object(rest.spec), ...spec },
    metadata: { ...metadata, generation: (metadata.generation ?? 1) + 1 },
  }));

/** Lets time pass for the object, like its queue. */
async function live({ all, key }: Life, ms: number, stop: () => boolean = () => false) {
  const until = all.clock.monotonic() + ms;
  while (all.clock.monotonic() < until && !stop()) {
    all.sync();
    if (!all.objects.find(key)) return;
    await all.passes(key);
    await all.clock.advance(500);
  }
}

/** The object is at rest after a list. The next list comes only after minutes. */
async function resting<L extends Life>(life: L): Promise<L> {
  await live(life, 3000);
  expect(readyOf(life)).toMatchObject({ status: "True" });
  life.all.platform.calls.length = 0;
  return life;
}
/** Writes and lists, in their order. */
const order = ({ all }: Life) =>
  all.platform.calls
    .map(({ method, url }) => `${method} ${url.slice(url.indexOf(DC) + DC.length)}`)
    .map((call) => call.replace(/\?.*depth=.*$/, ""))
    .filter((call) => !call.includes("requests"));
const attach = ({ all }: Life) =>
  all.platform.make(
    "v",
    { properties: { name: "theirs", type: "SSD Standard", size: 10 } },
    {
      path: `${SERVERS}/srv-1/volumes`,
      targets: ["by-hand"],
    },
  );

describe("a server is not deleted while it is not known what would go with it", () => {
  test.each([
    ["is not understood", { properties: { cores: "2" } }],
    ["shows no parts", { entities: {} }],
    [
      "names its volumes without showing them",
      { entities: { volumes: { items: [{ id: "v" }] }, nics: { items: [] } } },
    ],
    ["leaves out the list of volumes", { entities: { volumes: {}, nics: { items: [] } } }],
  ])("because the answer %s", async (_, shown) => {
    const life = ownedServer(true, shown);
    await live(life, 600_000);
    expect(life.all.platform.writes()).toEqual([]);
    expect(readyOf(life)).toMatchObject({ reason: "PlatformUnavailable" });
    expect(readyOf(life)?.message).toContain("deletionPolicy: Retain");
    // A list now and then, not one after the other.
    const lists = life.all.platform.sent("GET").length;
    expect(lists).toBeGreaterThan(5);
    // Ten minutes, with a read every ten seconds.
    expect(lists).toBeLessThanOrEqual(62);
    changeSpec(life, { deletionPolicy: "Retain" });
    await live(life, 5000);
    expect(life.all.api.get(life.object)).toBeUndefined();
    expect(life.all.platform.writes()).toEqual([]);
  });

  test("because somebody has attached a volume since it was last read: that is given back first", async () => {
    const life = await resting(ownedServer(false));
    attach(life);
    deleteIt(life);
    await live(life, 60_000, () => life.all.platform.sent("DELETE").length > 1);
    expect(order(life).slice(0, 2)).toEqual(["GET /servers", "DELETE /servers/srv-1/volumes/by-hand"]);
    expect(life.all.platform.writes()).toEqual([
      `DELETE /cloudapi/v6${SERVERS}/srv-1/volumes/by-hand`,
      `DELETE /cloudapi/v6${SERVERS}/srv-1`,
    ]);
  });

  test("also when it is to be replaced", async () => {
    const fields = ["type", "cpuFamily", "availabilityZone", "datacenterId"];
    const fixed = hashFields({ datacenterId: DC, type: "VCPU" }, fields);
    const life = await resting(
      ownedServer(false, {
        spec: { replacePolicy: "WhenNeeded" },
        status: { nonce: "n0", fixed },
        annotations: { [ALLOW_DATA_LOSS]: "true" },
      }),
    );
    attach(life);
    changeSpec(life, { type: "ENTERPRISE" });
    await live(life, 60_000, () => life.all.platform.sent("DELETE").length > 0);
    expect(order(life).slice(0, 2)).toEqual(["GET /servers", "DELETE /servers/srv-1/volumes/by-hand"]);
  });
});

describe("a part is read again before it is removed from a resource", () => {
  test("a NIC that spec no longer has", async () => {
    const life = await resting(ownedServer(false, { nics: [] }));
    const nic = { properties: { ...NIC, name: "second" } };
    life.all.platform.make("n", nic, { path: `${SERVERS}/srv-1/nics`, targets: ["nic-2"] });
    changeSpec(life, { nics: [NIC] });
    await live(life, 60_000, () => life.all.platform.sent("DELETE").length > 0);
    const calls = order(life);
    expect(calls.indexOf("DELETE /servers/srv-1/nics/nic-2")).toBeGreaterThan(calls.indexOf("GET /servers"));
    expect(calls.indexOf("GET /servers")).toBeGreaterThanOrEqual(0);
  });

  test("a volume that spec no longer attaches", async () => {
    const platform = fakePlatform();
    const path = `/datacenters/${DC}/volumes`;
    const properties = { name: "a", size: 10, type: "SSD Standard", bootServer: DC };
    platform.make("a", { properties }, { path, targets: ["vol-1"] });
    const object = objectOf("Volume", "a", {
      spec: { datacenterId: DC, size: 10, type: "SSD Standard", attachTo: { serverId: DC } },
      status: { id: "vol-1", parents: { datacenter: DC }, account: "shop/main", attachedTo: DC },
    });
    const life: Life = {
      all: stage([object], { platform }),
      key: "Volume/shop/a",
      object,
      beforeEach: platform.beforeEach,
    };
    await resting(life);
    changeSpec(life, { attachTo: undefined });
    await live(life, 60_000, () => platform.sent("DELETE").length > 0);
    expect(order(life).slice(0, 2)).toEqual(["GET /volumes", `DELETE /servers/${DC}/volumes/vol-1`]);
  });
});

test("one list serves a hundred objects of a collection that are deleted together", async () => {
  const platform = fakePlatform();
  const objects = Array.from({ length: 100 }, (_, n) => {
    const id = platform.make(
      "a",
      { properties: { name: `a${n}`, cores: 1, ram: 1024, type: "VCPU" } },
      {
        path: SERVERS,
        targets: [`srv-${n}`],
      },
    );
    return objectOf("Server", `a${n}`, {
      spec: { datacenterId: DC, cores: 1, ram: 1024, type: "VCPU" },
      metadata: { name: `a${n}`, finalizers: [FINALIZER] },
      status: { id, parents: { datacenter: DC }, account: "shop/main" },
    });
  });
  const all = stage(objects, { platform });
  const each = async () => {
    for (const { metadata } of objects) await all.pass(`Server/shop/${metadata.name}`);
  };
  await each();
  await all.clock.advance(2000);
  await each();
  platform.calls.length = 0;
  for (const object of objects) {
    const { metadata, ...rest } = all.api.get(object) ?? object;
    all.api.put({ ...rest, metadata: { ...metadata, deletionTimestamp } });
  }
  all.sync();
  all.skip(1);
  await each();
  await all.clock.advance(1000);
  await each();
  expect(platform.sent("DELETE")).toHaveLength(100);
  expect(platform.sent("GET").map(({ url }) => new URL(url).pathname)).toEqual([`/cloudapi/v6${SERVERS}`]);
});
