import { describe, expect, test } from "vitest";
import { EXTERNAL_ID, FINALIZER, INTENT, PAUSED } from "../../../src/engine/state/names.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { Retry } from "../../../src/platform/answers/errors.ts";
import { fakeClock } from "../../fake-clock.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { annotated, datacenterSpec, objectOf } from "../support/fixtures.ts";
import { live, ownedBlock } from "../support/lives.ts";
import { accountOf, credentials, runEngine } from "../support/running-engine.ts";
import { stage } from "../support/stage.ts";

const ELSEWHERE = "http://elsewhere.test";
const account = "shop/main";
describe("the marks that keep an object until its resource is deleted", () => {
  const stripped = (more: Partial<KubeObject> = {}, annotations: Record<string, string> = {}) =>
    ownedBlock(false, { metadata: { name: "a", finalizers: [], annotations }, ...more });

  test.each([
    ["at rest", {}],
    ["that is paused", { [PAUSED]: "true" }],
  ])("is put back on an object %s, with the first pass", async (_, annotations) => {
    const life = stripped({}, annotations);
    expect((await life.all.pass(life.key)).decision).toEqual({ step: "mark" });
    const { metadata } = life.all.api.get(life.object) ?? life.object;
    expect(metadata.finalizers).toEqual([FINALIZER]);
    expect(metadata.annotations).toEqual({ ...annotations, [EXTERNAL_ID]: expect.stringContaining('"id":"dc-a-0"') });
    expect(life.all.platform.writes()).toEqual([]);
  });

  test("is put back together with the id that an annotation keeps", async () => {
    const { annotations = {} } = annotated("a", { id: "dc-a-0", parents: {}, account });
    const life = stripped({}, annotations);
    await life.all.pass(life.key);
    const kept = life.all.api.get(life.object)?.metadata.annotations?.[EXTERNAL_ID] ?? "";
    expect(JSON.parse(kept)).toMatchObject(JSON.parse(annotations[EXTERNAL_ID] ?? ""));
  });

  test("is put back on one whose Account cannot be used", async () => {
    const life = stripped({ status: { id: "dc-a-0", account, endpoint: ELSEWHERE } });
    expect(await life.all.passes(life.key)).toEqual(["mark", "stall AccountMoved"]);
  });

  test("is not put on an object that is being deleted: somebody wants it gone", async () => {
    const life = ownedBlock(true, {
      metadata: { name: "a", finalizers: ["other/guard"], deletionTimestamp: "2026-01-01T00:00:00Z" },
    });
    expect((await life.all.pass(life.key)).decision).toEqual({ step: "ignore" });
  });

  test.each([
    ["its annotation", (metadata: KubeObject["metadata"]) => ({ ...metadata, annotations: {} })],
    [
      "annotation and finalizer",
      (metadata: KubeObject["metadata"]) => ({ ...metadata, annotations: {}, finalizers: [] }),
    ],
    ["and pauses it", (metadata: KubeObject["metadata"]) => ({ ...metadata, annotations: { [PAUSED]: "true" } })],
  ])("is put back where somebody takes away %s while a creation is open", async (_, strip) => {
    const object = objectOf("IPBlock", "a", { spec: { location: "de/txl", size: 1 } });
    const { platform, api, pass, sync } = stage([object]);
    platform.afterEach(({ method }) => {
      if (method === "POST") throw new Retry({ call: "POST /ipblocks", status: 0 }, "unknown");
    });
    await pass("IPBlock/shop/a");
    const stored = () => api.get(object) ?? object;
    const intent = stored().metadata.annotations?.[INTENT];
    api.put({ ...stored(), metadata: strip(stored().metadata) });
    sync();
    expect((await pass("IPBlock/shop/a")).decision).toEqual({ step: "mark" });
    expect(stored().metadata.finalizers).toEqual([FINALIZER]);
    expect(stored().metadata.annotations?.[INTENT]).toBe(intent);
    expect(platform.sent("POST")).toHaveLength(1);
  });

  test("is put back on one that is deleted while its creation is open, and what it made is deleted with it", async () => {
    const object = objectOf("IPBlock", "a", { spec: { location: "de/txl", size: 1 } });
    const life = { all: stage([object]), key: "IPBlock/shop/a", object, beforeEach: () => {} };
    const { platform, api, pass } = life.all;
    platform.afterEach(({ method }) => {
      if (method === "POST") throw new Retry({ call: "POST /ipblocks", status: 0 }, "unknown");
    });
    await pass(life.key);
    const { metadata, ...rest } = api.get(object) ?? object;
    api.put({ ...rest, metadata: { ...metadata, annotations: {}, deletionTimestamp: "2026-01-01T00:00:00Z" } });
    expect((await live(life, 80))[0]).toBe("mark");
    expect(platform.items.size).toBe(0);
    expect(api.get(object)).toBeUndefined();
  });
});

describe("the id is written to an annotation", () => {
  const KEY = "IPBlock/shop/a";
  const open = async () => {
    const object = objectOf("IPBlock", "a", { spec: { location: "de/txl", size: 1 } });
    const all = stage([object]);
    const next = async () => {
      all.sync();
      return (await all.passes(KEY)).at(-1);
    };
    const isKept = () => all.api.get(object)?.metadata.annotations?.[EXTERNAL_ID] !== undefined;
    await next();
    await all.clock.advance(2000);
    expect(await next()).toBe("rest");
    return { ...all, next, isKept };
  };

  test("when the object has rested for a minute", async () => {
    const { clock, next, isKept } = await open();
    await clock.advance(59_000);
    await next();
    expect(isKept()).toBe(false);
    await clock.advance(1000);
    await next();
    expect(isKept()).toBe(true);
  });

  test("not before its neighbours have rested as well: their writes go first", async () => {
    const { clock, next, isKept, platform, contextOf } = await open();
    const { shared } = contextOf(KEY);
    for (let n = 0; n < 4; n++) {
      await clock.advance(20_000);
      const id = platform.make(
        `b${n}`,
        { properties: { name: `b${n}`, location: "de/txl", size: 1 } },
        { path: "/ipblocks" },
      );
      shared?.collection.track(id, { since: clock.now() });
      await clock.advance(2000);
      shared?.collection.untrack(id);
      await next();
      expect(isKept()).toBe(false);
    }
    await clock.advance(60_000);
    await next();
    expect(isKept()).toBe(true);
  });

  test("after twenty times as long although its neighbours never rest", async () => {
    const { clock, next, isKept, contextOf } = await open();
    contextOf(KEY).shared?.collection.track("b", { since: clock.now() });
    await clock.advance(1_199_000);
    await next();
    expect(isKept()).toBe(false);
    await clock.advance(1000);
    await next();
    expect(isKept()).toBe(true);
  });
});

test("while the platform has not answered a creation, its finalizer and intent are put back without waiting for the answer", async () => {
  const clock = fakeClock();
  const platform = fakePlatform();
  const object = objectOf("Datacenter", "dc", { spec: datacenterSpec });
  const answers: (() => void)[] = [];
  const connect = (id: string) => {
    const connection = platform.connectionOf(id);
    const send: typeof connection.send = async (call) => {
      const reply = await connection.send(call);
      if (call.method === "POST") await new Promise<void>((resolve) => answers.push(resolve));
      return reply;
    };
    return { ...connection, send };
  };
  await using engine = await runEngine([accountOf("main"), credentials, object], { clock, platform, connect });
  await clock.advance(0);
  await clock.advance(0);
  expect(answers).toHaveLength(1);
  const intent = engine.api.get(object)?.metadata.annotations?.[INTENT];
  expect(intent).toBeDefined();
  engine.put(object);
  await clock.advance(0);
  const { metadata } = engine.api.get(object) ?? object;
  expect(metadata.finalizers).toEqual([FINALIZER]);
  expect(metadata.annotations?.[INTENT]).toBe(intent);
  for (const answer of answers) answer();
});
