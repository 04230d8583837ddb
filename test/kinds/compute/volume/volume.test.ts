import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { volume } from "../../../../src/kinds/compute/volume/volume.ts";
import type { Inputs } from "../../../../src/kinds/desired.ts";
import { type Platform, startPlatform } from "../../../simulator/platform.ts";
import { inputs, mapped, nothing, sent } from "../../mapped.ts";
import { create, type Resident } from "../../resident.ts";

const mapping = mapped(volume);
const spec = { datacenterRef: { name: "berlin" }, size: 10, type: "SSD Premium", licenceType: "LINUX" };
const imaged = { datacenterRef: { name: "berlin" }, size: 10, type: "HDD", imageAlias: "ubuntu:latest" };
const bodyOf = (spec: object, given = inputs()) => sent(mapping.desire(spec).body(given));
const item = (properties: object = {}) => ({
  id: "vol-1",
  properties: {
    name: "web",
    size: 10,
    type: "SSD Premium",
    availabilityZone: "AUTO",
    bus: "VIRTIO",
    image: null,
    sshKeys: null,
    licenceType: "LINUX",
    bootServer: null,
    deviceNumber: null,
    ...properties,
  },
});
const compare = (change: object, properties: object = {}, given = inputs()) =>
  mapping.desire({ ...spec, ...change }).compare(item(properties), given);

describe("the body that creates a volume", () => {
  it("of an empty one says no more than it has to", () => {
    expect(bodyOf(spec)).toStrictEqual({
      properties: { name: "web", size: 10, type: "SSD Premium", availabilityZone: "AUTO", licenceType: "LINUX" },
    });
  });

  it("of one with everything", () => {
    const fields = { name: "data", availabilityZone: "ZONE_3", bus: "IDE", sshKeys: ["ssh-ed25519 AAAA"] };
    const { datacenterRef: _, ...rest } = imaged;
    expect(bodyOf({ ...imaged, ...fields, userData: "IyEvYmluL3No" })).toStrictEqual({
      properties: { ...rest, ...fields, userData: "IyEvYmluL3No" },
    });
  });

  it.each([
    ["a snapshot", { snapshotRef: { name: "golden" } }, { refs: { snapshotRef: { id: "snap-1", status: {} } } }],
    ["a lookup", { imageLookup: { name: "ubuntu" } }, { found: { imageLookup: "snap-1" } }],
  ])("of one that starts from %s names what that leads to", (_, source, given) => {
    expect(bodyOf({ ...spec, licenceType: undefined, ...source }, inputs(given))).toMatchObject({
      properties: { image: "snap-1" },
    });
  });

  it("takes user data out of a Secret, as base64", () => {
    const wanted = { ...imaged, userDataSecretRef: { name: "init" } };
    expect(mapping.desire(wanted).secrets).toEqual([
      { field: "userDataSecretRef", kind: "Secret", name: "init", key: "userData" },
    ]);
    expect(bodyOf(wanted, inputs({ secrets: { userDataSecretRef: "#!/bin/sh" } }))).toMatchObject({
      properties: { userData: "IyEvYmluL3No" },
    });
  });
});

describe("comparing a volume", () => {
  it.each([
    ["what the platform fills in", {}, {}],
    ["one whose zone the platform chose", {}, { availabilityZone: "ZONE_2" }],
    ["one without a zone", {}, { availabilityZone: null }],
    ["one of the type SSD, which is SSD Premium", {}, { type: "SSD" }],
    ["one on a bus that spec does not speak of", {}, { bus: "IDE" }],
    ["keys and user data, which nobody can read back", { sshKeys: ["ssh-ed25519 AAAA"] }, { sshKeys: null }],
    ["one that somebody attached, while spec says nothing about it", {}, { bootServer: "srv-1" }],
  ])("finds no difference in %s", (_, change, properties) => {
    expect(compare(change, properties)).toEqual({ drift: [] });
  });

  it.each([
    ["its name", { name: "data" }, { name: "data" }],
    ["its size, upwards", { size: 20 }, { size: 20 }],
    ["its bus", { bus: "IDE" }, { bus: "IDE" }],
  ])("changes %s by PATCH, and nothing else", (_, change, body) => {
    const path = "/datacenters/dc-1/volumes/vol-1";
    expect(compare(change).next).toEqual({ action: "update", method: "PATCH", path, body });
  });

  it("shows what cannot be changed in place, and does not try", () => {
    expect(compare({ type: "HDD", availabilityZone: "ZONE_1" }, { size: 30 })).toEqual({
      drift: [
        { field: "type", wanted: "HDD", found: "SSD Premium" },
        { field: "availabilityZone", wanted: "ZONE_1", found: "AUTO" },
        { field: "size", wanted: "10", found: "30" },
      ],
    });
  });

  it("changes the name of a volume that grew, and leaves its size", () => {
    expect(compare({ name: "data" }, { size: 30 }).next).toMatchObject({ body: { name: "data" } });
  });

  it("that is only observed finds no difference where spec has nothing but the identity", () => {
    const observe = mapping.desire({
      datacenterRef: { name: "berlin" },
      externalId: "vol-1",
      managementPolicy: "Observe",
    });
    const theirs = item({ name: "theirs", type: "DAS", bootServer: "srv-1", availabilityZone: "ZONE_1" });
    expect(observe.compare(theirs, inputs({ observed: true }))).toEqual({ drift: [] });
  });
});

describe("a volume that cannot be made", () => {
  it("starts from a snapshot of another location", () => {
    const refs = {
      datacenter: { id: "dc-1", status: { location: "de/txl" } },
      snapshotRef: { id: "snap-1", status: { location: "de/fra" } },
    };
    expect(mapping.desire({ ...spec, snapshotRef: { name: "golden" } }).problem(inputs({ refs }))).toBe(
      "snapshotRef: Snapshot golden is in de/fra, the datacenter in de/txl: a snapshot can only be used in its own location",
    );
  });

  it("has user data in its Secret that no machine understands", () => {
    const secrets = { userDataSecretRef: "hello" };
    expect(mapping.desire({ ...imaged, userDataSecretRef: { name: "init" } }).problem(inputs({ secrets }))).toContain(
      "userDataSecretRef: userData in Secret init must be plain text that begins with #cloud-config",
    );
  });
});

it("the facts of a volume leave out what the platform does not say", () => {
  expect(mapping.comparison.facts(item(), nothing)).toEqual({ size: 10, type: "SSD Premium" });
});

it("user data, keys and the image count at creation only: a change of them replaces the volume", () => {
  const fields = ["image", "imageAlias", "snapshotRef", "imageLookup", "sshKeys", "userData", "userDataSecretRef"];
  expect(Object.keys(volume.immutable)).toEqual(expect.arrayContaining(fields));
  expect(mapping.destruction.holdsData).toBe(true);
});

describe("a volume on the platform", () => {
  let platform: Platform;
  let given: Inputs;
  beforeAll(async () => {
    platform = await startPlatform();
    given = inputs({ parents: { datacenter: (await platform.datacenter("de/txl")).split("/")[2] ?? "" } });
  });
  afterAll(() => platform.close());

  it.each([
    ["an empty one", spec],
    ["one from an image, with keys and user data", { ...imaged, sshKeys: ["ssh-rsa AAAA"], userData: "IyEvYmluL3No" }],
    ["one in zone 3, which only volumes have", { ...spec, availabilityZone: "ZONE_3" }],
    ["one on an IDE bus", { ...spec, bus: "IDE" }],
    ["one of type HDD", { ...spec, type: "HDD" }],
    ["one of type SSD Standard", { ...spec, type: "SSD Standard" }],
  ])("%s is up to date once it is there", async (_, spec) => {
    expect(await (await create(platform, volume, spec, given)).settle(spec, given)).toEqual([]);
  });

  it("takes each change once", async () => {
    const resident: Resident = await create(platform, volume, spec, given);
    const changes = [{ name: "data" }, { name: "data", size: 20 }, { name: "data", size: 20, bus: "IDE" }];
    for (const change of changes) expect(await resident.settle({ ...spec, ...change }, given)).toEqual(["update"]);
    expect(await resident.facts(given)).toEqual({ size: 20, type: "SSD Premium" });
  });
});
