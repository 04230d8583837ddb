import { describe, expect, test } from "vitest";
import { readIntent } from "../../../../src/engine/state/intent.ts";
import { INTENT } from "../../../../src/engine/state/names.ts";
import { openIntent } from "../../../../src/engine/state/object.ts";
import { Retry, Terminal } from "../../../../src/platform/answers/errors.ts";
import type { PlatformCall } from "../../../../src/platform/calls/transport.ts";
import { SETTINGS, stage } from "../../support/stage.ts";
import { A, call, fresh, loseAnswers, statusOf, UNSETTLED_MS } from "./begun.ts";

describe("a creation that the platform put off", () => {
  const object = fresh("a");
  const slowDown = ({ method }: PlatformCall) => {
    if (method === "POST") throw new Retry({ call, status: 429 }, "no", 7000);
  };

  test("is made again with a fresh intent: each POST is looked for by its own time", async () => {
    const { platform, pass, passes, clock, api } = stage([object]);
    const intent = () => readIntent(api.get(object)?.metadata.annotations?.[INTENT]);
    platform.beforeEach(slowDown);
    expect(await pass(A)).toEqual({ decision: { step: "create" }, again: { inMs: 7000 } });
    const first = intent();
    await clock.advance(50_000);
    platform.beforeEach(() => {});
    platform.afterEach(loseAnswers(1));
    expect((await pass(A)).decision).toEqual({ step: "create" });
    const second = intent();
    expect([first?.nonce, second?.nonce]).toEqual(["nonce-1", "nonce-2"]);
    expect(Date.parse(second?.at ?? "") - Date.parse(first?.at ?? "")).toBe(50_000);
    // The first window is over; the second POST may still become visible.
    platform.items.clear();
    platform.log.splice(0);
    await clock.advance(UNSETTLED_MS - 5000);
    expect(await passes(A)).toEqual(["search", "wait Recovering"]);
    expect(platform.sent("POST")).toHaveLength(2);
  });

  test("leaves nothing to look for when its object is deleted", async () => {
    const { platform, pass, passes, api, sync } = stage([object]);
    platform.beforeEach(slowDown);
    await pass(A);
    const stored = api.get(object);
    if (stored) stored.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    api.put(stored ?? object);
    sync();
    expect(await passes(A)).toEqual(["release Deleted"]);
    expect(api.get(object)).toBeUndefined();
  });

  test("has left by the deadline that is counted from the intent", async () => {
    const { platform, pass, skip, api } = stage([object]);
    api.beforeEach(({ method }) => {
      if (method === "PATCH") skip(4000);
    });
    await pass(A);
    expect(platform.sent("POST")[0]?.deadlineMs).toBe(SETTINGS.createDeadlineMs - 4000);
  });

  test("is not sent when putting the intent on record took too long, but with the next intent", async () => {
    const { platform, pass, skip, api, clock } = stage([object]);
    let slow = true;
    api.beforeEach(({ method }) => {
      if (method === "PATCH" && slow) skip(30_000);
      slow = false;
    });
    await pass(A);
    expect(platform.sent("POST")).toEqual([]);
    await clock.advance(1000);
    expect((await pass(A)).decision.step).toBe("create");
    expect(platform.sent("POST")).toHaveLength(1);
    expect(statusOf(api.get(object))).toMatchObject({ id: "dc-same-0", nonce: "nonce-2" });
  });

  test("is over when it was refused for good: the intent is answered, and nothing is looked for", async () => {
    const { platform, pass, api, objects } = stage([object]);
    platform.beforeEach(({ method }) => {
      if (method === "POST") throw new Terminal({ call, status: 422, platformMessage: "no such location" });
    });
    await pass(A);
    const after = objects.find(A)?.object ?? object;
    expect(after.metadata.annotations?.[INTENT]).toContain("nonce-1");
    expect(openIntent(after)).toBeUndefined();
    expect((await pass(A)).decision).toMatchObject({ step: "stall", reason: "Rejected" });
    expect(statusOf(api.get(object))).toMatchObject({ nonce: "nonce-1" });
  });
});
