import { describe, expect, test } from "vitest";
import { EXTERNAL_ID } from "../../../../src/engine/state/names.ts";
import type { KubeObject } from "../../../../src/kube/resource.ts";
import { API } from "../../support/fake-platform.ts";
import { annotated, objectOf, readyCondition } from "../../support/fixtures.ts";
import { BEGIN } from "../../support/stage.ts";
import { A, B, body, naming, open } from "./adoption.ts";

describe("an object that names an existing resource", () => {
  test("takes it over with its contract, and says who owns it", async () => {
    const object = naming("a");
    const { pass, owned, id, api } = open(object);
    expect(await pass(A)).toEqual({ decision: { step: "adopt", id }, again: "now" });
    expect(owned(A)).toBe(id);
    expect(api.get(object)?.status).toMatchObject({ id, contract: 1, account: "shop/main" });
    const kept: unknown = JSON.parse(api.get(object)?.metadata.annotations?.[EXTERNAL_ID] ?? "");
    const where = { account: "shop/main", contract: 1, endpoint: API, userId: "u1" };
    expect(kept).toEqual({ id, parents: {}, ...where, adoptedAt: new Date(BEGIN).toISOString() });
  });

  test("shows every difference before anything is changed", async () => {
    const object = naming("a", { name: "ours" });
    const { pass, api, platform, events } = open(object);
    await pass(A);
    expect(api.get(object)?.status).toMatchObject({ drift: [{ field: "name", wanted: "ours", found: "theirs" }] });
    expect(events).toEqual([expect.stringMatching(/Adopting.*differs in name/)]);
    expect(platform.calls.map(({ method }) => method)).toEqual(["GET"]);
  });

  test("does not own what differs in a field that nobody can change, and says both values", async () => {
    const object = naming("a", { location: "de/fra", name: "ours" });
    const { pass, owned, api, platform, id, events } = open(object);
    await pass(A);
    expect(owned(A)).toBeUndefined();
    const { status, metadata } = api.get(object) ?? object;
    expect(status).not.toHaveProperty("id");
    expect(status).toMatchObject({
      conditions: [{ reason: "NotAdoptable" }, { type: "Stalled" }],
      drift: [
        { field: "name", wanted: "ours", found: "theirs" },
        { field: "location", wanted: "de/fra", found: "de/txl" },
      ],
    });
    expect(metadata.finalizers ?? []).toEqual([]);
    expect(metadata.annotations ?? {}).not.toHaveProperty(EXTERNAL_ID);
    const why = `externalId: Datacenter ${id} is not adopted: location is de/txl on the platform and de/fra in spec`;
    expect(events).toEqual([expect.stringContaining(why)]);
    expect(platform.calls.map(({ method }) => method)).toEqual(["GET"]);
  });

  test("owns it as soon as spec is corrected", async () => {
    const object = naming("a", { location: "de/fra" });
    const { pass, owned, api, sync, id } = open(object);
    await pass(A);
    const stored = api.get(object) ?? object;
    const metadata = { ...stored.metadata, generation: 2 };
    api.put({ ...stored, metadata, spec: { ...Object(stored.spec), location: "de/txl" } });
    sync();
    expect((await pass(A)).decision).toEqual({ step: "adopt", id });
    expect(owned(A)).toBe(id);
    expect(api.get(object)?.status).not.toHaveProperty("drift");
  });

  test("may write a UUID in either case: it is one resource, and one object owns it", async () => {
    const id = "72e73b81-8551-4e74-b398-fc63b39994af";
    const objects = [naming("a", { externalId: id.toUpperCase() }), naming("b", { externalId: id })];
    const { passes, owned, platform } = open(...objects);
    platform.make("theirs", body, { targets: [id] });
    await passes(A);
    await passes(B);
    expect([owned(A), owned(B)]).toEqual([id, undefined]);
  });

  test("is not missing when it is owned, although the last list is older than that", async () => {
    const [object, other] = [naming("a", { location: "de/fra" }), naming("b")];
    const { pass, passes, api, sync, platform, clock, deps } = open(object, other);
    await passes(B);
    await clock.advance(1000);
    const theirs = platform.make("other", { properties: { name: "other", location: "de/txl" } });
    const { spec } = object;
    api.put({ ...object, spec: { ...Object(spec), externalId: theirs } });
    sync();
    await passes(A);
    await clock.advance(60_000);
    const stored = api.get(object) ?? object;
    const metadata = { ...stored.metadata, generation: 2 };
    api.put({ ...stored, metadata, spec: { ...Object(stored.spec), location: "de/txl" } });
    sync();
    deps.memories.of(A).failure = undefined;
    expect((await pass(A)).decision).toEqual({ step: "adopt", id: theirs });
    const steps: string[] = [];
    for (let second = 0; second < 8; second++) {
      sync();
      steps.push(...(await passes(A)));
      await clock.advance(1000);
    }
    expect(steps).not.toContain("stall Missing");
    expect(steps.at(-1)).toBe("rest");
  });

  test("leaves everything as it is that spec does not say", async () => {
    const object = naming("a", { location: undefined, name: undefined });
    const { passes, platform, clock, owned, id } = open(object);
    await passes(A);
    await clock.advance(2000);
    expect((await passes(A)).at(-1)).toBe("rest");
    expect(owned(A)).toBe(id);
    expect(new Set(platform.calls.map(({ method }) => method))).toEqual(new Set(["GET"]));
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

  test("does not take what another object owns, and says what to correct", async () => {
    const owner = objectOf("Datacenter", "owner", { spec: { location: "de/txl" }, status: { id: "dc-theirs-0" } });
    const { pass, owned, api } = open(naming("a"), owner);
    await pass(A);
    expect(owned(A)).toBeUndefined();
    expect(api.get(naming("a"))?.status).toMatchObject({
      conditions: [
        {
          type: "Ready",
          status: "False",
          reason: "NotAdoptable",
          message: expect.stringMatching(/: correct externalId; without it, another is created$/),
        },
        { type: "Stalled" },
      ],
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
    const { contextOf, passes, clock } = open(owner, observer);
    const watched = () => contextOf(B).shared?.collection.changing;
    contextOf(A);
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

  test("does not take the same one again after it was lost: it makes its own, and another one after that", async () => {
    const object = naming("a", { recreatePolicy: "WhenMissing" });
    const { passes, owned, platform, clock, id } = open(object);
    const owners = [id];
    await passes(A);
    for (let nth = 1; nth <= 2; nth++) {
      platform.removeByHand(owners.at(-1) ?? "");
      for (let minute = 0; minute < 6; minute++) {
        await clock.advance(60_000);
        await passes(A);
      }
      owners.push(owned(A) ?? "none");
      expect(platform.sent("POST")).toHaveLength(nth);
    }
    expect(new Set(owners).size).toBe(3);
  });

  test("takes the number of the one before, if it was named only after that one was lost", () => {
    const home = objectOf("Datacenter", "home", { status: { id: "dc-1", conditions: [readyCondition()] } });
    const lan = (internal: object) =>
      objectOf("Lan", "a", { spec: { datacenterRef: { name: "home" }, externalId: "1" }, status: { internal } });
    const adoptOf = (object: KubeObject) => open(home, object).contextOf("Lan/shop/a").view.spec.adopt;
    expect(adoptOf(lan({ left: "1" }))).toBe("1");
    expect(adoptOf(lan({ left: "1", leftExternalId: "1" }))).toBeUndefined();
  });
});

test("an object that is restored from a backup has its resource from then on, whoever had it in between", async () => {
  const kept = { id: "dc-theirs-0", parents: {}, account: "shop/main", contract: 1, endpoint: API };
  const spec = { location: "de/txl", name: "theirs" };
  const restored = objectOf("Datacenter", "a", { spec, metadata: annotated("a", kept), status: {} });
  const former = naming("b");
  const all = open(restored, former);
  const between = { ...kept, adoptedAt: new Date(BEGIN - 1000).toISOString() };
  all.contextOf(A);
  await all.clock.advance(2000);
  expect((await all.passes(A)).at(-1)).toBe("rest");
  all.api.put({ ...former, metadata: { ...former.metadata, ...annotated("b", between) } });
  all.sync();
  expect(all.owned(B)).toBe("dc-theirs-0");
  expect([all.objects.owned(A)?.id, all.objects.owned(B)]).toEqual(["dc-theirs-0", undefined]);
});

test("an object that had adopted its resource leaves the name alone, also when it is restored without its status", async () => {
  const adoptedAt = new Date(BEGIN - 1000).toISOString();
  const kept = { id: "dc-theirs-0", parents: {}, account: "shop/main", contract: 1, endpoint: API, adoptedAt };
  const spec = { externalId: "dc-theirs-0" };
  const { contextOf, clock, passes, platform } = open(
    objectOf("Datacenter", "a", { spec, metadata: annotated("a", kept), status: {} }),
  );
  contextOf(A);
  await clock.advance(2000);
  expect((await passes(A)).at(-1)).toBe("rest");
  expect(new Set(platform.calls.map(({ method }) => method))).toEqual(new Set(["GET"]));
});

describe("of two objects that claim one resource", () => {
  const status = { id: "dc-theirs-0", account: "shop/main", contract: 1, endpoint: API };
  const claiming = (name: string, created: string, adoptedAt?: string) => {
    const object = objectOf("Datacenter", name, { spec: { location: "de/txl" }, status: { ...status, adoptedAt } });
    object.metadata.creationTimestamp = created;
    return object;
  };
  const [early, late] = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"];

  test.each([
    ["the one that adopted it, whoever created it", [early, undefined], [late, late]],
    ["the one that adopted it last, however old it is", [late, early], [early, late]],
    ["the older one, where neither has adopted it", [late, undefined], [early, undefined]],
  ] as const)("%s has it", (_, [one, adopted], [two, readopted]) => {
    const { objects } = open(claiming("a", one, adopted), claiming("b", two, readopted));
    expect([objects.owned(A)?.id, objects.owned(B)?.id]).toEqual([undefined, "dc-theirs-0"]);
  });
});

test("an object whose Account was changed while its resource was being made says so, and keeps the resource", () => {
  const status = { id: "dc-theirs-0", account: "shop/main", contract: 1, endpoint: API, nonce: "n" };
  const spec = { location: "de/txl", accountRef: { name: "other" }, replacePolicy: "WhenNeeded" };
  const { contextOf } = open(objectOf("Datacenter", "a", { spec, status }));
  const { view, account } = contextOf(A);
  expect(account?.key).toBe("shop/main");
  expect(view.spec.replacement).toEqual({
    fields: ["accountRef"],
    why: ["it belongs to Account shop/main"],
    verdict: "final",
  });
});
