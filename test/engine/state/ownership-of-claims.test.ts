import { describe, expect, test } from "vitest";
import { claimOf } from "../../../src/engine/state/object.ts";
import { createSignatures } from "../../../src/engine/state/signatures.ts";
import { readFacts, readyOf } from "../../../src/engine/status/status.ts";
import { type KubeObject, LAST_APPLIED } from "../../../src/kube/resource.ts";
import { fakeClock } from "../../fake-clock.ts";
import { fakeApiServer } from "../support/fake-api-server.ts";
import { type FakePlatform, fakePlatform } from "../support/fake-platform.ts";
import { datacenterSpec, objectOf } from "../support/fixtures.ts";
import { accountOf, credentials, runEngine } from "../support/running-engine.ts";
import { SETTINGS, stage } from "../support/stage.ts";

const KEY = "Datacenter/shop/a";
const dc = (name: string, annotations: Record<string, string> = {}) =>
  objectOf("Datacenter", name, { spec: datacenterSpec, metadata: { name, annotations } });
const applied = (name: string) => dc(name, { [LAST_APPLIED]: `{"kind":"Datacenter","metadata":{"name":"${name}"}}` });
const HOUR = 3_600_000;

/** An API server with Ready objects that are signed with this key. */
async function readyWith(key: string, ...objects: KubeObject[]) {
  const platform = fakePlatform();
  const initial = [credentials, accountOf("main"), ...objects];
  const api = fakeApiServer(...initial);
  const clock = fakeClock();
  await using engine = await runEngine(initial, {
    clock,
    platform,
    api,
    seal: createSignatures({ keys: () => [key] }),
  });
  await clock.advance(HOUR);
  for (const object of objects) expect(readyOf(engine.api.get(object) ?? object)?.reason).toBe("Available");
  expect(platform.sent("POST")).toHaveLength(objects.length);
  return { platform, initial, api };
}

const reasonsOf = (api: ReturnType<typeof fakeApiServer>, objects: KubeObject[]) =>
  objects.map((object) => readyOf(api.get(object) ?? object)?.reason);

describe("objects whose signing key is lost", () => {
  test("wait for hours, through edits, rechecks and restarts, and nothing is created", async () => {
    const objects = [applied("a"), dc("b")];
    const { platform, initial, api } = await readyWith("old", ...objects);
    for (const pod of ["mooring-1", "mooring-2"]) {
      const clock = fakeClock(Date.UTC(2026, 0, 2));
      const seal = createSignatures({ keys: () => ["new"] });
      const self = { pod, process: pod };
      await using engine = await runEngine(initial, { clock, platform, api, seal, self });
      await clock.advance(HOUR);
      for (const object of objects) {
        const now = api.get(object) ?? object;
        const { annotations } = now.metadata;
        engine.put({
          ...now,
          metadata: { ...now.metadata, generation: 2, annotations: { ...annotations, edited: pod } },
        });
      }
      await clock.advance(12 * HOUR);
      expect(reasonsOf(api, objects)).toEqual(["SigningKeyUnknown", "SigningKeyUnknown"]);
    }
    expect(platform.sent("POST")).toHaveLength(2);
    expect(platform.sent("DELETE")).toEqual([]);
  });
});

describe("a signing key that comes back", () => {
  test("lets objects go on at once, with the operator that waited for it, and nothing is created", async () => {
    const objects = [applied("a"), dc("b")];
    const { platform, initial, api } = await readyWith("old", ...objects);
    const clock = fakeClock(Date.UTC(2026, 0, 2));
    let keys = ["new"];
    const seal = createSignatures({ keys: () => keys });
    await using engine = await runEngine(initial, {
      clock,
      platform,
      api,
      seal,
      settings: { ...SETTINGS, recheckMs: 1e9 },
    });
    await clock.advance(HOUR);
    expect(reasonsOf(api, objects)).toEqual(["SigningKeyUnknown", "SigningKeyUnknown"]);
    expect(engine.engine.unknown()).toBe(2);
    keys = ["new", "old"];
    await engine.engine.judgeAgain();
    await clock.advance(1000);
    expect(reasonsOf(api, objects)).toEqual(["Available", "Available"]);
    expect(engine.engine.unknown()).toBe(0);
    // At rest, everything is signed with the new key.
    await clock.advance(HOUR);
    keys = ["new"];
    await engine.engine.judgeAgain();
    await clock.advance(HOUR);
    expect(reasonsOf(api, objects)).toEqual(["Available", "Available"]);
    expect(platform.sent("POST")).toHaveLength(2);
  });
});

describe("a status field of a kind", () => {
  test("is learnt again where somebody has edited it, and the claim stands", async () => {
    const block = objectOf("IPBlock", "a", { spec: { location: "de/txl", size: 1 }, metadata: { name: "a" } });
    const all = stage([block], { seal: createSignatures({ keys: () => ["one"] }) });
    await all.passes("IPBlock/shop/a");
    await all.clock.advance(5000);
    await all.passes("IPBlock/shop/a");
    const ready = all.api.get(block) ?? block;
    expect(readyOf(ready)?.reason).toBe("Available");
    all.api.put({ ...ready, status: { ...Object(ready.status), ips: ["192.0.2.66"] } });
    all.sync();
    const edited = all.objects.find("IPBlock/shop/a")?.object ?? block;
    expect(readFacts(edited)).toEqual({});
    expect(claimOf(edited)?.id).toBe(Object(ready.status).id);
    await all.passes("IPBlock/shop/a");
    expect(all.api.get(block)?.status).toEqual(ready.status);
    expect(all.platform.sent("POST")).toHaveLength(1);
  });
});

describe("an object whose status was edited after it was claimed", () => {
  /** Creates an object, lets somebody edit its status, and continues for minutes. */
  async function edited(edit: (status: Record<string, unknown>) => object | undefined): Promise<FakePlatform> {
    const object = dc("a");
    const seal = createSignatures({ keys: () => ["one"] });
    const all = stage([object], { seal });
    await all.passes(KEY);
    const before = all.api.get(object) ?? object;
    expect(Object(before.status).id).toBeDefined();
    all.api.put({ ...before, status: edit({ ...Object(before.status) }) });
    for (let seconds = 0; seconds < 300; seconds += 5) {
      all.sync();
      await all.passes(KEY);
      await all.clock.advance(5000);
    }
    expect(Object(all.api.get(object)?.status).id).toBe(Object(before.status).id);
    return all.platform;
  }

  test.each([
    ["its id removed", ({ id: _, ...status }: Record<string, unknown>) => status],
    [
      "its nonce changed",
      (status: Record<string, unknown>) => ({ ...status, internal: { ...Object(status.internal), nonce: "other" } }),
    ],
    ["all of it removed", () => undefined],
  ])("finds its own resource: %s", async (_, edit) => {
    const platform = await edited(edit);
    expect(platform.sent("POST")).toHaveLength(1);
  });
});
