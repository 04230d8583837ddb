import { describe, expect, test } from "vitest";
import { decide } from "../../../src/engine/decide/decide.ts";
import { ALLOW_DATA_LOSS, ALLOW_NON_EMPTY_DELETE, FINALIZER } from "../../../src/engine/state/names.ts";
import { datacenter } from "../../../src/kinds/compute/datacenter.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { Retry } from "../../../src/platform/answers/errors.ts";
import { hashFields } from "../../../src/runtime/hash.ts";
import { API, fakePlatform } from "../support/fake-platform.ts";
import { annotated, handleOf, intending, intentOf, objectOf } from "../support/fixtures.ts";
import { stage } from "../support/stage.ts";

const A = "Datacenter/shop/a";
const body = { properties: { name: "a", location: "de/txl" } };
const spec = { location: "de/txl" };
const owning = (more: Partial<KubeObject> = {}): KubeObject =>
  objectOf("Datacenter", "a", { spec, status: { id: "dc-a-0", account: "shop/main" }, ...more });

/** An object that owns a visible datacenter. */
async function owned(object = owning(), platform = fakePlatform()) {
  platform.make("a", body);
  const all = stage([object], { platform });
  all.contextOf(A);
  await all.clock.advance(0);
  return all;
}

describe("a resource that cannot be seen", () => {
  test("is looked for from the beginning when it was seen in between", async () => {
    const { deps, pass } = await owned();
    deps.memories.of(A).absence = { since: 0, row: { since: 0, last: 60_000 }, logged: false };
    expect((await pass(A)).decision.step).toBe("rest");
    expect(deps.memories.of(A).absence).toBeUndefined();
  });

  test("because the Account works in another contract now is not taken for gone", async () => {
    const object = owning({ status: { id: "dc-a-0", account: "shop/main", contract: 1 } });
    const { contextOf } = stage([object], { platform: fakePlatform(2) });
    expect(decide(contextOf(A).view)).toMatchObject({ step: "stall", reason: "ContractChanged" });
  });
});

describe("the annotation that lets a deletion take what is inside", () => {
  const ignored = (kind: string) => {
    const annotations = { [ALLOW_NON_EMPTY_DELETE]: "true" };
    const status = { id: "some-id", account: "shop/main" };
    const object = objectOf(kind, "a", { spec: { ...spec, size: 1 }, status, metadata: { name: "a", annotations } });
    return stage([object]).contextOf(`${kind}/shop/a`).view.resource.contents?.ignored;
  };

  test("has an effect only where the platform deletes it: in a Datacenter", () => {
    expect([ignored("Datacenter"), ignored("IPBlock")]).toEqual([true, false]);
  });

  const inside = (namespace: string, { status = {}, ...more }: { status?: object; managementPolicy?: string }) =>
    objectOf("Volume", "data", {
      metadata: { name: "data", namespace },
      spec: { datacenterId: "dc-a-0", size: 1, type: "HDD", ...more },
      status: { id: "vol-1", parents: { datacenter: "dc-a-0" }, account: "shop/main", ...status },
    });
  const observing = { managementPolicy: "Observe" };

  test.each([
    ["its owner manages", "guest", {}, true],
    ["its owner only observes for now", "guest", observing, true],
    ["its owner only observes, in this namespace", "shop", observing, false],
    ["somebody else observes", "guest", { ...observing, status: { internal: { onlyObserved: true } } }, false],
  ])("does not take what another namespace owns: a Volume that %s", (_, namespace, more, guests) => {
    const { view } = stage([owning(), inside(namespace, more)]).contextOf(A);
    expect(view.resource.contents?.guests).toBe(guests);
  });
});

describe("a request", () => {
  const changing = (request: string) => ({
    id: "dc-a-0",
    account: "shop/main",
    request: {
      url: `${API}/cloudapi/v6/requests/${request}/status`,
      action: "update",
      status: "BUSY",
      since: "2025-12-31T23:59:59.000Z",
    },
  });
  const asked = async ({ contextOf, clock }: Awaited<ReturnType<typeof owned>>) => {
    contextOf(A).shared?.collection.ask("dc-a-0");
    await clock.advance(0);
    return contextOf(A).view;
  };

  test("is not taken for done because the one before it was", async () => {
    const all = await owned(owning({ status: changing("req-0") }));
    expect((await asked(all)).resource.request).toMatchObject({ outcome: "DONE" });
    const { metadata: _, ...next } = owning({ status: changing("req-1") });
    all.objects.store("Datacenter").put({ ...next, metadata: { name: "a", namespace: "shop" } });
    expect(all.contextOf(A).view.resource.request).toMatchObject({ outcome: "unknown" });
  });

  test("that is done shows in what was read after that was known, not in what was read since it was sent", async () => {
    const wanting = { ...spec, description: "another" };
    const all = await owned(owning({ spec: wanting, status: changing("req-0") }));
    all.platform.beforeEach(({ url }) => {
      if (url.includes("/datacenters/dc-a-0")) throw new Retry({ call: "GET /datacenters/{id}", status: 503 }, "no");
    });
    all.skip(10);
    const view = await asked(all);
    expect(view.resource.request).toMatchObject({ outcome: "DONE" });
    expect(view.resource.observation).toMatchObject({ seen: "present", comparison: { next: { action: "update" } } });
    expect(decide(view)).toMatchObject({ step: "wait", reason: "Updating" });
    await all.clock.advance(5_000);
    expect(decide(all.contextOf(A).view)).toMatchObject({ step: "update" });
  });
});

describe("a resource that somebody else changes", () => {
  test("is no news about the object: nothing is written", async () => {
    const { platform, pass, clock, api } = await owned();
    await pass(A);
    const writes = api.calls.length;
    const item = platform.items.get("dc-a-0");
    if (item) item.state = "BUSY";
    await clock.advance(400_000);
    expect((await pass(A)).decision).toMatchObject({ step: "wait", reason: "Observing" });
    expect(api.calls).toHaveLength(writes);
  });
});

describe("an object whose spec cannot be read", () => {
  const broken = { deletionPolicy: "Retain", location: 7, externalId: 9, accountRef: "main", replacePolicy: null };
  const leaving = { name: "a", finalizers: [FINALIZER], deletionTimestamp: "2026-01-01T00:00:00Z" };

  test("keeps its resource when it says Retain, whatever else is wrong", () => {
    const { contextOf } = stage([owning({ spec: broken, metadata: leaving })]);
    const { view } = contextOf(A);
    expect(view.spec.obstacle).toMatchObject({ reason: "InvalidSpec" });
    expect(decide(view)).toMatchObject({ step: "release", reason: "Retained" });
  });

  test.each([
    ["no spec at all", undefined],
    ["text", "nonsense"],
    ["a list", []],
  ])("and has %s is still looked at", (_, spec) => {
    const { contextOf } = stage([owning({ spec })]);
    expect(contextOf(A).view).toMatchObject({
      spec: { deletionPolicy: "Delete", obstacle: { reason: "InvalidSpec" } },
    });
  });
});

describe("fields that cannot be changed", () => {
  const madeFrom = (fixed: object, more: object = {}, annotations = {}) =>
    judged({ nonce: "n0", fixed }, more, annotations);
  const judged = (made: object, more: object = {}, annotations = {}) =>
    stage([
      owning({
        spec: { ...spec, ...more },
        status: { id: "dc-a-0", ...made },
        metadata: { name: "a", annotations },
      }),
    ]).contextOf(A).view.spec.replacement;
  const elsewhere = hashFields({ location: "us/las" }, ["location"]);
  const why = [datacenter.immutable.location];

  test("are compared with what the resource was made from, each by itself", () => {
    expect(madeFrom(hashFields(spec, ["location"]))).toBeUndefined();
    expect(madeFrom(elsewhere)).toEqual({ fields: ["location"], why, verdict: "forbidden" });
  });

  test("that were not set when it was made are changed by setting them", () => {
    expect(madeFrom({})).toEqual({ fields: ["location"], why, verdict: "forbidden" });
  });

  test("that spec did not have when it was taken over may be added: nobody knows what it was made from", () => {
    expect(judged({ fixed: {} })).toBeUndefined();
    expect(judged({ fixed: elsewhere })).toEqual({ fields: ["location"], why, verdict: "forbidden" });
  });

  test("are not judged where nothing is on record", () => {
    expect(judged({})).toBeUndefined();
  });

  test("lead to a replacement where that is wanted", () => {
    const wanted = { replacePolicy: "WhenNeeded" };
    expect(madeFrom(elsewhere, wanted)).toEqual({ fields: ["location"], why, verdict: "allowed" });
    expect(madeFrom(elsewhere, wanted, { [ALLOW_DATA_LOSS]: "true" })?.verdict).toBe("allowed");
  });
});

describe("an annotation that was copied with its manifest", () => {
  const kept = { id: "dc-a-0", parents: {}, account: "shop/main", endpoint: API };

  test("opens no Account of another namespace", () => {
    const foreign = { ...kept, account: "bank/main" };
    const copy = objectOf("Datacenter", "a", { spec, metadata: annotated("a", foreign) });
    const begun = objectOf("Datacenter", "a", { spec, metadata: intending("a", intentOf({ account: "bank/main" })) });
    for (const object of [copy, begun]) {
      const { accounts, contextOf, platform } = stage([object]);
      accounts.put(handleOf("bank/main", { connection: platform.connectionOf("bank/main") }));
      expect(contextOf(A).account?.key).toBe("shop/main");
    }
  });

  test("brings the resource back to the object that owned it before its status was lost", () => {
    const restored = objectOf("Datacenter", "a", { spec, metadata: annotated("a", kept) });
    expect(stage([restored]).contextOf(A).view.resource.claim).toEqual(kept);
  });
});

test.each([
  ["MetricPipeline", {}, "monitoring"],
  ["CentralLogging", { enabled: true }, "logging"],
])("a %s whose Account has no address of its product says so, and nothing is begun", async (kind, spec, product) => {
  const object = objectOf(kind, "a", { spec });
  const { accounts, platform, api, pass } = stage([object]);
  const endpoint = (name: string) => {
    throw new Error(`Account shop/main has no spec.endpoints.${name}`);
  };
  accounts.put(handleOf("shop/main", { connection: platform.connectionOf("shop/main"), endpoint }));
  const { decision } = await pass(`${kind}/shop/a`);
  const message = `Account shop/main has no spec.endpoints.${product}`;
  expect(decision).toEqual({ step: "stall", reason: "EndpointInvalid", message });
  expect(api.get(object)?.metadata).not.toHaveProperty("annotations");
});

test("a resource that waits for the deletion of others names those that are paused or stalled", async () => {
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const leaving = (annotations: Record<string, string>) => ({
    finalizers: [FINALIZER],
    deletionTimestamp,
    annotations,
  });
  const lan = (name: string, paused: boolean, conditions: object[] = []) =>
    objectOf("Lan", name, {
      spec: { datacenterRef: { name: "a" } },
      metadata: { name, ...leaving(paused ? { "mooring.dev/paused": "true" } : {}) },
      status: { id: "1", account: "shop/main", parents: { datacenter: "dc-a-0" }, conditions },
    });
  const stalled = { type: "Stalled", status: "True", reason: "Rejected", message: "in use" };
  const platform = fakePlatform();
  platform.make("a", body);
  const object = owning({ metadata: { name: "a", ...leaving({}) } });
  const all = stage([object, lan("b", true), lan("c", false), lan("d", false, [stalled])], { platform });
  all.contextOf(A);
  await all.clock.advance(0);
  expect((await all.pass(A)).decision).toMatchObject({
    reason: "Deleting",
    message: "waiting for the deletion of Lan/shop/b (paused), Lan/shop/c, Lan/shop/d (Rejected)",
  });
});
