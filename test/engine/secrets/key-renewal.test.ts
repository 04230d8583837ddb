import { afterEach, describe, expect, test } from "vitest";
import { KEY_VERSION, ROTATE_AT } from "../../../src/engine/state/names.ts";
import { KubeError } from "../../../src/kube/client/errors.ts";
import { Retry } from "../../../src/platform/answers/errors.ts";
import type { PlatformCall } from "../../../src/platform/calls/transport.ts";
import { objectOf } from "../support/fixtures.ts";
import { SETTINGS } from "../support/stage.ts";
import { A, checkWorlds, dieAt, isSecret, open, pipeline, SECRET } from "./key-world.ts";

afterEach(checkWorlds);

const isRenewal = ({ url }: PlatformCall) => url.endsWith("/key");

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
