import { describe, expect, test } from "vitest";
import { FINALIZER } from "../../../src/engine/state/names.ts";
import { Forbidden, NotFound, Retry } from "../../../src/platform/answers/errors.ts";
import { createPlatformTime } from "../../../src/platform/calls/platform-time.ts";
import { BEGIN } from "../../engine/support/stage.ts";
import { call, open, refused, unavailable } from "./token-account.ts";

describe("an Account", () => {
  test("is Ready when the platform accepts its token, and its Secret is kept from then on", async () => {
    const { check, said, api, object } = open();
    const { again, conditions, obstacle } = await check();
    expect(conditions).toMatchObject([{ type: "Ready", status: "True", reason: "Available" }]);
    expect(obstacle).toBeUndefined();
    expect(again).toEqual({ inMs: 300_000, background: true });
    expect(said).toMatchObject({ held: 1, changed: 1 });
    expect(api.get(object)?.metadata.finalizers).toEqual([FINALIZER]);
    expect(api.get(object)?.status).toMatchObject({ contractNumber: 1 });
  });

  test("says that its Secret is being deleted, why that does not end, and how to put in another token", async () => {
    const { check, secret, api, object, objects } = open();
    const statusAfter = async (leaving: boolean, error?: typeof refused) => {
      secret.leaving = leaving;
      await check(error);
      objects.store("Account").put(api.get(object) ?? object);
      return JSON.stringify(api.get(object)?.status);
    };
    const way =
      "Secret cred is being deleted, which waits for this Account: kubectl apply can still change its token; for a new Secret of this name, remove its finalizer";
    expect(await statusAfter(true)).toContain(`"advice":["${way}`);
    expect(await statusAfter(true, refused)).toContain(`the token is wrong; ${way}`);
    expect(await statusAfter(false)).not.toContain("is being deleted");
  });

  test.each([
    [-66 * 60_000, "66 minutes behind"],
    [61_000, "1 minute ahead of"],
    [3 * 86_400_000, "72 hours ahead of"],
  ])("says that the clocks differ by %i ms, and is Ready", async (aheadMs, words) => {
    const { check, said, api, object, objects } = open();
    const read = async (ms: number) => {
      said.aheadMs = ms;
      const { conditions } = await check();
      objects.store("Account").put(api.get(object) ?? object);
      return conditions;
    };
    const ready = { type: "Ready", status: "True", reason: "Available" };
    const skew = { type: "ClockSkew", status: "True", reason: "ClockSkew", message: expect.stringContaining(words) };
    const first = await read(aheadMs);
    expect(first).toMatchObject([ready, skew]);
    const { version } = api;
    // Dates have whole seconds; that noise is not written.
    for (const noise of [-2000, 2000, 0]) await read(aheadMs + noise);
    expect(api.version).toBe(version);
    expect(await read(2000)).toMatchObject([ready]);
    expect(await read(-59_000)).toHaveLength(1);
  });

  describe("with a token that has expired by the platform's Date headers alone", () => {
    const YEAR = 365 * 86_400_000;
    const ready = (status: string, reason: string, words = "") => [
      { type: "Ready", status, reason, message: expect.stringContaining(words) },
    ];

    test("asks the platform, which accepts the token or refuses it", async () => {
      const { check, said, token } = open();
      token.expiresAt = BEGIN + YEAR;
      said.aheadMs = 30 * YEAR;
      expect((await check()).conditions).toMatchObject([...ready("True", "Available"), { type: "ClockSkew" }]);
      const proven = ready("False", "Unauthorized", "the platform refuses the token");
      expect((await check(refused)).conditions).toMatchObject([...proven, { type: "Stalled" }, { type: "ClockSkew" }]);
    });

    test("is Ready again after honest answers, though it was refused meanwhile", async () => {
      const { check, said, token, heard, clock } = open();
      const estimated = createPlatformTime(clock);
      let lieMs = 30 * YEAR;
      heard.call = () => {
        const at = clock.monotonic();
        estimated.add(new Date(clock.now() + lieMs).toUTCString(), at, at);
        said.aheadMs = estimated.aheadMs;
      };
      token.expiresAt = BEGIN + YEAR;
      for (let answers = 0; answers < 9; answers++) await check(refused);
      expect(said.aheadMs).toBeGreaterThan(29 * YEAR);
      lieMs = 0;
      for (let answers = 0; answers < 5; answers++) await check();
      expect(Math.abs(said.aheadMs)).toBeLessThan(1000);
      expect((await check()).conditions).toMatchObject(ready("True", "Available"));
    });

    test("is refused without a call once our own clock says so, too", async () => {
      const { check, token, heard } = open();
      token.expiresAt = BEGIN - 1;
      const { conditions, again } = await check();
      expect(conditions).toMatchObject([...ready("False", "Unauthorized", "the token expired at 20"), {}]);
      expect([heard.times, again]).toEqual([0, { inMs: 300_000 }]);
    });
  });

  test("wakes its objects when it becomes usable, although its status could not be written", async () => {
    const { check, said, api, object, objects } = open();
    api.beforeEach(({ method, path }) => {
      if (method !== "PATCH" || !path.endsWith("/status")) return;
      api.beforeEach(() => {});
      // Somebody sets a label in between.
      const now = api.get(object) ?? object;
      objects.store("Account").put(api.put({ ...now, metadata: { ...now.metadata, labels: { team: "shop" } } }));
    });
    await expect(check()).rejects.toThrow("Conflict");
    expect(said.changed).toBe(1);
    const { conditions } = await check();
    expect(conditions).toMatchObject([{ type: "Ready", status: "True", reason: "Available" }]);
    expect(said.changed).toBe(1);
  });

  test("wakes its objects when it becomes usable, and not again while it stays usable", async () => {
    const { check, said } = open();
    await check();
    await check();
    expect(said.changed).toBe(1);
  });

  test("does not report temporary errors to its objects: they stay unchanged", async () => {
    const { check, said } = open();
    await check();
    const { conditions, obstacle, again } = await check(unavailable);
    expect(conditions).toMatchObject([{ type: "Ready", status: "False" }, { type: "Reconciling" }]);
    expect(obstacle).toBeUndefined();
    expect(again).toBe("backoff");
    expect(said.changed).toBe(1);
  });

  test("that the platform asks to slow down tells until when, and tells it to nobody else", async () => {
    const { check, said } = open();
    const { conditions, again } = await check(new Retry({ call, status: 429 }, "no", 90_000));
    expect(again).toEqual({ inMs: 90_000 });
    const message = `the platform asks to slow down until ${new Date(BEGIN + 90_000).toISOString().slice(0, 19)}Z`;
    expect(conditions).toMatchObject([{ reason: "RateLimited", message }, { type: "Reconciling" }]);
    const { changed } = said;
    expect((await check(new Retry({ call, status: 429 }, "no", 180_000))).conditions).not.toEqual(conditions);
    expect(said.changed).toBe(changed);
  });

  test("that never worked is not usable because its trouble may pass", async () => {
    const { check } = open();
    const { obstacle } = await check(unavailable);
    expect(obstacle).toMatchObject({ reason: "PlatformUnavailable" });
    expect((await check()).obstacle).toBeUndefined();
  });

  test("wakes its objects when its token is refused, and when it works again", async () => {
    const { check, said } = open();
    await check();
    expect((await check(refused)).obstacle).toMatchObject({ reason: "Unauthorized" });
    expect(said.changed).toBe(2);
    await check(refused);
    expect(said.changed).toBe(2);
    // A temporary error does not make a refused token valid.
    expect((await check(unavailable)).obstacle).toBeDefined();
    expect((await check()).obstacle).toBeUndefined();
    expect(said.changed).toBe(4);
  });

  test("names its endpoint when that does not answer like the platform", async () => {
    const { check } = open();
    const { conditions, again } = await check(new NotFound({ call, status: 404 }));
    expect(conditions).toMatchObject([{ reason: "EndpointInvalid" }, { type: "Stalled" }]);
    expect(again).toEqual({ inMs: 1000 });
  });

  test("names the contract number that its user may not use", async () => {
    const { check } = open({ contractNumber: 99 });
    const { conditions } = await check(new Forbidden({ call, status: 403, detail: "not yours" }));
    const message = expect.stringMatching(/^contractNumber 99: .*: correct or remove it$/);
    expect(conditions).toMatchObject([{ reason: "Forbidden", message }, { type: "Stalled" }]);
  });

  test("says what to do without a token, and wakes its objects", async () => {
    const { check, secret, said } = open();
    await check();
    secret.value = " ";
    const { conditions, obstacle } = await check();
    const message = expect.stringMatching(
      /^credentialsSecretRef: Secret cred in namespace shop does not exist, or has no value/,
    );
    expect(conditions).toMatchObject([{ reason: "CredentialsMissing", message }, { type: "Stalled" }]);
    expect(obstacle).toMatchObject({ reason: "CredentialsMissing" });
    expect(said.changed).toBe(2);
  });

  test("writes nothing before its Secret was read", async () => {
    const { check, secret, accounts } = open({ finalizers: [FINALIZER] });
    secret.known = false;
    expect(await check()).toMatchObject({ again: "never", conditions: undefined });
    expect(accounts.get("shop/main")).toBeUndefined();
  });
});
