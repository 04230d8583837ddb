import { describe, expect, test } from "vitest";
import { type AccountDeps, reconcileAccount } from "../../src/controllers/accounts/reconcile.ts";
import { createTokenStore } from "../../src/controllers/accounts/token-store.ts";
import { ACCEPT_USER, FINALIZER } from "../../src/engine/state/names.ts";
import { account } from "../../src/kinds/identity/account.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { NotFound, type PlatformError, Retry, Unauthorized } from "../../src/platform/answers/errors.ts";
import { createPlatformTime } from "../../src/platform/calls/platform-time.ts";
import { API } from "../engine/support/fake-platform.ts";
import { objectOf, tokens } from "../engine/support/fixtures.ts";
import { BEGIN, stage } from "../engine/support/stage.ts";

const KEY = "shop/main";
const call = "GET /contracts";
const spec = { endpoints: { api: API }, credentialsSecretRef: { name: "cred" } };
const unavailable = new Retry({ call, status: 503 }, "no");
const refused = new Unauthorized({ call, status: 401, platformMessage: "the token is wrong" });

/** A token that names its user. */
const jwtOf = (uuid: string): string =>
  [{ alg: "none" }, { identity: { uuid, contractNumber: 1 } }, "signature"]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");

/** An Account whose Secret is known and has a token, and the objects that use it. */
function open(metadata: Partial<KubeObject["metadata"]> = {}, ...users: KubeObject[]) {
  const object = objectOf("Account", "main", { spec, metadata: { name: "main", ...metadata } });
  const { deps, platform, api, accounts, objects } = stage([object, ...users]);
  accounts.remove("shop/main");
  const secret: { known: boolean; value: string | undefined } = { known: true, value: "token" };
  const used: (string | undefined)[] = [];
  const said = { changed: 0, held: 0, released: 0, owes: false, aheadMs: 0 };
  /** The user of the token. */
  const token: { userId: string; expiresAt?: number } = { userId: "u1" };
  /** Facts that a call reports besides its answer. */
  const heard = { call: () => {}, times: 0 };
  const all: AccountDeps = {
    ...deps,
    transport: {
      connect: (id) => ({
        ...platform.connectionOf(id),
        setCredentials: (credentials) => void used.push(credentials?.token),
        get identity() {
          return { ...token };
        },
        get aheadMs() {
          return said.aheadMs;
        },
      }),
      close: async () => {},
    },
    secrets: {
      ...tokens,
      read: () => secret,
      hold: async () => void said.held++,
      release: async () => void said.released++,
    },
    tokenStore: createTokenStore({ client: deps.client, clock: deps.clock, guard: () => {} }, "mooring-system"),
    home: "mooring-system",
    sites: { endpoints: {}, isAllowed: () => true },
    changed: () => void said.changed++,
    hasCleanup: () => said.owes,
  };
  /** One check, in which the platform answers or fails with this error. */
  async function check(error?: PlatformError) {
    platform.beforeEach(() => {
      heard.times += 1;
      heard.call();
      if (error) throw error;
    });
    const again = await reconcileAccount(all, KEY, {
      kind: account,
      object: objects.find(`Account/${KEY}`)?.object ?? object,
    });
    const conditions: unknown = Reflect.get(Object(api.get(object)?.status), "conditions");
    return { again, conditions, obstacle: accounts.get("shop/main")?.obstacle };
  }
  return { check, said, used, secret, token, heard, clock: deps.clock, api, object, objects, accounts };
}

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

  test.each([
    [-66 * 60_000, "66 minutes behind"],
    [61_000, "1 minute ahead of"],
    [3 * 86_400_000, "72 hours ahead of"],
  ])("says that the clocks differ by %i ms, and is Ready", async (aheadMs, words) => {
    const { check, said, api, object, objects } = open();
    const look = async (ms: number) => {
      said.aheadMs = ms;
      const { conditions } = await check();
      objects.store("Account").put(api.get(object) ?? object);
      return conditions;
    };
    const ready = { type: "Ready", status: "True", reason: "Available" };
    const skew = { type: "ClockSkew", status: "True", reason: "ClockSkew", message: expect.stringContaining(words) };
    const first = await look(aheadMs);
    expect(first).toMatchObject([ready, skew]);
    const { version } = api;
    // Dates have whole seconds; that noise is not written.
    for (const noise of [-2000, 2000, 0]) await look(aheadMs + noise);
    expect(api.version).toBe(version);
    expect(await look(2000)).toMatchObject([ready]);
    expect(await look(-59_000)).toHaveLength(1);
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

  test("keeps passing trouble to itself: its objects stay as they are", async () => {
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

  test("says what to do without a token, and wakes its objects", async () => {
    const { check, secret, said } = open();
    await check();
    secret.value = " ";
    const { conditions, obstacle } = await check();
    expect(conditions).toMatchObject([{ reason: "CredentialsMissing" }, { type: "Stalled" }]);
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

describe("an Account with a token of another user", () => {
  const user = () =>
    objectOf("Datacenter", "dc", { spec: { location: "de/txl" }, status: { id: "dc-1", account: KEY } });

  test("stalls while objects have resources of the user before, says what to do, and goes on when the token is back", async () => {
    const { check, token, said, api, object } = open({}, user());
    await check();
    token.userId = "u2";
    const { conditions, obstacle } = await check();
    expect(conditions).toMatchObject([
      { status: "False", reason: "UserChanged" },
      { type: "Stalled", status: "True" },
    ]);
    expect(obstacle?.message).toMatch(/user u2.*user u1.*mooring\.dev\/accept-user to "u2"/);
    const before = said.changed;
    token.userId = "u1";
    expect((await check()).obstacle).toBeUndefined();
    expect(said.changed).toBe(before + 1);
    expect(api.get(object)?.status).toMatchObject({ platformUserId: "u1" });
  });

  test("does not use that token, also while the platform does not answer, and says so at once", async () => {
    const { check, secret, used } = open({}, user());
    await check();
    const theirs = jwtOf("u2");
    secret.value = theirs;
    const { conditions, obstacle } = await check(unavailable);
    expect(conditions).toMatchObject([{ status: "False", reason: "UserChanged" }, { type: "Stalled" }]);
    expect(obstacle).toMatchObject({ reason: "UserChanged" });
    expect(used).not.toContain(theirs);
    secret.value = jwtOf("u1");
    expect((await check()).obstacle).toBeUndefined();
    expect(used).toContain(secret.value);
  });

  test("works when an administrator accepts that user, or when nothing was made with it", async () => {
    const accepted = open({ annotations: { [ACCEPT_USER]: "u2" } }, user());
    const unused = open();
    for (const { check, token, api, object } of [accepted, unused]) {
      await check();
      token.userId = "u2";
      expect((await check()).obstacle).toBeUndefined();
      expect(api.get(object)?.status).toMatchObject({ platformUserId: "u2" });
    }
  });
});

describe("a deleted Account", () => {
  const deleted = { finalizers: [FINALIZER], deletionTimestamp: "2026-01-01T00:00:00Z" };
  const user = objectOf("Datacenter", "dc", { status: { id: "d1", account: "shop/main" } });

  test("goes at once when nothing needs it, and its Secret with it", async () => {
    const { check, api, object, said, accounts } = open(deleted);
    expect((await check()).again).toBe("never");
    expect(api.get(object)).toBeUndefined();
    expect(said.released).toBe(1);
    expect(accounts.get("shop/main")).toBeUndefined();
  });

  test("stays, and keeps working, while something was made with it", async () => {
    const { check, said } = open(deleted, user);
    const { conditions, obstacle } = await check();
    expect(conditions).toMatchObject([
      { reason: "InUse", message: "still used by Datacenter/shop/dc" },
      { type: "Stalled", reason: "InUse" },
    ]);
    expect(obstacle).toBeUndefined();
    expect(said.released).toBe(0);
  });

  test("waits for users that are on their way out", async () => {
    const leaving = { ...user, metadata: { ...user.metadata, ...deleted } };
    const { conditions } = await open(deleted, leaving).check();
    expect(conditions).toMatchObject([
      { reason: "Deleting", message: "waiting for the deletion of Datacenter/shop/dc" },
      { type: "Reconciling" },
    ]);
  });

  test("that waits for its users still notices that its token is refused, and that it works again", async () => {
    const { check } = open(deleted, user);
    expect((await check()).obstacle).toBeUndefined();
    expect((await check(refused)).obstacle).toMatchObject({ reason: "Unauthorized" });
    expect((await check()).obstacle).toBeUndefined();
  });

  test("stays while something is undone with it that has no object any more", async () => {
    const { check, said, accounts } = open(deleted);
    said.owes = true;
    expect((await check()).again).toEqual({ inMs: 1000 });
    expect(said.released).toBe(0);
    said.owes = false;
    await check();
    expect(said.released).toBe(1);
    expect(accounts.get("shop/main")).toBeUndefined();
  });
});
