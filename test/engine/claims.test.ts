import { describe, expect, test } from "vitest";
import { createAccounts } from "../../src/engine/accounts/accounts.ts";
import { EXTERNAL_ID, FINALIZER, INTENT, PAUSED, ROTATE_AT } from "../../src/engine/objects/names.ts";
import { claimOf, openIntent } from "../../src/engine/objects/objects.ts";
import { readStatus } from "../../src/engine/schema/status.ts";
import { KubeError } from "../../src/kube/errors.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { Retry } from "../../src/platform/errors.ts";
import { isDryRun } from "./fake-api-server.ts";
import { API } from "./fake-platform.ts";
import { annotated, handleOf, intending, intentOf, objectOf } from "./fixtures.ts";
import { keyless, type Life, ownedBlock } from "./lives.ts";
import { stage } from "./stage.ts";

const account = "shop/main";
const ELSEWHERE = "http://elsewhere.test";
const readyOf = ({ all, object }: Pick<Life, "all" | "object">) =>
  readStatus(all.api.get(object) ?? object).conditions?.find(({ type }) => type === "Ready");

async function live({ all, key, object }: Life, seconds: number, done: () => boolean = () => false) {
  const steps: string[] = [];
  for (let second = 0; second < seconds && !done(); second++) {
    all.sync();
    if (!all.api.get(object)) break;
    steps.push(...(await all.passes(key)));
    await all.clock.advance(1000);
  }
  return steps;
}

describe("a claim that its Account no longer leads to", () => {
  const CLAIMS: [string, Partial<KubeObject>][] = [
    ["in status", { status: { id: "dc-a-0", account, endpoint: ELSEWHERE } }],
    [
      "in the annotation",
      { metadata: annotated("a", { id: "dc-a-0", parents: {}, account, endpoint: ELSEWHERE }), status: {} },
    ],
    ["of an open intent", { metadata: intending("a", intentOf({ endpoint: ELSEWHERE })), status: {} }],
  ];
  test.each(CLAIMS)("%s is stalled, and neither forgotten nor looked for elsewhere", async (_, more) => {
    const life = ownedBlock(false, more);
    life.all.platform.items.clear();
    await live(life, 600);
    expect(life.all.platform.calls).toEqual([]);
    expect(readyOf(life)).toMatchObject({ status: "False", reason: "AccountMoved" });
    expect(readyOf(life)?.message).toContain(ELSEWHERE);
    const after = life.all.api.get(life.object) ?? life.object;
    expect((claimOf(after) ?? openIntent(after))?.endpoint).toBe(ELSEWHERE);
  });

  test.each(CLAIMS)("%s keeps a deleted object, until it is told to leave the resource there", async (_, more) => {
    const life = ownedBlock(true, more);
    const { all, object } = life;
    object.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    all.api.put({ ...object, metadata: { ...object.metadata, finalizers: [FINALIZER] } });
    life.all.platform.items.clear();
    await live(life, 600);
    expect(all.platform.calls).toEqual([]);
    expect(readyOf(life)).toMatchObject({ reason: "AccountMoved" });
    const stored = all.api.get(object) ?? object;
    const metadata = { ...stored.metadata, generation: 2 };
    all.api.put({ ...stored, metadata, spec: { ...Object(stored.spec), deletionPolicy: "Retain" } });
    await live(life, 5);
    expect(all.api.get(object)).toBeUndefined();
  });

  test("is on record with the id already: an Account that moves before the object is Ready loses nothing", async () => {
    const object = objectOf("IPBlock", "a", { spec: { location: "de/txl", size: 1 } });
    const all = stage([object]);
    const life: Life = { all, key: "IPBlock/shop/a", object, beforeEach: all.platform.beforeEach };
    await all.pass(life.key);
    expect(readStatus(all.api.get(object) ?? object)).toMatchObject({ id: "dc-a-0", endpoint: API });
    const handle = all.accounts.get(account);
    if (handle) all.accounts.put({ ...handle, endpoint: () => ELSEWHERE });
    await live(life, 300);
    expect(readyOf(life)).toMatchObject({ reason: "AccountMoved" });
    expect(all.platform.sent("POST")).toHaveLength(1);
  });

  test("says so while the answer to its creation is open, too", async () => {
    const object = objectOf("IPBlock", "a", { spec: { location: "de/txl", size: 1 } });
    const all = stage([object]);
    const life: Life = { all, key: "IPBlock/shop/a", object, beforeEach: all.platform.beforeEach };
    all.platform.afterEach(({ method }) => {
      if (method === "POST") throw new Retry({ call: "POST /ipblocks", status: 0 }, "unknown");
    });
    await all.pass(life.key);
    const handle = all.accounts.get(account);
    if (handle) all.accounts.put({ ...handle, endpoint: () => ELSEWHERE });
    await live(life, 300);
    expect(readyOf(life)).toMatchObject({ reason: "AccountMoved" });
    expect(all.platform.sent("POST")).toHaveLength(1);
  });
});

describe("the Account of an object", () => {
  const KEY = "IPBlock/team/a";
  const block = (more: Partial<KubeObject> = {}) => {
    const { metadata, ...rest } = more;
    const spec = { location: "de/txl", size: 1 };
    return objectOf("IPBlock", "a", { spec, metadata: { name: "a", namespace: "team", ...metadata }, ...rest });
  };
  const mine = objectOf("Account", "mine", { metadata: { name: "mine", namespace: "team" } });
  /** An object of another namespace than the operator's default Account. */
  const open = (object = block()) => {
    const all = stage([object]);
    return { all, object, key: KEY, beforeEach: all.platform.beforeEach };
  };

  test("is the default where the namespace never had one", async () => {
    const { all } = open();
    expect(all.sceneOf(KEY).accountKey).toBe("shop/main");
  });

  test("is not the default for who has waited for an Account of the namespace that is deleted", async () => {
    const life = open();
    const { all } = life;
    all.objects.store("Account").put(mine);
    await live(life, 3);
    all.objects.store("Account").remove({ ...mine, metadata: { ...mine.metadata, resourceVersion: "9000" } });
    await live(life, 60);
    expect(all.platform.calls).toEqual([]);
    expect(readyOf(life)).toMatchObject({ reason: "AccountNotFound" });
  });

  test("is settled in status: the next process does not choose again", async () => {
    const life = open(block({ status: { account: "team/mine", observedGeneration: 1 } }));
    await live(life, 60);
    expect(life.all.platform.calls).toEqual([]);
    expect(readyOf(life)).toMatchObject({ reason: "AccountNotFound", message: "there is no Account team/mine" });
  });

  test("is settled with the first word about the object", async () => {
    const object = block();
    const life = open(object);
    const { all } = life;
    const unauthorized = { reason: "Unauthorized", message: "bad token", stalled: true } as const;
    all.objects.store("Account").put(mine);
    all.accounts.put(handleOf("team/mine", { obstacle: unauthorized }));
    await live(life, 3);
    expect(readStatus(all.api.get(object) ?? object)).toMatchObject({ account: "team/mine" });
  });

  test("changes with an edit of spec", () => {
    const named = block({ status: { account: "team/mine", observedGeneration: 1 } });
    named.metadata.generation = 2;
    const spec = { location: "de/txl", size: 1, accountRef: { name: "other" } };
    const { all } = open({ ...named, spec });
    all.objects.store("Account").put({ ...mine, metadata: { ...mine.metadata, name: "other" } });
    expect(all.sceneOf(KEY).accountKey).toBe("team/other");
  });

  test("is not the default for a namespace whose objects have used one of its own", () => {
    const { objects } = stage([]);
    const accounts = createAccounts(objects, "shop/main");
    objects.store("IPBlock").put(block({ status: { id: "b1", account: "team/mine" } }));
    const choice = accounts.choose("team", undefined);
    expect(choice).toMatchObject({ obstacle: { reason: "AccountNotFound" } });
  });
});

describe("what keeps an object from going without its resource", () => {
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
    expect(metadata.annotations).toEqual(annotations);
    expect(life.all.platform.writes()).toEqual([]);
  });

  test("is put back together with the id that an annotation keeps", async () => {
    const { annotations = {} } = annotated("a", { id: "dc-a-0", parents: {}, account });
    const life = stripped({}, annotations);
    await life.all.pass(life.key);
    expect(life.all.api.get(life.object)?.metadata.annotations).toEqual({ [EXTERNAL_ID]: annotations[EXTERNAL_ID] });
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
});

describe("in a namespace that is being deleted", () => {
  const terminating = <L extends Life>(life: L): L => {
    life.all.terminating.add("shop");
    return life;
  };

  test("nothing is created", async () => {
    const object = objectOf("IPBlock", "a", { spec: { location: "de/txl", size: 1 } });
    const all = stage([object]);
    const life = terminating({ all, object, key: "IPBlock/shop/a", beforeEach: all.platform.beforeEach });
    await live(life, 60);
    expect(all.platform.calls).toEqual([]);
    expect(readyOf(life)).toMatchObject({ reason: "NamespaceTerminating" });
  });

  test("no key is renewed, missing or asked for, and the one there is works on", async () => {
    for (const annotations of [{}, { [ROTATE_AT]: "now" }]) {
      const life = terminating(keyless({ metadata: { name: "a", finalizers: [FINALIZER], annotations } }));
      await live(life, 120);
      expect(life.pipelines.writes()).toEqual([]);
      expect(life.all.api.get(objectOf("Secret", "a-metricpipeline"))).toBeUndefined();
      expect(life.pipelines.isGood("the-secret-key-1")).toBe(true);
    }
  });

  test("nothing is replaced", async () => {
    const life = terminating(
      ownedBlock(false, {
        spec: { location: "de/fra", size: 1, replacePolicy: "WhenNeeded" },
        metadata: { name: "a", finalizers: [FINALIZER], annotations: { "mooring.dev/allow-data-loss": "true" } },
        status: { id: "dc-a-0", account, nonce: "n0", fixed: { location: "other", size: "other" } },
      }),
    );
    await live(life, 60);
    expect(life.all.platform.writes()).toEqual([]);
  });

  test("what is deleted goes", async () => {
    const life = terminating(ownedBlock(true));
    await live(life, 60);
    expect(life.all.platform.items.size).toBe(0);
    expect(life.all.api.get(life.object)).toBeUndefined();
  });
});

describe("a key for which the API server would not take the Secret", () => {
  const refused = () =>
    new KubeError({ status: 403, reason: "Forbidden", message: "unable to create new content in namespace shop" });

  test("is not renewed: the one before works on, and the object says why", async () => {
    const life = keyless();
    life.all.api.beforeEach((call) => {
      if (call.path.includes("/secrets") && call.method !== "GET") throw refused();
    });
    const asked = () => life.all.api.calls.filter(isDryRun).length;
    await live(life, 120);
    expect(life.pipelines.writes()).toEqual([]);
    expect(life.pipelines.isGood("the-secret-key-1")).toBe(true);
    expect(readyOf(life)).toMatchObject({ reason: "SecretNotWritable" });
    expect(readyOf(life)?.message).toContain("unable to create new content");
    expect(asked()).toBeGreaterThan(2);
    expect(asked()).toBeLessThan(12);
  });

  test("is not made with a creation either", async () => {
    const life = keyless({ status: {} });
    life.pipelines.items.clear();
    life.all.api.beforeEach((call) => {
      if (isDryRun(call)) throw refused();
    });
    await live(life, 60);
    expect(life.pipelines.writes()).toEqual([]);
    expect(readyOf(life)).toMatchObject({ reason: "SecretNotWritable" });
  });
});

describe("while the read of one member fails", () => {
  test.each([
    ["with no word how long", undefined, 1000],
    ["and asks for half a minute", 30_000, 30_000],
  ])("%s, that is told once, and nothing else is written over it", async (_, afterMs, least) => {
    const request = {
      action: "create",
      status: "BUSY",
      since: "2026-01-01T00:00:00.000Z",
      url: "/requests/req-0/status",
    };
    const life = ownedBlock(false, { status: { id: "dc-a-0", account, nonce: "n0", request } });
    const { all, object } = life;
    all.platform.items.clear();
    const asked: number[] = [];
    life.beforeEach(({ url }) => {
      if (!/ipblocks\/dc-a-0/.test(url)) return;
      asked.push(all.clock.monotonic());
      throw new Retry({ call: "GET /ipblocks/dc-a-0", status: 503 }, "no", afterMs);
    });
    const told: string[] = [];
    let last: unknown;
    for (let second = 0; second < 300; second++) {
      await all.passes(life.key);
      const { status } = all.api.get(object) ?? object;
      if (status !== last) told.push(readyOf(life)?.reason ?? "");
      last = status;
      await all.clock.advance(1000);
    }
    const reasons = told.filter((reason) => reason !== "");
    expect(new Set(reasons.slice(reasons.indexOf("PlatformUnavailable")))).toEqual(new Set(["PlatformUnavailable"]));
    expect(reasons.length).toBeLessThanOrEqual(3);
    const own = asked.filter((at, n) => at !== asked[n - 1]);
    expect(own.length).toBeGreaterThan(2);
    expect(own.length).toBeLessThan(16);
    expect(Math.min(...own.slice(1).map((at, n) => at - (own[n] ?? 0)))).toBeGreaterThanOrEqual(least);
  });
});
