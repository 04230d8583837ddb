import { expect, test } from "vitest";
import { kinds } from "../../src/kinds/index.ts";
import { ipBlock } from "../../src/kinds/network/ipblock.ts";
import { planAll } from "../../src/plan/planner.ts";
import { createStage } from "../../src/plan/stage.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { fakePlatform } from "../engine/support/fake-platform.ts";
import { handleOf, objectOf } from "../engine/support/fixtures.ts";

const spec = { location: "de/txl", size: 1, name: "ips" };

/** The plan for an object that adopts an existing IP block, which another object owns or not. */
async function planned(isOwned: boolean) {
  const platform = fakePlatform();
  const id = platform.make("ips", { properties: { ...spec, name: "old" } }, { path: "/ipblocks" });
  const { signal } = new AbortController();
  await using stage = createStage({ kinds, clock: systemClock, signal, labelsOf: () => ({}) });
  stage.put(objectOf("Account", "main"));
  if (isOwned) stage.put(objectOf("IPBlock", "theirs", { spec, status: { id, account: "shop/main", nonce: "n" } }));
  stage.account(handleOf("shop/main", { connection: platform.connectionOf("shop/main") }));
  const desired = objectOf("IPBlock", "mine", { spec: { ...spec, externalId: id } });
  const [item] = await planAll(stage, [{ kind: ipBlock, live: undefined, desired }]);
  return item;
}

test("a resource that nobody owns is adopted, and the plan shows what will be changed", async () => {
  expect(await planned(false)).toMatchObject({ action: "adopt", fields: [{ field: "name", platform: true }] });
});

test("a resource that another object owns is not adopted", async () => {
  const message = expect.stringContaining("belongs to IPBlock/shop/theirs");
  expect(await planned(true)).toMatchObject({ action: "blocked", writes: false, message });
});
