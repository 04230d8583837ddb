import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { server } from "../../../../src/kinds/compute/server/server.ts";
import { volume } from "../../../../src/kinds/compute/volume/volume.ts";
import type { Inputs } from "../../../../src/kinds/desired.ts";
import { cubeBody, type Platform, refusal, resource, serverBody, startPlatform } from "../../../simulator/platform.ts";
import { inputs, mapped, nothing } from "../../mapped.ts";
import { create } from "../../resident.ts";

const mapping = mapped(volume);
const spec = { datacenterRef: { name: "berlin" }, size: 1, type: "HDD", licenceType: "OTHER" };
const attached = { ...spec, attachTo: { serverRef: { name: "web" } } };
const servers = "/datacenters/dc-1/servers";
const item = (bootServer: string | null) => ({
  id: "vol-1",
  properties: { name: "web", size: 1, type: "HDD", bootServer },
});
const referring = (id: string, status: object = {}, more: Partial<Inputs> = {}) =>
  inputs({ refs: { server: { id, status: { ...status } } }, ...more });

describe("the server of a volume", () => {
  const id = "72e73b81-8551-4e74-b398-fc63b39994af";

  it.each([
    [{ serverRef: { name: "web" } }, { name: "web" }],
    [{ serverId: id }, { id }],
  ])("of %j is %j, and used for as long as the volume is attached", (attachTo, target) => {
    expect(mapping.desire({ ...spec, attachTo }).references.slice(1)).toEqual([
      { role: "server", kind: "Server", field: "attachTo", target, bond: "use" },
    ]);
  });
});

describe("a volume goes where spec says, one step at a time", () => {
  const drift = (wanted: string, found: string) => [{ field: "attachTo", wanted, found }];

  it("is attached", () => {
    expect(mapping.desire(attached).compare(item(null), referring("srv-1"))).toEqual({
      drift: drift("srv-1", ""),
      next: {
        action: "attach",
        method: "POST",
        path: `${servers}/srv-1/volumes`,
        body: { id: "vol-1" },
        marks: { attachedTo: "srv-1" },
      },
    });
  });

  it("leaves another server first", () => {
    expect(mapping.desire(attached).compare(item("srv-2"), referring("srv-1"))).toEqual({
      drift: drift("srv-1", "srv-2"),
      next: { action: "detach", method: "DELETE", path: `${servers}/srv-2/volumes/vol-1` },
    });
  });

  it("is detached when spec no longer says so", () => {
    const before = inputs({ shown: { attachedTo: "srv-1" } });
    expect(mapping.desire(spec).compare(item("srv-1"), before)).toEqual({
      drift: drift("", "srv-1"),
      next: { action: "detach", method: "DELETE", path: `${servers}/srv-1/volumes/vol-1` },
    });
  });

  it("stays where somebody else has attached it, while spec has no such field", () => {
    const before = inputs({ shown: { serverId: "srv-1" } });
    expect(mapping.desire(spec).compare(item("srv-1"), before)).toEqual({ drift: [] });
  });

  it("is changed before it is moved", () => {
    const { next } = mapping.desire({ ...attached, name: "data" }).compare(item(null), referring("srv-1"));
    expect(next?.action).toBe("update");
  });

  it.each([
    ["by spec", "srv-1", referring("srv-1"), { serverId: "srv-1", server: "srv-1", attachedTo: "srv-1" }],
    ["by somebody else", "srv-1", nothing, { serverId: "srv-1", server: "srv-1" }],
    [
      "by spec, by the name of its object",
      "srv-1",
      { ...nothing, refs: { server: { id: "srv-1", status: {}, name: "web" } } },
      { serverId: "srv-1", server: "web", attachedTo: "srv-1" },
    ],
    [
      "by spec, until it has left",
      "srv-1",
      { ...nothing, shown: { attachedTo: "srv-1" } },
      { serverId: "srv-1", server: "srv-1", attachedTo: "srv-1" },
    ],
    ["to nothing", null, { ...nothing, shown: { attachedTo: "srv-1" } }, {}],
  ])("and shows that it is attached %s", (_, bootServer, context, facts) => {
    expect(mapping.comparison.facts(item(bootServer), context)).toEqual({ size: 1, type: "HDD", ...facts });
    expect(volume.status.strict().parse(facts)).toEqual(facts);
  });
});

it("a server in another datacenter is a problem before the platform sees it", () => {
  const problem = (datacenter: string) =>
    mapping.desire(attached).problem(referring("srv-1", { parents: { datacenter } }));
  expect(problem("dc-2")).toBe(
    "attachTo: Server web is in another datacenter: a volume can only be attached in its own datacenter",
  );
  expect(problem("dc-1")).toBeUndefined();
});

describe("a Cube has 24 slots, one of them for its own volume", () => {
  const cube = (addOns: number, own: object = {}) => ({
    type: "CUBE",
    bootVolumeId: "nvme",
    volumes: Array.from({ length: addOns }, (_, index) => ({ id: `vol-${index + 10}`, name: `data-${index}` })),
    ...own,
  });
  const full = (status: object, more: Partial<Inputs> = {}) =>
    mapping.desire(attached).problem(referring("srv-1", status, more));

  it("so that the 24th volume besides it is a problem before the platform sees it", () => {
    expect(full(cube(23))).toBe(
      "attachTo: Server web is a Cube and has no free slot (at most 23 volumes besides its own): detach one, or choose another Server",
    );
  });

  it.each([
    ["a slot is left", cube(22), {}],
    ["it is one of the 23 itself", cube(23), { shown: { serverId: "srv-1" } }],
    ["it is one of the 23 itself and does not know it yet", cube(23), { name: "data-7" }],
    ["the server is no Cube", cube(23, { type: "ENTERPRISE" }), {}],
    ["its own volume is among those 23", cube(23, { bootVolumeId: undefined }), {}],
    ["nothing is known of the server but its id", {}, {}],
  ])("and none while %s", (_, status, more) => {
    expect(full(status, more)).toBeUndefined();
  });
});

describe("on the platform", () => {
  let platform: Platform;
  let datacenter: string;
  let given: Inputs;
  const post = async (body: object) => resource(await platform.done("POST", `${datacenter}/servers`, body)).id;
  beforeAll(async () => {
    platform = await startPlatform();
    datacenter = await platform.datacenter("de/txl");
    given = inputs({ parents: { datacenter: datacenter.split("/")[2] ?? "" } });
  });
  afterAll(() => platform.close());

  it("a volume is attached, moves and is detached", async () => {
    const [first, second] = [await post(serverBody()), await post(serverBody())];
    const to = (id: string): Inputs => ({ ...given, refs: { server: { id, status: {} } } });
    const resident = await create(platform, volume, attached, to(first));
    expect(await resident.settle(attached, to(first))).toEqual(["attach"]);
    expect(await resident.facts(to(first))).toMatchObject({
      size: 1,
      serverId: first,
      server: first,
      attachedTo: first,
      deviceNumber: 2,
    });
    expect(await resident.settle(attached, to(second))).toEqual(["detach", "attach"]);
    const shown = await resident.facts(to(second));
    expect(await resident.settle(spec, { ...given, shown })).toEqual(["detach"]);
    expect(await resident.facts({ ...given, shown })).toEqual({ size: 1, type: "HDD" });
  });

  it("a Cube takes 23 volumes; the next is a problem by what the Server shows, and refused", async () => {
    const id = await post(cubeBody());
    const path = `${datacenter}/servers/${id}`;
    const seen = async () =>
      mapped(server).comparison.facts((await platform.core("GET", `${path}?depth=3`)).body, nothing);
    const problem = async () => mapping.desire(attached).problem({ ...given, ...referring(id, await seen()) });
    const addOn = { properties: { name: "data", size: 1, type: "HDD", licenceType: "OTHER" } };
    for (let added = 0; added < 22; added += 1) await platform.core("POST", `${path}/volumes`, addOn);
    await platform.advance(60);
    expect(await problem()).toBeUndefined();
    await platform.done("POST", `${path}/volumes`, addOn);
    expect(await problem()).toContain("is a Cube and has no free slot");
    expect(refusal(await platform.core("POST", `${path}/volumes`, addOn), 422, "200")).toContain("24 device slots");
  });
});
