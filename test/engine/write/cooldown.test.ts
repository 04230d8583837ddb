import { expect, test } from "vitest";
import { readFacts } from "../../../src/engine/status/status.ts";
import { group, groupItem } from "../../kinds/compute/scaling-group/groups.ts";
import { fakeApiServer } from "../support/fake-api-server.ts";
import { API, fakePlatform } from "../support/fake-platform.ts";
import { objectOf } from "../support/fixtures.ts";
import { BEGIN, stage } from "../support/stage.ts";

const DC = "72e73b81-8551-4e74-b398-fc63b39994af";
const KEY = "ScalingGroup/shop/web";
const RESYNC = 300_000;

/** A group at rest, whose last action was so long ago. Its cooldown takes 10 minutes. */
async function opened(agoMs: number) {
  const claim = { id: "web", parents: { datacenter: DC }, account: "shop/main", endpoint: API, contract: 1 };
  const object = objectOf("ScalingGroup", "web", {
    spec: group({ datacenterRef: undefined, datacenterId: DC }),
    status: claim,
  });
  const platform = fakePlatform();
  const { properties } = groupItem(group(), { properties: { datacenter: { id: DC } } });
  platform.make("web", { properties }, { path: "/groups", targets: ["web"], entities: {} });
  const found = platform.items.get("web");
  const createdDate = new Date(BEGIN - agoMs).toISOString();
  const action = { metadata: { createdDate }, properties: { actionType: "SCALE_OUT", actionStatus: "SUCCESSFUL" } };
  if (found) found.entities = { actions: { items: [{ id: "action", ...action }] } };
  const api = fakeApiServer(object);
  const life = stage([object], { api, platform });
  const settle = async (ms = 0) => {
    await life.clock.advance(ms);
    life.sync();
    await life.passes(KEY);
  };
  for (let nth = 0; nth < 3; nth++) await settle(1000);
  const shown = () => readFacts(api.get(object) ?? object).nextActionAt;
  return { ...life, settle, shown };
}

test("a status that time alone makes wrong is written anew when it does", async () => {
  const { pass, settle, shown, clock } = await opened(400_000);
  expect(shown()).toBe(new Date(BEGIN + 200_000).toISOString());
  const { again } = await pass(KEY);
  const left = BEGIN + 200_000 - clock.now();
  expect(again).toEqual({ inMs: left, background: true });
  await settle(left);
  expect(shown()).toBeUndefined();
  expect((await pass(KEY)).again).toBe("never");
});

test("a long wait for that is checked in between, because the platform's clock may run differently", async () => {
  const { pass, shown, deps } = await opened(0);
  expect(shown()).toBe(new Date(BEGIN + 600_000).toISOString());
  expect(deps.settings.resyncMs).toBeLessThanOrEqual(RESYNC + 60_000);
  expect((await pass(KEY)).again).toEqual({ inMs: deps.settings.resyncMs, background: true });
});
