import { afterEach, describe, expect, test } from "vitest";
import { INTENT, KEY_VERSION, ROTATE_AT } from "../../../src/engine/state/names.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import { KubeError } from "../../../src/kube/client/errors.ts";
import type { KubeCall } from "../../../src/kube/client/transport.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { Retry } from "../../../src/platform/answers/errors.ts";
import type { PlatformCall } from "../../../src/platform/calls/transport.ts";
import { fakeApiServer, isDryRun, written } from "../support/fake-api-server.ts";
import { type FakePipelines, fakePipelines } from "../support/fake-pipelines.ts";
import { intentOf, objectOf } from "../support/fixtures.ts";
import { SETTINGS, stage } from "../support/stage.ts";

const A = "MetricPipeline/shop/a";
const SECRET = "a-metricpipeline";
const pipeline = (spec: object = {}): KubeObject => objectOf("MetricPipeline", "a", { spec });

const worlds: { api: ReturnType<typeof fakeApiServer>; platform: FakePipelines; told: string[] }[] = [];
afterEach(() => {
  for (const { api, platform, told } of worlds.splice(0)) {
    const visible = JSON.stringify([api.get(pipeline()), api.get(objectOf("Secret", SECRET))?.metadata, told]);
    for (const key of platform.keys) expect(visible).not.toContain(key);
  }
});

/** A platform and an API server that outlive the operator's processes. */
function open(object = pipeline()) {
  const platform = fakePipelines();
  const api = fakeApiServer(object);
  const told: string[] = [];
  let nonces = 0;
  worlds.push({ api, platform, told });
  const secret = () => api.get(objectOf("Secret", SECRET));
  const held = () => {
    const data: object = Object(secret()?.data);
    const key: unknown = Reflect.get(data, "key");
    return typeof key === "string" ? Buffer.from(key, "base64").toString() : undefined;
  };
  /** One process of the operator, which starts by reading what exists. */
  function live() {
    const life = stage([object], { api, connection: platform.connection });
    life.deps.nonce = () => `unique-${++nonces}`;
    const found = secret();
    if (found) life.deps.published.put(found);
    /** Repeats passes and waits, until the object rests or nothing more can be done. */
    async function settle(rounds = 40): Promise<string[]> {
      const steps: string[] = [];
      for (let round = 0; round < rounds && steps.at(-1) !== "rest"; round++) {
        life.sync();
        steps.push(...(await life.passes(A)));
        if (steps.at(-1) !== "rest") await life.clock.advance(2000);
      }
      told.push(...life.events);
      return steps;
    }
    return { ...life, settle };
  }
  const annotate = (annotations: Record<string, string>) => {
    const current = api.get(object) ?? object;
    const { metadata } = current;
    api.put({ ...current, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } });
  };
  const status = () => readStatus(api.get(object) ?? object);
  return { object, platform, api, secret, held, live, annotate, status };
}

const isSecret = (call: KubeCall) => call.path.includes("/secrets") && call.method !== "GET" && !isDryRun(call);
const isClaim = ({ path, body }: KubeCall) =>
  path.endsWith("/status") && Reflect.get(Object(Reflect.get(Object(written(body)), "status")), "id") !== undefined;
const isRenewal = ({ url }: PlatformCall) => url.endsWith("/key");

/** Throws at the first matching call, like a crash: nothing happens after it. */
function dieAt<Call>(world: { beforeEach(hook: (call: Call) => void): void }, fits: (call: Call) => boolean): void {
  world.beforeEach((call) => {
    if (fits(call)) throw new Error("died");
  });
}

describe("a key that comes with a creation", () => {
  test("is in the Secret before the claim is on record", async () => {
    const { api, live, held, platform, secret, status } = open();
    const order: string[] = [];
    api.beforeEach((call) => void order.push(isSecret(call) ? "Secret" : isClaim(call) ? "claim" : "other"));
    await live().settle();
    expect(order.filter((each) => each !== "other").slice(0, 2)).toEqual(["Secret", "claim"]);
    expect(platform.keys).toEqual([held()]);
    expect(secret()?.metadata.labels).toMatchObject({ [KEY_VERSION]: "1" });
    expect(status()).toMatchObject({
      secretName: SECRET,
      key: { version: 1, issuedAt: expect.any(String), fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/) },
    });
  });

  test("is not made while the Secret's name is somebody else's", async () => {
    const { api, live, platform, status } = open();
    api.put(objectOf("Secret", SECRET, { apiVersion: "v1", data: { key: "dGhlaXJz" } }));
    await live().settle(2);
    expect(platform.writes()).toEqual([]);
    expect(status().conditions?.[0]).toMatchObject({ reason: "SecretNotOwned" });
  });

  test("is not lost when the API server does not take the Secret at first", async () => {
    const { api, live, held, platform } = open();
    let refusals = 2;
    api.beforeEach((call) => {
      if (isSecret(call) && refusals-- > 0) throw new KubeError({ status: 500, reason: "Internal", message: "later" });
    });
    const { passes, settle } = live();
    await expect(passes(A)).rejects.toThrow("later");
    await expect(passes(A)).rejects.toThrow("later");
    await settle();
    expect(platform.keys).toEqual([held()]);
    expect(platform.items.size).toBe(1);
  });

  test("is kept by the next process, with its pipeline, when the claim was not written", async () => {
    const { api, live, held, platform, status } = open();
    dieAt(api, isClaim);
    await expect(live().passes(A)).rejects.toThrow("died");
    api.beforeEach(() => {});
    expect(await live().settle()).not.toContain("search");
    expect(platform.keys).toEqual([held()]);
    expect(platform.isGood(held())).toBe(true);
    expect(status()).toMatchObject({ id: "mp-1", key: { version: 1 } });
  });

  test.each([
    ["the process died before the Secret was written", "before"],
    ["the answer was lost", "lost"],
  ])("is made anew for the same pipeline when %s", async (_, how) => {
    const { api, live, held, platform } = open();
    if (how === "before") {
      dieAt(api, isSecret);
      await expect(live().passes(A)).rejects.toThrow("died");
      api.beforeEach(() => {});
    } else {
      platform.afterEach(({ method }) => {
        if (method === "POST") throw new Retry({ call: "POST /pipelines", status: 0 }, "unknown");
      });
      await live().passes(A, 1);
      platform.afterEach(() => {});
    }
    await live().settle();
    expect(platform.writes()).toEqual(["POST /pipelines", "POST /pipelines/mp-1/key"]);
    expect(platform.isGood(held())).toBe(true);
  });

  test("of a process that no longer leads goes with the pipeline that nobody else knows of", async () => {
    const { api, live, platform, object } = open();
    const { deps, passes, debts } = live();
    let leads = true;
    deps.guard = () => {
      if (!leads) throw new Error("the lease is lost");
    };
    platform.afterEach(({ method }) => {
      if (method !== "POST") return;
      leads = false;
      const current = api.get(object) ?? object;
      const annotations = { [INTENT]: JSON.stringify(intentOf({ nonce: "another-leader" })) };
      api.put({ ...current, metadata: { ...current.metadata, annotations } });
    });
    await passes(A, 1);
    await Promise.all(debts);
    expect(platform.items.size).toBe(0);
    expect(api.get(objectOf("Secret", SECRET))).toBeUndefined();
  });
});

describe("a new key", () => {
  async function made(object = pipeline()) {
    const world = open(object);
    await world.live().settle();
    return { ...world, first: world.held() };
  }

  test("is created once when the annotation asks for it, and that is reported", async () => {
    const { live, annotate, held, first, platform, secret, status } = await made();
    annotate({ [ROTATE_AT]: "now" });
    const { settle, events } = live();
    await settle();
    expect(held()).not.toBe(first);
    expect(platform.isGood(held())).toBe(true);
    expect(secret()?.metadata.labels).toMatchObject({ [KEY_VERSION]: "2" });
    expect(status()).toMatchObject({ key: { version: 2 } });
    expect(status()).not.toHaveProperty("request");
    expect(events).toContain(
      "Normal KeyIssued key 2 is in Secret a-metricpipeline under key; the previous key no longer works",
    );
    await live().settle();
    expect(platform.keys).toHaveLength(2);
    annotate({ [ROTATE_AT]: "again" });
    await live().settle();
    expect(platform.keys).toHaveLength(3);
  });

  test("is made when the old one has served its time, and not before", async () => {
    const { live, platform } = await made(pipeline({ keyRotation: { every: "1h" } }));
    const { settle, clock, pass } = live();
    await settle();
    expect(platform.keys).toHaveLength(1);
    expect((await pass(A)).again).toEqual({ inMs: expect.any(Number), background: true });
    await clock.advance(3_600_000);
    await settle();
    expect(platform.keys).toHaveLength(2);
  });

  test("is made by the operator's own clock, however far ahead the platform's is", async () => {
    const { live, platform } = await made(pipeline({ keyRotation: { every: "1h" } }));
    const { settle, clock, accounts } = live();
    const handle = accounts.get("shop/main");
    if (!handle) throw new Error("there is no Account");
    accounts.put({ ...handle, connection: { ...handle.connection, aheadMs: 300 * 86_400_000 } });
    await settle();
    expect(platform.keys).toHaveLength(1);
    await clock.advance(3_600_000);
    await settle();
    expect(platform.keys).toHaveLength(2);
  });

  test("is made when the Secret was deleted, and the count goes on", async () => {
    const { api, live, held, first, platform, status } = await made();
    api.remove(objectOf("Secret", SECRET));
    await live().settle();
    expect(held()).not.toBe(first);
    expect(platform.isGood(held())).toBe(true);
    expect(status()).toMatchObject({ key: { version: 2 } });
  });

  test("is not made where the Secret could not be written", async () => {
    const { api, live, annotate, platform, status } = await made();
    const theirs = objectOf("Secret", SECRET, { apiVersion: "v1", data: {} });
    api.remove(theirs);
    api.put(theirs);
    annotate({ [ROTATE_AT]: "now" });
    await live().settle(2);
    expect(platform.keys).toHaveLength(1);
    expect(status().conditions?.[0]).toMatchObject({ reason: "SecretNotOwned" });
  });

  test("waits in memory while the API server does not take the Secret, and no other one is made", async () => {
    const { api, live, annotate, held, platform } = await made();
    annotate({ [ROTATE_AT]: "now" });
    const { settle, clock } = live();
    let refused = false;
    api.beforeEach((call) => {
      if (!isSecret(call) || refused) return;
      refused = true;
      throw new KubeError({ status: 503, reason: "Unavailable", message: "later" });
    });
    await clock.advance(2000);
    await expect(settle()).rejects.toThrow("later");
    await settle();
    expect(platform.keys).toHaveLength(2);
    expect(held()).toBe(platform.keys[1]);
  });

  test("that reached the Secret before the process died is announced by the next one", async () => {
    const { api, live, annotate, held, platform, status } = await made();
    annotate({ [ROTATE_AT]: "now" });
    let written = false;
    api.beforeEach((call) => {
      if (written) throw new Error("died");
      written = isSecret(call);
    });
    await expect(live().settle()).rejects.toThrow("died");
    api.beforeEach(() => {});
    expect(status().request).toMatchObject({ status: "SENDING" });
    const { settle, events } = live();
    await settle();
    expect(events).toEqual([expect.stringContaining("KeyIssued")]);
    expect(platform.keys).toHaveLength(2);
    expect(held()).toBe(platform.keys[1]);
  });

  test.each([
    ["whose answer was lost", "lost"],
    ["whose process died with it", "died"],
  ])("%s is followed by another one, when no late one can end that one's life", async (_, how) => {
    const { api, live, annotate, held, platform, status } = await made();
    annotate({ [ROTATE_AT]: "now" });
    const process = live();
    if (how === "lost") {
      platform.afterEach((call) => {
        if (isRenewal(call)) throw new Retry({ call: "POST", status: 0 }, "unknown");
      });
      await process.settle(5);
      platform.afterEach(() => {});
    } else {
      dieAt(api, isSecret);
      await expect(process.settle()).rejects.toThrow("died");
      api.beforeEach(() => {});
    }
    expect(platform.isGood(held())).toBe(false);
    expect(status().request).toMatchObject({ status: "SENDING" });
    const next = live();
    await next.settle();
    expect(platform.isGood(held())).toBe(true);
    expect(platform.keys).toHaveLength(3);
    expect(next.clock.monotonic()).toBeGreaterThanOrEqual(SETTINGS.createDeadlineMs + SETTINGS.settleMs);
  });

  test("that the platform refuses leaves the old one in its place", async () => {
    const { live, annotate, held, first, platform, status } = await made();
    annotate({ [ROTATE_AT]: "now" });
    platform.beforeEach((call) => {
      if (isRenewal(call)) throw new Retry({ call: "POST", status: 503 }, "no");
    });
    await live().settle(3);
    expect(held()).toBe(first);
    expect(platform.isGood(held())).toBe(true);
    expect(status().request).toBeUndefined();
    platform.beforeEach(() => {});
    await live().settle();
    expect(platform.keys).toHaveLength(2);
  });

  test("of a pipeline that a change has made anew is in the Secret as well", async () => {
    const { api, live, held, platform, object } = await made();
    const process = live();
    await process.settle();
    platform.items.clear();
    const current = api.get(object) ?? object;
    api.put({ ...current, spec: { name: "renamed" }, metadata: { ...current.metadata, generation: 2 } });
    await process.settle();
    expect(platform.writes()).toEqual(["POST /pipelines", "PUT /pipelines/mp-1"]);
    expect(platform.isGood(held())).toBe(true);
  });
});

describe("the key of a pipeline that was taken over", () => {
  async function adopted(annotations: Record<string, string> = {}) {
    const object = pipeline({ externalId: "theirs", name: "theirs" });
    const world = open({ ...object, metadata: { ...object.metadata, annotations } });
    world.platform.make("theirs", "theirs");
    await world.live().settle();
    return world;
  }

  test("is somebody else's: it goes on working, and the way to a new one is told", async () => {
    const { platform, secret, status } = await adopted();
    expect(platform.writes()).toEqual([]);
    expect(secret()).toBeUndefined();
    expect(status()).toMatchObject({ conditions: [{ type: "Ready", status: "True" }] });
    expect(status().advice).toEqual([expect.stringContaining("mooring.dev/rotate-at")]);
  });

  test("is ended by a new one when somebody asks for that; from then on it is looked after", async () => {
    const { api, live, platform, held, status } = await adopted({ [ROTATE_AT]: "now" });
    expect(platform.isGood(held())).toBe(true);
    expect(status().advice).toBeUndefined();
    const current = api.get(pipeline()) ?? pipeline();
    const { [ROTATE_AT]: _, ...annotations } = current.metadata.annotations ?? {};
    api.put({ ...current, metadata: { ...current.metadata, annotations } });
    api.remove(objectOf("Secret", SECRET));
    await live().settle();
    expect(platform.keys).toHaveLength(3);
    expect(platform.isGood(held())).toBe(true);
  });
});
