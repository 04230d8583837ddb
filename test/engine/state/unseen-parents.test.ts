import { describe, expect, test } from "vitest";
import { API, fakePlatform } from "../support/fake-platform.ts";
import { objectOf, readyCondition } from "../support/fixtures.ts";
import { stage } from "../support/stage.ts";

const key = "FlowLog/shop/a";
const common = { account: "shop/main", contract: 1, userId: "u1", endpoint: API, conditions: [readyCondition()] };
const serverAt = (id: string, metadata: object = {}) =>
  objectOf("Server", "web", {
    spec: { datacenterRef: { name: "dc" } },
    status: { ...common, id, parents: { datacenter: "dc-1" }, nics: [{ id: "n-1", name: "public" }] },
    metadata: { name: "web", ...metadata },
  });

/** The messages of a FlowLog whose resource somebody deleted, with the Server as it is then. */
async function toldOf(server: ReturnType<typeof serverAt> | undefined, recreatePolicy: string) {
  const platform = fakePlatform();
  const path = "/datacenters/dc-1/servers/s-1/nics/n-1/flowlogs";
  const properties = { name: "a", action: "ALL", direction: "INGRESS", bucket: "logs" };
  platform.make("a", { properties }, { path, targets: ["log-1"] });
  const spec = { serverRef: { name: "web" }, nic: "public", action: "Any", direction: "Ingress", bucket: "logs" };
  const parents = { datacenter: "dc-1", server: "s-1", nic: "n-1" };
  const flowLog = objectOf("FlowLog", "a", {
    spec: { ...spec, recreatePolicy },
    status: { ...common, id: "log-1", parents },
    metadata: { name: "a", creationTimestamp: "2025-12-31T23:00:00Z" },
  });
  const all = stage([flowLog, ...(server ? [server] : [])], { platform });
  platform.setClock(all.clock.now);
  all.contextOf(key);
  await all.clock.advance(0);
  expect(await all.passes(key)).toContain("rest");
  platform.removeByHand("log-1");
  all.deps.collections.refresh(key);
  for (let passed = 0; passed < 600; passed += 5) {
    await all.clock.advance(5000);
    await all.passes(key);
  }
  return { events: all.events.join("\n"), status: JSON.stringify(all.api.get(all.contextOf(key).object)?.status) };
}

describe("a resource that was deleted together with the one that it is in", () => {
  const leaving = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["mooring.dev/finalizer"] };
  test.each([
    ["is gone", undefined],
    ["is being deleted", serverAt("s-1", leaving)],
    ["has another resource by now", serverAt("s-2")],
  ])("is told as that while its parent %s", async (_, server) => {
    const { events } = await toldOf(server, "WhenDeleted");
    expect(events).toContain("Vanished FlowLog log-1 was deleted with Server web");
    expect(events).not.toContain("outside Mooring");
  });

  test("is not told to be created again at once while its parent is gone", async () => {
    const { events } = await toldOf(undefined, "WhenDeleted");
    expect(events).toMatch(/Vanished FlowLog log-1 was deleted .*; creating it again has to wait: serverRef: .*web/);
    const { events: again } = await toldOf(serverAt("s-1"), "WhenDeleted");
    expect(again).toMatch(/Vanished FlowLog log-1 was deleted .*; creating it again$/m);
  });

  test("is told as that where it is not created again", async () => {
    const { status } = await toldOf(undefined, "Never");
    expect(status).toMatch(/FlowLog log-1 was deleted with Server web by somebody at [^"]*; what only it held is lost/);
  });

  test("is told as deleted outside Mooring while its parent is there", async () => {
    const { events } = await toldOf(serverAt("s-1"), "WhenDeleted");
    expect(events).toContain("Vanished FlowLog log-1 was deleted outside Mooring by somebody");
  });
});
