import { expect, test } from "vitest";
import { claim } from "../../src/engine/act/create.ts";
import { hashBody } from "../../src/engine/objects/intent.ts";
import { claimOf } from "../../src/engine/objects/objects.ts";
import { Retry } from "../../src/platform/errors.ts";
import { intending, intentOf, objectOf } from "./fixtures.ts";
import { stage } from "./stage.ts";

// The fake platform counts its ids by the log: with an empty one it begins anew, as LANs take free numbers again.

const spec = { name: "same", location: "de/txl" };
const body = { properties: spec };
const A = "Datacenter/shop/a";
const lan = (name: string, datacenterId: string, more: object) =>
  objectOf("Lan", name, { spec: { datacenterId }, ...more });

test("an id that became free and was given away again answers the creation that has got it", async () => {
  const object = objectOf("Datacenter", "a", { spec });
  const { platform, passes, clock, api, sceneOf } = stage([object]);
  await passes(A);
  platform.items.clear();
  platform.log.splice(0);
  platform.afterEach(({ method }) => {
    if (method === "POST") throw new Retry({ call: "POST /datacenters", status: 0 }, "unknown");
  });
  const steps: string[] = [];
  while (!steps.includes("claim") && clock.now() < Date.UTC(2026, 0, 1, 1)) {
    sceneOf(A);
    await clock.advance(2000);
    steps.push(...(await passes(A)));
  }
  expect(steps).toEqual(expect.arrayContaining(["forget", "create", "search", "claim"]));
  expect(platform.sent("POST")).toHaveLength(2);
  expect(claimOf(api.get(object) ?? object)?.id).toBe("dc-same-0");
});

test("an earlier creation is not answered by what has its id by now", async () => {
  const metadata = intending("a", intentOf({ hash: hashBody(body) }));
  const { platform, passes } = stage([objectOf("Datacenter", "a", { spec, metadata })]);
  const id = platform.make("same", body);
  platform.make("other", { properties: { ...spec, name: "other" } }, { targets: [id], at: "2026-01-01T00:00:30Z" });
  expect(await passes(A)).toEqual(["search", "wait Recovering"]);
});

test("one that was given away again, before its last owner has heard that its own is gone, is waited for", async () => {
  const parents = { datacenter: "d1" };
  const named = { properties: { name: "a", public: false } };
  const metadata = intending("a", intentOf({ parents, hash: hashBody(named) }));
  const request = { action: "delete", status: "BUSY", since: "2026-01-01T00:00:00.000Z", url: "/requests/r/status" };
  const status = { id: "19", parents, account: "shop/main", request };
  const last = lan("b", "d1", { status });
  const { api, objects, platform, passes, clock, sceneOf } = stage([lan("a", "d1", { metadata }), last]);
  platform.make("a", named, { path: "/datacenters/d1/lans", targets: ["19"] });
  sceneOf("Lan/shop/a");
  await clock.advance(600_000);
  expect(await passes("Lan/shop/a")).toEqual(["search", "wait Recovering"]);
  objects.vacate("Lan", { id: "19", parents }, clock.now());
  objects.store("Lan").remove(api.get(last) ?? last);
  await clock.advance(10_000);
  expect((await passes("Lan/shop/a")).slice(0, 2)).toEqual(["search", "claim"]);
  expect(sceneOf("Lan/shop/a").view.claim?.id).toBe("19");
  expect(platform.sent("POST")).toEqual([]);
});

test.for([
  ["Manage", "2026-01-01T00:00:00Z"],
  ["Observe", undefined],
] as const)(
  "who has a number is remembered by its birth, unless it is only looked at: %s",
  async ([managementPolicy, born]) => {
    const datacenterId = "72e73b81-8551-4e74-b398-fc63b39994af";
    const status = { id: "7", parents: { datacenter: datacenterId }, account: "shop/main" };
    const object = lan("a", datacenterId, { status });
    object.spec = { datacenterId, externalId: "7", managementPolicy };
    const { api, platform, passes, clock, sceneOf } = stage([object]);
    platform.make("a", { properties: { name: "a", public: false } }, { targets: ["7"] });
    sceneOf("Lan/shop/a");
    await clock.advance(2000);
    expect(await passes("Lan/shop/a")).toEqual(["rest"]);
    expect(Object(api.get(object)?.status).born).toBe(born);
  },
);

test("what cannot be claimed is deleted, whoever has the same number in another datacenter", async () => {
  const intent = intentOf({ parents: { datacenter: "d1" } });
  const begun = (nonce: string) => lan("a", "d1", { metadata: intending("a", { ...intent, nonce }) });
  const status = { id: "1", parents: { datacenter: "d2" }, account: "shop/main" };
  const { deps, api, platform, debts, sceneOf, skip } = stage([begun(intent.nonce), lan("b", "d2", { status })]);
  skip(600_000);
  api.put(begun("of the next leader"));
  await claim(deps, sceneOf("Lan/shop/a"), intent, { nonce: intent.nonce, id: "1", since: 0 });
  await Promise.all(debts);
  expect(platform.sent("DELETE").map(({ url }) => new URL(url).pathname)).toEqual([
    "/cloudapi/v6/datacenters/d1/lans/1",
  ]);
});
