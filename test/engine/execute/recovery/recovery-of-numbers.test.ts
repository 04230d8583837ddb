import { describe, expect, test } from "vitest";
import { claim } from "../../../../src/engine/execute/claim.ts";
import { FINALIZER } from "../../../../src/engine/state/names.ts";
import { claimOf } from "../../../../src/engine/state/object.ts";
import { readStatus } from "../../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../../src/kube/resource.ts";
import { NotFound, Retry } from "../../../../src/platform/answers/errors.ts";
import { hashBody } from "../../../../src/runtime/hash.ts";
import { fakePlatform } from "../../support/fake-platform.ts";
import { intending, intentOf, objectOf } from "../../support/fixtures.ts";
import { readyOf } from "../../support/lives.ts";
import { stage } from "../../support/stage.ts";

const DC = "72e73b81-8551-4e74-b398-fc63b39994af";
const parents = { datacenter: DC };
const path = `/datacenters/${DC}/lans`;
const LAN = "Lan/shop/a";
const MADE = "2026-01-01T00:00:00Z";
const body = (name: string) => ({ properties: { name, public: false } });
const lan = (name: string, more: object) => objectOf("Lan", name, { spec: { datacenterId: DC }, ...more });
const owning = (metadata: Partial<KubeObject["metadata"]> = {}) =>
  lan("a", {
    status: { id: "1", parents, account: "shop/main", born: MADE },
    metadata: { name: "a", finalizers: [FINALIZER], ...metadata },
  });
const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };

/** Repeats passes and waits until `done`. Returns the steps. */
async function until(done: () => boolean, { passes, clock, sync, objects }: ReturnType<typeof stage>) {
  const steps: string[] = [];
  for (let round = 0; round < 200 && !done(); round++) {
    sync();
    if (objects.find(LAN)) steps.push(...(await passes(LAN)));
    await clock.advance(1000);
  }
  return steps;
}

describe("a LAN that somebody else made one second later, under the number of ours", () => {
  function replaced(object: KubeObject) {
    const platform = fakePlatform();
    platform.make("a", body("a"), { path, at: MADE });
    platform.removeByHand("1", { at: MADE });
    platform.make("theirs", { properties: { name: "theirs", public: true } }, { path, at: "2026-01-01T00:00:01Z" });
    return stage([object], { platform });
  }

  test("is not changed: ours is created again beside it", async () => {
    const all = replaced(owning());
    const steps = await until(() => all.platform.items.size === 2, all);
    expect(steps).toContain("forget");
    expect(all.platform.writes()).toEqual([`POST /cloudapi/v6${path}`]);
    expect(all.platform.items.get(`${path}/1`)?.properties).toEqual({ name: "theirs", public: true });
  });

  test("stays when our object is deleted", async () => {
    const object = owning(deleted);
    const all = replaced(object);
    await until(() => !all.api.get(object), all);
    expect(all.api.get(object)).toBeUndefined();
    expect(all.platform.writes()).toEqual([]);
  });

  test("and seen too late by a list is not touched: the number is looked at once more before it is written to", async () => {
    const object = owning(deleted);
    const platform = fakePlatform();
    platform.make("a", body("a"), { path, at: MADE });
    const all = stage([object], { platform });
    all.contextOf(LAN);
    await all.clock.advance(5000);
    const ours = platform.items.get(`${path}/1`);
    platform.items.set(`${path}/1`, {
      ...(ours ?? { state: "", properties: {}, user: "" }),
      born: "2026-01-01T00:00:01Z",
    });
    await until(() => !all.api.get(object), all);
    expect(platform.writes()).toEqual([]);
    expect(platform.items.size).toBe(1);
  });
});

test("one 404 to the DELETE of a LAN does not let the object go: the LAN is deleted when it is seen again", async () => {
  const object = owning(deleted);
  const platform = fakePlatform();
  platform.make("a", body("a"), { path, at: MADE });
  const all = stage([object], { platform });
  let refusals = 1;
  platform.beforeEach(({ method, url }) => {
    if (method === "DELETE" && refusals-- > 0) throw new NotFound({ call: `DELETE ${url}`, status: 404 });
  });
  await until(() => platform.sent("DELETE").length === 1, all);
  expect(all.api.get(object)?.metadata.finalizers).toEqual([FINALIZER]);
  await until(() => !all.api.get(object), all);
  expect(all.api.get(object)).toBeUndefined();
  expect(platform.items.size).toBe(0);
  expect(platform.sent("DELETE")).toHaveLength(2);
});

test("a number that became free and was given away again answers the creation that has got it", async () => {
  const object = lan("a", {});
  const platform = fakePlatform();
  const all = stage([object], { platform });
  platform.setClock(all.clock.now);
  await until(() => claimOf(all.api.get(object) ?? object) !== undefined, all);
  platform.removeByHand("1");
  platform.afterEach(({ method }) => {
    if (method === "POST") throw new Retry({ call: `POST ${path}`, status: 0 }, "unknown");
  });
  const steps = await until(() => claimOf(all.api.get(object) ?? object)?.born !== "2026-01-01T00:00:00Z", all);
  expect(steps).toEqual(expect.arrayContaining(["forget", "create"]));
  await until(() => claimOf(all.api.get(object) ?? object) !== undefined, all);
  expect(platform.sent("POST")).toHaveLength(2);
  expect(claimOf(all.api.get(object) ?? object)).toMatchObject({
    id: "1",
    born: platform.items.get(`${path}/1`)?.born,
  });
});

test("an earlier creation is not answered by what has its number by now", async () => {
  const metadata = intending("a", intentOf({ parents, hash: hashBody(body("a")) }));
  const { platform, passes } = stage([lan("a", { metadata })]);
  const id = platform.make("a", body("a"), { path });
  platform.make("other", body("other"), { path, targets: [id], at: "2026-01-01T00:00:30Z" });
  expect(await passes(LAN)).toEqual(["search", "wait Recovering"]);
});

test("a number is claimed although its last owner has not heard yet that its own is gone", async () => {
  const metadata = intending("a", intentOf({ parents, hash: hashBody(body("a")) }));
  const request = { action: "delete", status: "BUSY", since: "2026-01-01T00:00:00.000Z", url: "/requests/r/status" };
  const last = lan("b", { status: { id: "19", parents, account: "shop/main", born: MADE, request } });
  const { platform, passes, contextOf } = stage([lan("a", { metadata }), last]);
  platform.make("a", body("a"), { path, targets: ["19"], at: "2026-01-01T00:00:01Z" });
  expect((await passes(LAN)).slice(0, 2)).toEqual(["search", "claim"]);
  expect(contextOf(LAN).view.resource.claim).toMatchObject({ id: "19", born: "2026-01-01T00:00:01Z" });
  expect(platform.sent("POST")).toEqual([]);
});

describe("a birth that one answer tells wrongly", () => {
  const WRONG = "2026-01-01T00:01:00Z";

  /** LAN 1. The first answer to a read of a path with this ending has a wrong creation date. */
  function misdated(objects: KubeObject[], end = "/lans/1") {
    const platform = fakePlatform();
    const all = stage(objects, { platform });
    const key = `${path}/${platform.make("a", body("a"), { path, at: MADE })}`;
    const tell = (born: string) => {
      const ours = platform.items.get(key);
      if (ours) platform.items.set(key, { ...ours, born });
    };
    let isNext = true;
    platform.beforeEach(({ method, url }) => {
      if (!isNext || method !== "GET" || !new URL(url).pathname.endsWith(end)) return;
      isNext = false;
      tell(WRONG);
    });
    platform.afterEach(() => tell(MADE));
    return all;
  }
  const bornOf = (all: ReturnType<typeof stage>, object: KubeObject) => readStatus(all.api.get(object) ?? object).born;

  test("is not taken for that of ours after a creation without an answer: nothing is made twice", async () => {
    const object = lan("a", { metadata: intending("a", intentOf({ parents, hash: hashBody(body("a")) })) });
    const all = misdated([object]);
    await until(() => readStatus(all.api.get(object) ?? object).state === "AVAILABLE", all);
    expect(claimOf(all.api.get(object) ?? object)).toMatchObject({ id: "1", born: MADE });
    expect(all.platform.writes()).toEqual([]);
  });

  test("lets nobody adopt what another object owns", async () => {
    const [owner, other] = [owning(), lan("b", {})];
    other.spec = { datacenterId: DC, externalId: "1" };
    const all = misdated([owner, other]);
    await all.passes("Lan/shop/b");
    expect(readyOf({ all, object: other })?.message).toContain("the creation date differs");
    await all.clock.advance(60_000);
    await all.passes("Lan/shop/b");
    expect(claimOf(all.api.get(other) ?? other)).toBeUndefined();
    expect(readyOf({ all, object: other })).toMatchObject({ reason: "NotAdoptable" });
  });

  test("is not learnt at rest, and the object stays Ready", async () => {
    const object = lan("a", { status: { id: "1", parents, account: "shop/main", nonce: "answered without it" } });
    const all = misdated([object], "/lans");
    all.contextOf(LAN);
    await all.clock.advance(2000);
    expect(await all.passes(LAN)).toEqual(["rest"]);
    expect(bornOf(all, object)).toBeUndefined();
    expect(readyOf({ all, object })).toMatchObject({ status: "True" });
    await all.clock.advance(600_000);
    await all.passes(LAN);
    expect(bornOf(all, object)).toBe(MADE);
  });
});

test("a resource that another object owns, birth and all, is not the result of a creation", async () => {
  const metadata = intending("a", intentOf({ parents, hash: hashBody(body("a")) }));
  const owner = lan("b", { status: { id: "1", parents, account: "shop/main", born: MADE } });
  const { platform, passes } = stage([lan("a", { metadata }), owner]);
  platform.make("a", body("a"), { path, at: MADE });
  expect(await passes(LAN)).toEqual(["search", "wait Recovering"]);
});

test.for([
  ["Manage", MADE],
  ["Observe", undefined],
] as const)(
  "who has a number is remembered by its birth, unless it is only looked at: %s",
  async ([managementPolicy, born]) => {
    const object = lan("a", { status: { id: "7", parents, account: "shop/main", nonce: "answered without it" } });
    object.spec = { datacenterId: DC, externalId: "7", managementPolicy };
    const { api, platform, passes, clock, contextOf } = stage([object]);
    platform.make("a", body("a"), { path, targets: ["7"] });
    contextOf(LAN);
    await clock.advance(2000);
    expect(await passes(LAN)).toEqual(["rest"]);
    expect(readStatus(api.get(object) ?? object).born).toBe(born);
  },
);

test("an object that only observes a number shows any resource with it", async () => {
  const object = lan("a", { status: { id: "7", parents, account: "shop/main", born: MADE } });
  object.spec = { datacenterId: DC, externalId: "7", managementPolicy: "Observe" };
  const { api, platform, passes, clock, contextOf } = stage([object]);
  platform.make(
    "next",
    { properties: { name: "next", public: true } },
    { path, targets: ["7"], at: "2026-01-01T00:10:00Z" },
  );
  contextOf(LAN);
  await clock.advance(2000);
  expect(await passes(LAN)).toEqual(["rest"]);
  expect(api.get(object)?.status).toMatchObject({ public: true });
});

describe("a number that is claimed without a birth", () => {
  const unborn = () => lan("a", { status: { id: "7", parents, account: "shop/main" } });

  test("is adopted before anything is done to it, and known by its birth from then on", async () => {
    const object = unborn();
    const { api, platform, passes } = stage([object]);
    platform.make("a", body("a"), { path, targets: ["7"], at: MADE });
    expect((await passes(LAN))[0]).toBe("adopt");
    expect(claimOf(api.get(object) ?? object)).toMatchObject({ id: "7", born: MADE });
  });

  test("is left to who has created it", async () => {
    const object = unborn();
    const owner = lan("b", { status: { id: "7", parents, account: "shop/main", born: MADE } });
    const { platform, passes } = stage([object, owner]);
    platform.make("b", body("b"), { path, targets: ["7"], at: MADE });
    expect((await passes(LAN))[0]).toBe("adopt");
    expect(readStatus(owner).id).toBe("7");
    expect(platform.writes()).toEqual([]);
  });

  test("is deleted by nobody", async () => {
    const object = unborn();
    object.metadata = { ...object.metadata, deletionTimestamp: MADE, finalizers: [FINALIZER] };
    const { platform, passes } = stage([object]);
    platform.make("b", body("b"), { path, targets: ["7"], at: MADE });
    expect(await passes(LAN)).toEqual(["release Deleted"]);
    expect(platform.writes()).toEqual([]);
  });
});

test("a resource that cannot be claimed is deleted, even if another datacenter has one with the same number", async () => {
  const intent = intentOf({ parents: { datacenter: "d1" } });
  const begun = (nonce: string) => lan("a", { metadata: intending("a", { ...intent, nonce }) });
  const status = { id: "1", parents: { datacenter: "d2" }, account: "shop/main" };
  const { deps, api, platform, cleanups, contextOf, skip } = stage([begun(intent.nonce), lan("b", { status })]);
  skip(600_000);
  api.put(begun("of the next leader"));
  await claim(deps, contextOf(LAN), { intent, begunAt: 0, phase: "made", made: { id: "1" } });
  await Promise.all(cleanups);
  expect(platform.sent("DELETE").map(({ url }) => new URL(url).pathname)).toEqual([
    "/cloudapi/v6/datacenters/d1/lans/1",
  ]);
});
