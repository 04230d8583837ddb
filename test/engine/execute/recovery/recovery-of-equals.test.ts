import { describe, expect, test } from "vitest";
import { claimOf } from "../../../../src/engine/state/object.ts";
import { readStatus } from "../../../../src/engine/status/status.ts";
import { fakeApiServer } from "../../support/fake-api-server.ts";
import { API, fakePlatform } from "../../support/fake-platform.ts";
import { annotated, handleOf, intending, intentOf, objectOf } from "../../support/fixtures.ts";
import { BEGIN, stage } from "../../support/stage.ts";
import { A, B, begun, body, spec } from "./begun.ts";

describe("recovery", () => {
  test("lets an id answer one creation only: what an equal has claimed and lost again is no match", async () => {
    const [a, b] = [begun("a"), begun("b")];
    const { platform, pass, contextOf, objects } = stage([a, b]);
    const [id, other] = [platform.make("same", body), platform.make("same", body)];
    await pass(A);
    await pass(B);
    expect((await pass(A)).decision).toEqual({ step: "claim", identity: id });
    // A and its resource are deleted within the five seconds in which B's read is fresh.
    platform.items.delete(id);
    const owner = objects.find(A)?.object ?? a;
    objects.store("Datacenter").remove({ ...owner, metadata: { ...owner.metadata, resourceVersion: "5000" } });
    expect(contextOf(B).view.resource.search?.matches).toEqual([other]);
    expect((await pass(B)).decision).toEqual({ step: "claim", identity: other });
  });

  test("gives each of several equals one of its own age: a newer one cannot see what is older", async () => {
    const at = (minutes: number) => `2026-01-01T00:0${minutes}:00.000Z`;
    const all = [begun("c", { at: at(0) }), begun("a", { at: at(3) }), begun("b", { at: at(6) })];
    const { platform, passes, api } = stage(all);
    const ids = [0, 3, 6].map((minutes) => platform.make("same", body, { at: at(minutes) }));
    for (const name of ["a", "b", "c"]) await passes(`Datacenter/shop/${name}`);
    expect(all.map((object) => claimOf(api.get(object) ?? object)?.id)).toEqual(ids);
  });

  test.each([
    ["cannot be seen yet", 0],
    ["is in no log yet", 10_000],
  ])("takes nothing from a younger equal, who looks back less far, while its own %s", async (_, ms) => {
    // Leaders with different clocks started the two: 70 seconds apart on the platform, 250 in their records.
    const all = [begun("a", { at: "2025-12-31T23:58:30.000Z" }), begun("b", { at: "2026-01-01T00:02:40.000Z" })];
    const { platform, passes, api, clock } = stage(all);
    const now = () => BEGIN + clock.monotonic();
    platform.setClock(now);
    const hidden = { visibleAt: now() + 20_000, loggedAt: now() + ms, status: "BUSY" };
    const older = platform.make("same", body, { ...hidden, at: "2026-01-01T00:00:00Z" });
    const younger = platform.make("same", body, { at: "2026-01-01T00:01:10Z" });
    for (let seconds = 0; seconds < 30; seconds += 2) {
      await passes(A);
      await passes(B);
      await clock.advance(2000);
    }
    expect(all.map((object) => claimOf(api.get(object) ?? object)?.id)).toEqual([older, younger]);
    expect(platform.sent("POST")).toEqual([]);
  });

  test("of many at once lists the log once and reads each resource once", async () => {
    const all = Array.from({ length: 50 }, (_, n) => begun(`dc-${n}`));
    const { platform, pass } = stage(all);
    const ids = all.map(() => platform.make("same", body));
    await Promise.all(all.map(({ metadata }) => pass(`Datacenter/shop/${metadata.name}`)));
    const asked = platform.sent("GET").map(({ url }) => new URL(url).pathname);
    expect(asked.filter((path) => path.endsWith("/requests"))).toHaveLength(1);
    expect(asked.filter((path) => ids.some((id) => path.endsWith(`/${id}`)))).toHaveLength(50);
  });

  test("claims by a look that took six seconds", async () => {
    const { platform, passes, skip } = stage([begun("a")]);
    platform.make("same", body);
    platform.beforeEach(({ url }) => {
      if (url.includes("/requests")) skip(6000);
    });
    expect((await passes(A)).slice(0, 2)).toEqual(["search", "claim"]);
  });

  test("pauses after a look that took three seconds", async () => {
    const { platform, passes, skip } = stage([begun("a")]);
    platform.beforeEach(({ url }) => {
      if (url.includes("/requests")) skip(3000);
    });
    expect(await passes(A)).toEqual(["search", "wait Recovering"]);
  });

  test("waits for an accepted creation whose target is not named yet", async () => {
    const { platform, passes, clock } = stage([begun("a")]);
    platform.make("same", body, { visible: false, status: "QUEUED", targets: [] });
    expect(await passes(A)).toEqual(["search", "wait Recovering"]);
    await clock.advance(70_000);
    expect(await passes(A)).toEqual(["search", "wait Recovering"]);
    expect(platform.sent("POST")).toEqual([]);
  });
});

describe("a resource", () => {
  test("that another object has claimed meanwhile is never deleted by a former leader", async () => {
    const [a, b] = [begun("a"), begun("b")];
    const api = fakeApiServer(a, b);
    const platform = fakePlatform();
    const [first, second] = [platform.make("same", body), platform.make("same", body)];
    const old = stage([a, b], { api, platform });
    await old.pass(A);
    // The next leader has assigned the two the other way round.
    for (const [object, id] of [[a, second] as const, [b, first] as const]) {
      const stored = api.get(object) ?? object;
      api.put({ ...stored, status: { id, nonce: `old-${object.metadata.name}`, account: "shop/main" } });
    }
    expect((await old.pass(A)).decision).toEqual({ step: "claim", identity: first });
    await Promise.allSettled(old.cleanups);
    expect(platform.sent("DELETE")).toEqual([]);
  });

  test("that it made itself is not deleted by a former leader, when an equal has got it", async () => {
    const [a, b] = [objectOf("Datacenter", "a", { spec }), begun("b")];
    const api = fakeApiServer(a, b);
    const platform = fakePlatform();
    const old = stage([a, b], { api, platform });
    platform.afterEach(({ method }) => {
      if (method !== "POST") return;
      const [left, right] = [api.get(a) ?? a, api.get(b) ?? b];
      api.put({
        ...left,
        metadata: { ...left.metadata, ...intending("a", intentOf({ nonce: "of the next leader" })) },
      });
      api.put({ ...right, status: { id: "dc-same-0", nonce: "old-b", account: "shop/main", endpoint: API } });
    });
    await old.pass(A);
    expect(old.cleanups).not.toEqual([]);
    await Promise.all(old.cleanups);
    expect(platform.sent("DELETE")).toEqual([]);
  });

  test("is not claimed by a former leader that is thawed: the next one may have given it to an equal", async () => {
    const [a, b] = [objectOf("Datacenter", "a", { spec }), begun("b")];
    const api = fakeApiServer(a, b);
    const platform = fakePlatform();
    const old = stage([a, b], { api, platform });
    platform.afterEach(({ method }) => {
      if (method !== "POST") return;
      const stored = api.get(b) ?? b;
      api.put({ ...stored, status: { id: "dc-same-0", nonce: "old-b", account: "shop/main", endpoint: API } });
      old.deps.guard = () => {
        throw new Error("the lease is lost");
      };
    });
    await old.pass(A);
    await Promise.allSettled(old.cleanups);
    expect(claimOf(api.get(a) ?? a)).toBeUndefined();
    expect(claimOf(api.get(b) ?? b)?.id).toBe("dc-same-0");
    expect(platform.sent("DELETE")).toEqual([]);
  });

  test("is not claimed twice by objects of two Accounts of which one does not say its contract", async () => {
    const all = stage([begun("a"), begun("b", { account: "shop/other" })]);
    const { platform, pass, accounts, objects, clock } = all;
    const connection = { ...platform.connectionOf("shop/other"), contractNumber: undefined };
    accounts.put(handleOf("shop/other", { connection, endpoint: () => API }));
    platform.make("same", body);
    await clock.advance(60_000);
    await pass(A);
    await pass(B);
    await Promise.all([pass(A), pass(B)]);
    expect(objects.claimants("Datacenter", { id: "dc-same-0", parents: {}, endpoint: API })).toHaveLength(1);
  });

  test("is claimed at once although another user makes an equal one with an Account of the same contract", async () => {
    const { platform, pass, accounts, objects } = stage([begun("a"), begun("b", { account: "shop/other" })]);
    const connection = { ...platform.connectionOf("shop/other"), identity: { userId: "u2" } };
    accounts.put(handleOf("shop/other", { connection, endpoint: () => API }));
    platform.make("same", body);
    await pass(A);
    await pass(A);
    expect(objects.claimants("Datacenter", { id: "dc-same-0", parents: {}, endpoint: API })).toEqual([A]);
  });

  test("can be taken over although another object observes it", async () => {
    const naming = (name: string, more: object = {}) =>
      objectOf("Datacenter", name, { spec: { ...spec, externalId: "dc-same-0", ...more } });
    const { pass, platform, objects } = stage([naming("a", { managementPolicy: "Observe" }), naming("b")]);
    platform.make("same", body);
    await pass(A);
    await pass(B);
    expect(objects.claimants("Datacenter", { id: "dc-same-0", parents: {}, endpoint: API })).toEqual([B]);
  });

  test("whose creation failed is gone, which says nothing about the next one", async () => {
    const since = "2026-01-01T00:00:00.000Z";
    const request = { action: "create", status: "BUSY", since, url: "/requests/req-0/status" };
    const object = objectOf("Datacenter", "a", { spec, status: { id: "dc-same-0", account: "shop/main", request } });
    const platform = fakePlatform();
    platform.make("same", body, { visible: false, status: "FAILED" });
    const { deps, pass, clock, contextOf } = stage([object], { platform });
    contextOf(A);
    deps.memories.of(A).absence = { since: 1, row: { since: 1, last: 2 }, logged: false };
    await clock.advance(20_000);
    expect((await pass(A)).decision).toMatchObject({ step: "fail", gone: true });
    expect(deps.memories.of(A).absence).toBeUndefined();
  });
});

describe("an object that was restored without status", () => {
  const kept = { id: "dc-same-0", parents: {}, account: "shop/main", contract: 1, endpoint: API, userId: "u1" };
  test.each([
    ["rests", spec, "rest"],
    ["is changed", { ...spec, name: "renamed" }, "update"],
  ])("keeps its whole claim when it %s", async (_, spec, step) => {
    const platform = fakePlatform();
    platform.make("same", body);
    const restored = objectOf("Datacenter", "a", { spec, metadata: annotated("a", kept) });
    const { pass, clock, api, contextOf } = stage([restored], { platform });
    contextOf(A);
    await clock.advance(0);
    expect((await pass(A)).decision.step).toBe(step);
    expect(claimOf(api.get(restored) ?? restored)).toMatchObject(kept);
  });
});

test("a status that is no object counts as none", () => {
  expect(readStatus(objectOf("Server", "a", { status: "nonsense" }))).toEqual({});
});
