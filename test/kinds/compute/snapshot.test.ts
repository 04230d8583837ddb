import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { snapshot } from "../../../src/kinds/compute/snapshot.ts";
import { volume } from "../../../src/kinds/compute/volume/volume.ts";
import type { Inputs } from "../../../src/kinds/desired.ts";
import { bounded } from "../../../src/kinds/fields/bounded.ts";
import { type Platform, startPlatform } from "../../simulator/platform.ts";
import { inputs, mapped, nothing, sent } from "../mapped.ts";
import { create, type Resident } from "../resident.ts";

const mapping = mapped(snapshot);
const spec = { volumeRef: { name: "data" } };
const parents = { datacenter: "dc-1", volume: "vol-1" };
const someId = "72e73b81-8551-4e74-b398-fc63b39994af";
const item = (properties: object = {}) => ({
  id: "snap-1",
  properties: { name: "web", description: "", location: "de/txl", size: 10, licenceType: "LINUX", ...properties },
});
const compare = (change: object, properties: object = {}, given: Partial<Inputs> = {}) =>
  mapping.desire({ ...spec, ...change }).compare(item(properties), inputs({ parents, ...given }));

describe("a snapshot is taken", () => {
  it("by a call on its volume, under the object's name", () => {
    expect(mapping.creation.path?.(parents)).toBe("/datacenters/dc-1/volumes/vol-1/create-snapshot");
    expect(sent(mapping.desire(spec).body(inputs()))).toStrictEqual({ properties: { name: "web" } });
    expect(sent(mapping.desire({ ...spec, name: "golden", description: "Before" }).body(inputs()))).toStrictEqual({
      properties: { name: "golden", description: "Before" },
    });
  });

  it("of a Volume, whose datacenter is known by it", () => {
    const { references } = mapping.desire(spec);
    const named = { kind: "Volume", field: "volumeRef", target: { name: "data" } };
    expect(references).toMatchObject([
      { role: "datacenter", ...named },
      { role: "volume", ...named },
    ]);
    const [datacenter] = references;
    expect(datacenter?.part?.of({ parents: { datacenter: "dc-1" } })).toBe("dc-1");
    expect(datacenter?.part?.of({})).toBeUndefined();
  });

  it("of the boot volume of a Server, whatever that is now", () => {
    const { references } = mapping.desire({ serverRef: { name: "web" } });
    const named = { kind: "Server", field: "serverRef", target: { name: "web" } };
    expect(references).toMatchObject([
      { role: "datacenter", ...named },
      { role: "volume", ...named, part: { what: "boot volume" } },
    ]);
    const [datacenter, boot] = references;
    const shown = { parents: { datacenter: "dc-1" }, bootVolumeId: "vol-7" };
    expect([datacenter?.part?.of(shown), boot?.part?.of(shown)]).toEqual(["dc-1", "vol-7"]);
    expect(boot?.part?.of({ parents: { datacenter: "dc-1" } })).toBeUndefined();
  });

  it("of a volume by its id", () => {
    expect(mapping.desire({ volumeId: someId, datacenterId: someId }).references).toEqual([
      { role: "datacenter", kind: "Datacenter", field: "datacenterRef", target: { id: someId } },
      { role: "volume", kind: "Volume", field: "volumeId", target: { id: someId } },
    ]);
  });

  it("and outlives what it was taken from", () => {
    expect(mapping).toMatchObject({
      place: { outlives: ["datacenter", "volume"] },
      destruction: { holdsData: true },
    });
    expect(mapping.place.collection(parents)).toBe("/snapshots");
  });

  it("or only taken over, which needs no volume", () => {
    expect(mapping.desire({ externalId: "snap-1" }).references).toEqual([]);
  });
});

describe("comparing a snapshot", () => {
  it.each([
    ["what the platform fills in", {}, {}],
    ["no description as null", { description: "" }, { description: null }],
    ["a description that spec does not speak of", {}, { description: "theirs" }],
  ])("finds no difference in %s", (_, change, properties) => {
    expect(compare(change, properties)).toEqual({ drift: [] });
  });

  it.each([
    ["its name", { name: "golden" }, {}, { name: "golden" }],
    ["its description", { description: "new" }, { description: "old" }, { description: "new" }],
    ["its description, to be emptied", { description: "" }, { description: "old" }, { description: "" }],
  ])("changes %s by PATCH, and nothing else", (_, change, properties, body) => {
    expect(compare(change, properties).next).toEqual({
      action: "update",
      method: "PATCH",
      path: "/snapshots/snap-1",
      body,
    });
  });

  it("that is only observed finds no difference where spec has nothing but the identity", () => {
    const observe = mapping.desire({ externalId: "snap-1", managementPolicy: "Observe" });
    const given = inputs({ parents: {}, observed: true, ...asked("2", "1") });
    expect(observe.compare(item({ name: "theirs" }), given)).toEqual({ drift: [] });
  });
});

/** An object whose annotation says `now`, and whose status has the last restore that was carried out. */
const asked = (now: string, last?: string) => ({
  annotations: { "mooring.dev/restore-at": now },
  shown: last === undefined ? {} : { restored: last },
});

describe("restoring a volume", () => {
  const restoration = {
    action: "restore the volume",
    method: "POST",
    path: "/datacenters/dc-1/volumes/vol-1/restore-snapshot",
    body: { properties: { snapshotId: "snap-1" } },
    once: true,
    marks: { restored: "2" },
  };

  it("happens once for each new value of the annotation", () => {
    expect(compare({}, {}, asked("2", "1"))).toEqual({ drift: [], next: restoration });
    expect(compare({}, {}, asked("2", "2"))).toEqual({ drift: [] });
  });

  it("happens for the first value, once the object was seen without one", () => {
    expect(mapping.comparison.facts(item(), nothing)).toEqual({ location: "de/txl", size: 10, restored: "" });
    expect(compare({}, {}, asked("2", "")).next).toEqual(restoration);
  });

  it("does not happen for a value that came with the object: it may be applied anew any time", () => {
    expect(compare({}, {}, asked("2"))).toEqual({ drift: [] });
    expect(mapping.comparison.facts(item(), { ...nothing, ...asked("2") })).toMatchObject({ restored: "2" });
  });

  it("happens once for a value that status shows in another form", () => {
    const value = `2\n${"long ".repeat(2000)}`;
    const { restored = "" } = compare({}, {}, asked(value, "1")).next?.marks ?? {};
    expect(bounded(restored)).toBe(restored);
    expect(compare({}, {}, asked(value, restored))).toEqual({ drift: [] });
  });

  it("comes after all other changes", () => {
    expect(compare({ name: "golden" }, {}, asked("2", "1")).next?.action).toBe("update");
  });

  it("goes to the volume that its Volume is now, which may have been created again", () => {
    const refs = { datacenter: { id: "dc-1", status: {} }, volume: { id: "vol-2", status: {} } };
    expect(compare({}, {}, { ...asked("2", "1"), refs }).next?.path).toContain("/volumes/vol-2/restore-snapshot");
  });

  it("is a problem where the volume is of another namespace that no longer lends it", () => {
    const lent = mapping.desire({ volumeRef: { namespace: "other", name: "data" } });
    const given = inputs({ parents, abroad: ["datacenter", "volume"], ...asked("2", "1") });
    expect(lent.problem(given)).toContain("Volume data of another namespace is not granted");
    const refs = { datacenter: { id: "dc-1", status: {} }, volume: { id: "vol-1", status: {} } };
    expect(lent.problem({ ...given, refs })).toBeUndefined();
  });

  it("is a problem where nobody knows which volume", () => {
    const taken = mapping.desire({ externalId: "snap-1" });
    expect(taken.problem(inputs({ parents: {}, ...asked("2", "1") }))).toBe(
      "mooring.dev/restore-at: the volume to restore is unknown: remove the annotation, or delete the object " +
        "(deletionPolicy: Retain keeps the snapshot) and create it again with externalId and volumeRef",
    );
    expect(taken.problem(inputs({ parents: {} }))).toBeUndefined();
    expect(mapping.desire(spec).problem(inputs({ parents, ...asked("2", "1") }))).toBeUndefined();
  });
});

it("the facts of a snapshot fit into status", () => {
  const facts = mapping.comparison.facts(item(), nothing);
  expect(snapshot.status.strict().parse(facts)).toEqual(facts);
});

describe("a snapshot on the platform", () => {
  let platform: Platform;
  let given: Inputs;
  let source: Resident;
  let resident: Resident;
  const data = { datacenterRef: { name: "berlin" }, size: 10, type: "HDD", licenceType: "LINUX" };
  beforeAll(async () => {
    platform = await startPlatform();
    const datacenter = (await platform.datacenter("de/txl")).split("/")[2] ?? "";
    given = inputs({ parents: { datacenter } });
    source = await create(platform, volume, data, given);
    given = inputs({ parents: { datacenter, volume: source.id } });
    resident = await create(platform, snapshot, spec, given);
  });
  afterAll(() => platform.close());

  it("is a full copy of the volume in the same region, and up to date once it is there", async () => {
    expect(await resident.settle(spec, given)).toEqual([]);
    expect(await resident.facts(given)).toEqual({ location: "de/txl", size: 10, restored: "" });
  });

  it.each([
    ["another name", { name: "golden" }],
    ["a description", { name: "golden", description: "Before" }],
    ["no description", { name: "golden", description: "" }],
  ])("takes %s, once", async (_, change) => {
    expect(await resident.settle({ ...spec, ...change }, given)).toEqual(["update"]);
  });

  it("is written back into its volume", async () => {
    const { next } = mapping.desire({ ...spec, name: "golden" }).compare(await resident.seen(), {
      ...given,
      ...asked("2", "1"),
    });
    expect(next?.action).toBe("restore the volume");
    await platform.done("POST", next?.path ?? "", next?.body);
  });

  it("seeds new volumes of its region, and no others", async () => {
    const seeded = { ...data, licenceType: undefined, snapshotRef: { name: "golden" } };
    const from = async (datacenter: string, location: string): Promise<Inputs> =>
      inputs({
        parents: { datacenter },
        refs: {
          datacenter: { id: datacenter, status: { location } },
          snapshotRef: { id: resident.id, status: await resident.facts(given) },
        },
      });
    const here = await from(given.parents.datacenter ?? "", "de/txl");
    expect(await (await create(platform, volume, seeded, here)).settle(seeded, here)).toEqual([]);
    const elsewhere = await from((await platform.datacenter("de/fra")).split("/")[2] ?? "", "de/fra");
    expect(mapped(volume).desire(seeded).problem(elsewhere)).toContain("Snapshot golden is in de/txl");
  });

  it("outlives the volume it was taken from", async () => {
    await platform.done("DELETE", `${mapped(volume).place.collection(given.parents)}/${source.id}`);
    expect(await resident.settle({ ...spec, name: "golden" }, given)).toEqual([]);
  });
});
