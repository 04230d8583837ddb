import { describe, expect, test } from "vitest";
import { readIntent } from "../../../../src/engine/state/intent.ts";
import { INTENT } from "../../../../src/engine/state/names.ts";
import { readyOf } from "../../../../src/engine/status/status.ts";
import { Retry } from "../../../../src/platform/answers/errors.ts";
import { hashBody } from "../../../../src/runtime/hash.ts";
import { API } from "../../support/fake-platform.ts";
import { intending, intentOf, objectOf, readyCondition, serverSpec } from "../../support/fixtures.ts";
import { SETTINGS, stage } from "../../support/stage.ts";
import { A, B, begun, body, elsewhere, fresh, loseAnswers, spec, statusOf, UNSETTLED_MS } from "./begun.ts";

describe("a creation that comes after another one", () => {
  test("is made under the parents that spec names, not under those of the earlier intent", async () => {
    const home = objectOf("Datacenter", "dc", { status: { id: "d1", conditions: [readyCondition()] } });
    const metadata = intending("s", intentOf({ parents: { datacenter: "../elsewhere" } }));
    const server = objectOf("Server", "s", { spec: serverSpec("dc"), metadata });
    const { platform, passes, clock } = stage([home, server]);
    await passes("Server/shop/s");
    await clock.advance(70_000);
    for (let turn = 0; turn < 3; turn++) {
      await passes("Server/shop/s");
      await clock.advance(2000);
    }
    expect(platform.sent("POST").map(({ url }) => url)).toEqual([`${API}/cloudapi/v6/datacenters/d1/servers`]);
  });
});

describe("a creation that a gateway refuses with a page of its own", () => {
  test("is searched for as one without an answer, and status says what came instead", async () => {
    const object = fresh("a");
    const { platform, passes, api, clock } = stage([object]);
    const message = () => readyOf(api.get(object) ?? object)?.message ?? "";
    platform.beforeEach(({ method }) => {
      if (method !== "POST") return;
      const detail = "400 without the platform's error body";
      throw new Retry({ call: "POST /cloudapi/v6/datacenters", status: 400, detail }, "unknown");
    });
    expect(await passes(A)).toEqual(["create"]);
    const said = "got no answer of the platform: a gateway or proxy answered POST /cloudapi/v6/datacenters with 400";
    for (let turn = 0; turn < 3; turn++) {
      await clock.advance(2000);
      expect((await passes(A)).at(-1)).toBe("wait Recovering");
      expect(message()).toContain(said);
      expect(message()).toContain("if this repeats, ask whoever runs it");
    }
  });
});

describe("a creation without an answer", () => {
  test("is not sent again while lists lack what other objects own: the log may be hidden as well", async () => {
    const object = fresh("a");
    const owner = objectOf("Datacenter", "b", { spec, status: { id: "dc-owned", account: "shop/main" } });
    const { platform, passes, api, clock } = stage([object, owner]);
    platform.make("owned", body, { targets: ["dc-owned"] });
    await passes(B);
    platform.afterEach(loseAnswers(1));
    expect(await passes(A)).toEqual(["create"]);
    const [made] = platform.log.splice(-1);
    platform.hideInLists("dc-owned", ...(made?.targets ?? []));
    for (let turn = 0; turn < 8; turn++) {
      await clock.advance(UNSETTLED_MS);
      for (const key of [A, B]) await passes(key);
    }
    expect(platform.sent("POST")).toHaveLength(1);
    platform.hideInLists();
    if (made) platform.log.push(made);
    for (let turn = 0; turn < 3; turn++) {
      await clock.advance(10_000);
      for (const key of [A, B]) await passes(key);
    }
    expect(statusOf(api.get(object))?.id).toBe(made?.targets[0]);
    expect(platform.sent("POST")).toHaveLength(1);
  });

  test("is not sent again while a list shows it, though the log is empty, and is claimed when the log shows it", async () => {
    const object = fresh("a");
    const { platform, passes, api, clock } = stage([object]);
    platform.afterEach(loseAnswers(1));
    expect(await passes(A)).toEqual(["create"]);
    const [made] = platform.log.splice(-1);
    for (let turn = 0; turn < 8; turn++) {
      await clock.advance(UNSETTLED_MS);
      await passes(A);
    }
    expect(platform.sent("POST")).toHaveLength(1);
    expect(readyOf(api.get(object) ?? object)).toMatchObject({ reason: "AlreadyExists" });
    if (made) platform.log.push(made);
    for (let turn = 0; turn < 3; turn++) {
      await clock.advance(UNSETTLED_MS);
      await passes(A);
    }
    expect(statusOf(api.get(object))?.id).toBe(made?.targets[0]);
    expect(platform.sent("POST")).toHaveLength(1);
  });

  test("that another process has answered since is over, also when its resource is gone again", async () => {
    const object = objectOf("Datacenter", "a", { spec, status: { nonce: "theirs", revision: 5 } });
    const { platform, passes, contextOf } = stage([object]);
    const intent = { ...intentOf({ hash: hashBody(body), nonce: "ours" }), revision: 3 };
    contextOf(A).memory.creation = { phase: "sent", intent, begunAt: 0, own: true };
    expect(await passes(A)).toEqual(["create"]);
    expect(platform.sent("POST")).toHaveLength(1);
  });

  test("is found and claimed, and followed at the address of its request status", async () => {
    const object = fresh("a");
    const { platform, passes, api, clock, contextOf } = stage([object]);
    platform.afterEach(loseAnswers(1));
    expect(await passes(A)).toEqual(["create"]);
    await clock.advance(1000);
    expect(await passes(A)).toEqual(["search", "claim", "wait Observing"]);
    expect(platform.sent("POST")).toHaveLength(1);
    const url = `${API}/cloudapi/v6/requests/req-0/status`;
    expect(statusOf(api.get(object))).toMatchObject({
      id: "dc-same-0",
      nonce: "nonce-1",
      contract: 1,
      request: { id: "req-0", url, action: "create", status: "BUSY" },
    });
    // It is not visible, so its request has to be read.
    platform.items.clear();
    contextOf(A);
    await clock.advance(60_000);
    expect(platform.calls.map((each) => each.url)).toContain(url);
    expect(contextOf(A).view.resource.request).toMatchObject({ action: "create", outcome: "DONE" });
  });

  test("is found by the platform's own word for it, whatever people call it", async () => {
    const wanted = { properties: { name: "a", location: "de/txl", size: 1 } };
    const metadata = intending("a", intentOf({ hash: hashBody(wanted) }));
    const { platform, passes } = stage([objectOf("IPBlock", "a", { spec: { location: "de/txl", size: 1 }, metadata })]);
    platform.make("a", wanted, { path: "/ipblocks", type: "ipblock" });
    expect((await passes("IPBlock/shop/a")).slice(0, 2)).toEqual(["search", "claim"]);
    expect(platform.sent("POST")).toEqual([]);
  });

  test("is not what was made long after its time, by somebody else of the same contract", async () => {
    const { platform, passes, clock } = stage([begun("a", { at: "2025-12-31T23:50:00.000Z" })]);
    const theirs = platform.make("same", body);
    await passes(A);
    await clock.advance(61_000);
    await passes(A);
    await clock.advance(2000);
    await passes(A);
    expect(platform.sent("POST")).toHaveLength(1);
    expect([...platform.items.keys()]).toEqual([theirs, "dc-same-1"]);
  });

  test("has the whole time to become visible, however late it was accepted", async () => {
    const { platform, passes, clock, contextOf } = stage([begun("a")]);
    contextOf(A);
    await clock.advance(61_000);
    const id = platform.make("same", body, { visible: false });
    expect(await passes(A)).toEqual(["search", "wait Recovering"]);
    await clock.advance(29_000);
    expect(await passes(A)).toEqual(["search", "wait Recovering"]);
    platform.items.set(id, { state: "AVAILABLE", properties: body.properties, user: "u1" });
    await clock.advance(2000);
    expect((await passes(A)).slice(0, 2)).toEqual(["search", "claim"]);
    expect(platform.sent("POST")).toEqual([]);
  });

  test("is not sent again while what was accepted cannot be seen, and is looked for at a measured pace", async () => {
    const object = begun("a");
    const { platform, passes, clock } = stage([object]);
    platform.make("same", body, { visible: false, status: "BUSY" });
    for (let seconds = 0; seconds < 120; seconds += 2) {
      expect(await passes(A)).toEqual(["search", "wait Recovering"]);
      await clock.advance(2000);
    }
    expect(platform.sent("POST")).toEqual([]);
  });

  test("is sent again when nothing has appeared, by an intent of its own", async () => {
    const object = begun("a", { by: elsewhere });
    const { platform, passes, clock, api } = stage([object]);
    expect(await passes(A)).toEqual(["search", "wait Recovering"]);
    await clock.advance(UNSETTLED_MS - 1000);
    expect(await passes(A)).toEqual(["search", "wait Recovering"]);
    await clock.advance(2000);
    expect(await passes(A)).toEqual(["search", "wait Recovering"]);
    await clock.advance(2000);
    expect(await passes(A)).toEqual(["search", "create"]);
    expect(platform.sent("POST")).toHaveLength(1);
    expect(statusOf(api.get(object))).toMatchObject({ nonce: "nonce-1" });
  });

  test("is not sent again because one answer of the log does not show it", async () => {
    const { platform, pass, clock } = stage([begun("a", { by: elsewhere })]);
    platform.make("same", body, { loggedAt: Number.POSITIVE_INFINITY });
    expect((await pass(A)).decision.step).toBe("search");
    await clock.advance(UNSETTLED_MS + 1000);
    expect((await pass(A)).decision.step).toBe("search");
    for (const logged of platform.log) logged.loggedAt = 0;
    expect((await pass(A)).decision).toMatchObject({ step: "wait", reason: "Recovering" });
    await clock.advance(2000);
    const steps = [await pass(A), await pass(A)].map(({ decision }) => decision.step);
    expect(steps).toEqual(["search", "claim"]);
    expect(platform.sent("POST")).toEqual([]);
  });

  test("is given the whole window by a process that has just begun, whatever the other machine's clock said", async () => {
    for (const at of ["2025-12-31T12:00:00.000Z", "2026-01-01T00:01:00.000Z", "9999-01-01T00:00:00.000Z"]) {
      const { contextOf } = stage([begun("a", { at, by: elsewhere })]);
      expect(contextOf(A).view.times.settledAt).toBe(UNSETTLED_MS);
    }
  });

  test("of a version that did not say who sent it has the deadline of that version", async () => {
    const { contextOf } = stage([begun("a")]);
    expect(contextOf(A).view.times.settledAt).toBe(30_000 + SETTINGS.settleMs);
  });

  test.each([
    ["by another user", { user: "u2" }],
    ["that failed", { status: "FAILED" }],
    ["elsewhere", { path: "/datacenters/d1/servers" }],
    ["with another body", { body: JSON.stringify({ properties: { name: "other" } }) }],
    ["long before", { at: "2025-12-31T23:00:00Z" }],
  ])("is not answered by a creation %s", async (_, more) => {
    const { platform, passes } = stage([begun("a")]);
    platform.make("same", body, more);
    expect(await passes(A)).toEqual(["search", "wait Recovering"]);
  });
});

describe("a creation of an earlier process of the same pod", () => {
  const by = { pod: "mooring-0", process: "before", deadlineMs: 10_000 };

  test("is on record with who sends it, and until when", async () => {
    const object = fresh("a");
    const { passes, api, deps } = stage([object], { pod: "mooring-0" });
    await passes(A);
    expect(readIntent(api.get(object)?.metadata.annotations?.[INTENT])?.by).toEqual(deps.self);
    expect(deps.self).toMatchObject({ pod: "mooring-0", deadlineMs: SETTINGS.createDeadlineMs });
  });

  test("is claimed at once when the log has it", async () => {
    const { platform, passes } = stage([begun("a", { by }), begun("b", { by })], { pod: "mooring-0" });
    platform.make("same", body);
    platform.make("same", body);
    expect(await passes(A)).toEqual(["search", "claim", "wait Observing"]);
    expect(await passes(B)).toEqual(["search", "claim", "wait Observing"]);
    expect(platform.sent("POST")).toEqual([]);
  });

  test("is sent again no earlier than any other: what a dead process has sent may still be on its way", async () => {
    const { platform, passes, clock } = stage([begun("a", { by })], { pod: "mooring-0" });
    expect(await passes(A)).toEqual(["search", "wait Recovering"]);
    await clock.advance(UNSETTLED_MS - 1000);
    expect(await passes(A)).toEqual(["search", "wait Recovering"]);
    expect(platform.sent("POST")).toEqual([]);
    await clock.advance(2000);
    expect(await passes(A)).toEqual(["search", "wait Recovering"]);
    await clock.advance(2000);
    expect(await passes(A)).toEqual(["search", "create"]);
  });

  test("is not sent again while the log has it and it cannot be seen: that is missed for as long as what exists", async () => {
    const { platform, passes, clock } = stage([begun("a", { by })], { pod: "mooring-0" });
    platform.make("same", body, { visible: false, status: "DONE" });
    for (let seconds = 0; seconds < 30; seconds += 2) {
      expect(await passes(A)).toEqual(["search", "wait Recovering"]);
      await clock.advance(2000);
    }
    expect(await passes(A)).toEqual(["search", "create"]);
  });
});
