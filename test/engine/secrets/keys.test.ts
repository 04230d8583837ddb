import { afterEach, describe, expect, test } from "vitest";
import { INTENT, KEY_VERSION, ROTATE_AT } from "../../../src/engine/state/names.ts";
import { KubeError } from "../../../src/kube/client/errors.ts";
import type { KubeCall } from "../../../src/kube/client/transport.ts";
import { Retry } from "../../../src/platform/answers/errors.ts";
import { written } from "../support/fake-api-server.ts";
import { intentOf, objectOf } from "../support/fixtures.ts";
import { A, checkWorlds, dieAt, isSecret, open, pipeline, SECRET } from "./key-world.ts";

afterEach(checkWorlds);

const isClaim = ({ path, body }: KubeCall) =>
  path.endsWith("/status") && Reflect.get(Object(Reflect.get(Object(written(body)), "status")), "id") !== undefined;

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
    const { deps, passes, cleanups } = live();
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
    await Promise.all(cleanups);
    expect(platform.items.size).toBe(0);
    expect(api.get(objectOf("Secret", SECRET))).toBeUndefined();
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
