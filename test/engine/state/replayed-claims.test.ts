import { describe, expect, test } from "vitest";
import { EXTERNAL_ID, INTENT } from "../../../src/engine/state/names.ts";
import { createSignatures } from "../../../src/engine/state/signatures.ts";
import { readStatus, readyOf } from "../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { fakeApiServer } from "../support/fake-api-server.ts";
import { type FakePlatform, fakePlatform } from "../support/fake-platform.ts";
import { objectOf } from "../support/fixtures.ts";
import { stage } from "../support/stage.ts";

const KEY = "IPBlock/shop/a";
const block = objectOf("IPBlock", "a", {
  spec: { location: "de/txl", size: 1, replacePolicy: "WhenNeeded", recreatePolicy: "WhenDeleted" },
  metadata: { name: "a", annotations: { "mooring.dev/allow-data-loss": "true" } },
});
type Api = ReturnType<typeof fakeApiServer>;

/** A process of the operator, on an API server and a platform that outlive it. */
function run(api: Api, platform: FakePlatform) {
  const all = stage([block], { api, platform, seal: createSignatures({ keys: () => ["one"] }) });
  platform.setClock(all.clock.now);
  const stored = (): KubeObject => api.get(block) ?? block;
  return {
    all,
    stored,
    id: () => Object(stored().status).id,
    reason: () => readyOf(stored())?.reason,
    named: () => JSON.parse(stored().metadata.annotations?.[EXTERNAL_ID] ?? "{}").id,
    async minutes(minutes: number) {
      const steps = new Set<string>();
      for (let seconds = 0; seconds < minutes * 60; seconds += 5) {
        all.sync();
        for (const step of await all.passes(KEY)) steps.add(step);
        await all.clock.advance(5000);
      }
      return [...steps];
    },
    /** Somebody puts this back. */
    replay(status: unknown, annotations: Record<string, string | undefined> = {}) {
      const { metadata, ...rest } = stored();
      const merged = Object.entries({ ...metadata.annotations, ...annotations });
      const kept = Object.fromEntries(merged.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
      api.put({ ...rest, status: structuredClone(status), metadata: { ...metadata, annotations: kept } });
      all.sync();
    },
  };
}

/** An object whose resource was replaced, and what it said before. */
async function replaced() {
  const platform = fakePlatform();
  const api = fakeApiServer(block);
  const life = run(api, platform);
  await life.minutes(0.25);
  const intent = life.stored().metadata.annotations?.[INTENT] ?? "";
  await life.minutes(3);
  const old = life.stored();
  const oldId = life.id();
  expect(life.named()).toBe(oldId);
  api.put({
    ...old,
    spec: { location: "de/fra", size: 1, replacePolicy: "WhenNeeded", recreatePolicy: "WhenDeleted" },
    metadata: { ...old.metadata, generation: 2 },
  });
  await life.minutes(3);
  const now = life.stored();
  expect([life.id() === oldId, life.named() === life.id(), life.reason()]).toEqual([false, true, "Available"]);
  expect(platform.sent("POST")).toHaveLength(2);
  return { api, platform, life, old, oldId, now, newId: life.id(), intent };
}

const annotation = ({ metadata }: KubeObject, name = EXTERNAL_ID) => ({ [name]: metadata.annotations?.[name] });

describe("state from before a replacement", () => {
  test.each<[string, (old: KubeObject) => [unknown, Record<string, string | undefined>]]>([
    ["status", ({ status }) => [status, {}]],
    ["status and annotation", (old) => [old.status, annotation(old)]],
    ["annotation, with a status that is removed", (old) => [undefined, annotation(old)]],
    ["status, with an annotation that is removed", ({ status }) => [status, { [EXTERNAL_ID]: undefined }]],
  ])("does not count when somebody puts it back: %s", async (_, replay) => {
    const { life, platform, old, newId } = await replaced();
    life.replay(...replay(old));
    const steps = await life.minutes(5);
    expect(steps).not.toContain("forget");
    expect([life.id(), life.named(), life.reason()]).toEqual([newId, newId, "Available"]);
    expect(readStatus(life.stored()).adoptedAt).toBeUndefined();
    expect(platform.sent("POST")).toHaveLength(2);
    expect(platform.items.size).toBe(1);
  });

  test("does not count when an intent that was answered is put back", async () => {
    const { life, platform, intent, newId } = await replaced();
    life.replay(life.stored().status, { [INTENT]: intent });
    await life.minutes(5);
    expect([life.id(), life.named(), life.reason()]).toEqual([newId, newId, "Available"]);
    expect(life.stored().metadata.annotations?.[INTENT]).toBeUndefined();
    expect(platform.sent("POST")).toHaveLength(2);
  });

  test("does not count for the next process if the annotation is newer", async () => {
    const { api, life, platform, old, newId } = await replaced();
    life.replay(old.status);
    const next = run(api, platform);
    await next.minutes(5);
    expect([next.id(), next.named(), next.reason()]).toEqual([newId, newId, "Available"]);
    expect(platform.sent("POST")).toHaveLength(2);
  });

  test("is a backup for the next process if all of it is put back: a person decides", async () => {
    const { api, life, platform, old } = await replaced();
    life.replay(old.status, annotation(old));
    const next = run(api, platform);
    next.all.deps.memories.of(KEY).doubt = { since: next.all.clock.monotonic() };
    await next.minutes(5);
    expect(next.reason()).toBe("AlreadyExists");
    expect(platform.sent("POST")).toHaveLength(2);
  });

  test("is a backup if the object comes back with it while the operator runs: a person decides", async () => {
    const { api, life, platform, old } = await replaced();
    const { metadata, spec } = life.stored();
    api.put({
      ...life.stored(),
      spec: { ...Object(spec), deletionPolicy: "Retain" },
      metadata: { ...metadata, deletionTimestamp: "2026-01-01T01:00:00Z" },
    });
    await life.minutes(0.25).catch(() => {});
    expect(life.all.objects.find(KEY)).toBeUndefined();
    const { uid: _, ...kept } = old.metadata;
    api.put({ ...old, status: undefined, spec, metadata: { ...kept, uid: "uid-restored" } });
    await life.minutes(5);
    expect(life.reason()).toBe("AlreadyExists");
    expect(platform.sent("POST")).toHaveLength(2);
  });
});

describe("an annotation that names another resource than status", () => {
  test("is put right at once", async () => {
    const { life, old, newId } = await replaced();
    life.replay(life.stored().status, annotation(old));
    await life.minutes(0.25);
    expect(life.named()).toBe(newId);
  });

  test("costs few writes if somebody keeps on changing it, and is right in the end", async () => {
    const { api, life, old, newId } = await replaced();
    let repairs = 0;
    for (let second = 0; second < 200; second += 5) {
      if (life.named() === newId) repairs += 1;
      life.replay(life.stored().status, annotation(old));
      const version = api.version;
      await life.minutes(1 / 12);
      expect(Number(api.version) - Number(version)).toBeLessThanOrEqual(1);
    }
    expect(repairs).toBeLessThan(10);
    await life.minutes(10);
    expect(life.named()).toBe(newId);
    const version = api.version;
    await life.minutes(5);
    expect(api.version).toBe(version);
  });

  test("is put right when it was edited", async () => {
    const { life, newId } = await replaced();
    life.replay(life.stored().status, { [EXTERNAL_ID]: '{"id":"other"}' });
    await life.minutes(0.25);
    expect(life.named()).toBe(newId);
  });
});
