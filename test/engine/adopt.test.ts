import { describe, expect, test } from "vitest";
import { EXTERNAL_ID } from "../../src/engine/objects/names.ts";
import { claimOf } from "../../src/engine/objects/object.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { API } from "./fake-platform.ts";
import { objectOf } from "./fixtures.ts";
import { stage } from "./stage.ts";

const A = "Datacenter/shop/a";
const B = "Datacenter/shop/b";
const body = { properties: { name: "theirs", location: "de/txl" } };

const naming = (name: string, more: object = {}): KubeObject =>
  objectOf("Datacenter", name, { spec: { externalId: "dc-theirs-0", location: "de/txl", name: "theirs", ...more } });

function open(...objects: KubeObject[]) {
  const all = stage(objects);
  const id = all.platform.make("theirs", body);
  const owned = (key: string) => {
    const object = all.objects.find(key)?.object;
    return object && claimOf(object)?.id;
  };
  return { ...all, id, owned };
}

describe("an object that names an existing resource", () => {
  test("takes it over with its contract, and says who owns it", async () => {
    const object = naming("a");
    const { pass, owned, id, api } = open(object);
    expect(await pass(A)).toEqual({ decision: { step: "adopt", id }, again: "now" });
    expect(owned(A)).toBe(id);
    expect(api.get(object)?.status).toMatchObject({ id, contract: 1, account: "shop/main" });
    const kept: unknown = JSON.parse(api.get(object)?.metadata.annotations?.[EXTERNAL_ID] ?? "");
    expect(kept).toEqual({ id, parents: {}, account: "shop/main", contract: 1, endpoint: API, userId: "u1" });
  });

  test("shows every difference before anything is changed", async () => {
    const object = naming("a", { name: "ours" });
    const { pass, api, platform, events } = open(object);
    await pass(A);
    expect(api.get(object)?.status).toMatchObject({ drift: [{ field: "name", wanted: "ours", found: "theirs" }] });
    expect(events).toEqual([expect.stringMatching(/Adopting.*differs in name/)]);
    expect(platform.calls.map(({ method }) => method)).toEqual(["GET"]);
  });

  test("is not said to take over what it only observes", async () => {
    const object = naming("a", { managementPolicy: "Observe" });
    const { pass, events } = open(object);
    await pass(A);
    expect(events).toEqual([expect.stringMatching(/^Normal Observed observing Datacenter \S+$/)]);
  });

  test("does not take what is not there, and asks again ever less often", async () => {
    const object = naming("a");
    const { pass, platform, id, clock } = open(object);
    platform.items.delete(id);
    expect((await pass(A)).again).toEqual({ inMs: 1000 });
    expect((await pass(A)).decision).toMatchObject({ step: "stall", reason: "NotAdoptable" });
    await clock.advance(1000);
    expect((await pass(A)).again).toEqual({ inMs: 2000 });
  });

  test("does not take what another object owns", async () => {
    const owner = objectOf("Datacenter", "owner", { spec: { location: "de/txl" }, status: { id: "dc-theirs-0" } });
    const { pass, owned, api } = open(naming("a"), owner);
    await pass(A);
    expect(owned(A)).toBeUndefined();
    expect(api.get(naming("a"))?.status).toMatchObject({
      conditions: [{ type: "Ready", status: "False", reason: "NotAdoptable" }, { type: "Stalled" }],
    });
  });

  test("takes what another object only observes", async () => {
    const watcher = objectOf("Datacenter", "watcher", {
      spec: { managementPolicy: "Observe", externalId: "dc-theirs-0" },
      status: { id: "dc-theirs-0" },
    });
    const { pass, owned, id } = open(naming("a"), watcher);
    await pass(A);
    expect(owned(A)).toBe(id);
  });

  test("has its request watched, whoever observes what it has", async () => {
    const request = { action: "update", status: "BUSY", since: "2026-01-01T00:00:00.000Z", url: `${API}/requests/1` };
    const status = { id: "dc-theirs-0", account: "shop/main", contract: 1, endpoint: API };
    const owner = objectOf("Datacenter", "a", { spec: { location: "de/txl" }, status: { ...status, request } });
    const observer = { ...naming("b", { managementPolicy: "Observe" }), status };
    const { sceneOf, passes, clock } = open(owner, observer);
    const watched = () => sceneOf(B).shared?.collection.inFlux;
    sceneOf(A);
    expect(watched()).toBe(1);
    await clock.advance(2000);
    expect((await passes(B)).at(-1)).toBe("rest");
    expect(watched()).toBe(1);
  });

  test("is the only one: of two that name the same at the same moment, one gets it", async () => {
    const { pass, owned, id } = open(naming("a"), naming("b"));
    await Promise.all([pass(A), pass(B)]);
    expect([owned(A), owned(B)].filter((each) => each === id)).toHaveLength(1);
  });

  test("does not take the same one again after it was lost: it makes its own", async () => {
    const object = { ...naming("a"), status: { left: "dc-theirs-0" } };
    const { sceneOf } = open(object);
    expect(sceneOf(A).view.adopt).toBeUndefined();
  });
});
