import { expect, test } from "vitest";
import { claim } from "../../src/engine/create.ts";
import { hashBody } from "../../src/engine/intent.ts";
import { claimOf } from "../../src/engine/objects.ts";
import { Retry } from "../../src/platform/errors.ts";
import { intending, intentOf, objectOf } from "./fixtures.ts";
import { stage } from "./stage.ts";

// The fake platform counts its ids by the log: with an empty one it begins anew, as LANs take free numbers again.

const spec = { name: "same", location: "de/txl" };
const body = { properties: spec };
const A = "Datacenter/shop/a";

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

test("what cannot be claimed is deleted, whoever has the same number in another datacenter", async () => {
  const lan = (name: string, datacenter: string, more: object) =>
    objectOf("Lan", name, { spec: { datacenterId: datacenter }, ...more });
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
