import { describe, expect, test } from "vitest";
import type { Deps } from "../../../src/engine/observe/deps.ts";
import { INTENT } from "../../../src/engine/state/names.ts";
import { openIntent } from "../../../src/engine/state/object.ts";
import type { Reason } from "../../../src/engine/status/reasons.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import { pauseAfter } from "../../../src/engine/write/record.ts";
import {
  Forbidden,
  NotFound,
  type PlatformError,
  Retry,
  Terminal,
  Unauthorized,
} from "../../../src/platform/answers/errors.ts";
import { isDryRun } from "../support/fake-api-server.ts";
import { objectOf, readyCondition } from "../support/fixtures.ts";
import { CALLING, type Calling, DC, type Life, ownedBlock } from "../support/lives.ts";
import { stage } from "../support/stage.ts";

const call = "CALL /path";
/** Every error of the platform, the pause that it asks for, and whether it is temporary. */
const ERRORS: Record<string, { error: () => PlatformError; afterMs?: number; passes: boolean }> = {
  "429": { error: () => new Retry({ call, status: 429 }, "no"), passes: true },
  "429 with Retry-After": {
    error: () => new Retry({ call, status: 429 }, "no", 20_000),
    afterMs: 20_000,
    passes: true,
  },
  "500": { error: () => new Retry({ call, status: 500 }, "unknown"), passes: true },
  "503": { error: () => new Retry({ call, status: 503 }, "no"), passes: true },
  "503 with Retry-After": {
    error: () => new Retry({ call, status: 503 }, "no", 90_000),
    afterMs: 90_000,
    passes: true,
  },
  "no answer": { error: () => new Retry({ call, status: 0 }, "unknown"), passes: true },
  "a refusal": { error: () => new Terminal({ call, status: 422, platformMessage: "no" }), passes: false },
  busy: { error: () => new Terminal({ call, status: 422, platformMessage: "busy" }, { busy: true }), passes: true },
  quota: { error: () => new Terminal({ call, status: 422, platformMessage: "quota" }, { quota: true }), passes: false },
  "401": { error: () => new Unauthorized({ call, status: 401 }), passes: true },
  "403": { error: () => new Forbidden({ call, status: 403 }), passes: false },
  "404": { error: () => new NotFound({ call, status: 404 }), passes: false },
};
const FIRST_MS = 1000;
const LONGEST_MS = { passing: 64_000, lasting: 32_000 };
/** Long enough for the longest pause to occur twice. */
const SPAN_MS = 300_000;

/** For the others, the first pauses show whether they grow. */
const TO_THE_END = new Set(["429", "a refusal"]);

/** For these calls 404 is an answer and no failure: the resource does not exist. */
const ANSWERED_BY_404 = new Set(["search", "look at a member", "delete a number: look"]);

/**
 * Wakes the object every 50 ms while anything happens and every two seconds otherwise, and fails the matching call each
 * time. Returns the times of the calls and the number of writes to Kubernetes.
 */
async function insist({ all, key, beforeEach }: Life, fits: Calling["fits"], error: () => PlatformError, most = 100) {
  const { clock, pass, objects, api } = all;
  const calls: number[] = [];
  let lastEvent = 0;
  beforeEach((each) => {
    if (!fits(each)) return;
    calls.push(clock.monotonic());
    lastEvent = clock.monotonic();
    throw error();
  });
  api.calls.length = 0;
  const writes = () => api.calls.filter((each) => each.method !== "GET" && !isDryRun(each)).length;
  let written = 0;
  while (clock.monotonic() < SPAN_MS && objects.find(key)) {
    await pass(key);
    if (writes() !== written) lastEvent = clock.monotonic();
    written = writes();
    await clock.advance(clock.monotonic() - lastEvent < 1500 ? 50 : 2000);
    // A loop without pauses is noticed long before the end.
    if (calls.length > most || written > 300) break;
  }
  return { calls, writes: written };
}

describe.each(CALLING)("while the call of $step fails", ({ step, open, fits }) => {
  const errors = Object.entries(ERRORS).filter(([name]) => name !== "404" || !ANSWERED_BY_404.has(step));
  test.each(errors)(
    "with %s, it is repeated after growing pauses only",
    async (name, { error, afterMs = 0, passes }) => {
      const { calls, writes } = await insist(await open(), fits, error, TO_THE_END.has(name) ? undefined : 6);
      expect(calls.length).toBeGreaterThan(2);
      const longest = passes ? LONGEST_MS.passing : LONGEST_MS.lasting;
      const least = calls.slice(1).map((_, n) => Math.max(afterMs, Math.min(FIRST_MS * 2 ** n, longest)));
      const gaps = calls.slice(1).map((at, n) => at - (calls[n] ?? 0));
      expect(gaps.filter((gap, n) => gap < (least[n] ?? 0))).toEqual([]);
      expect(writes).toBeLessThanOrEqual(6 * calls.length + 4);
    },
  );
});

describe("while the list of a collection fails", () => {
  test.each(Object.entries(ERRORS))(
    "with %s, it is repeated after growing pauses only",
    async (_, { error, afterMs = 0 }) => {
      const life = ownedBlock(false);
      const { all, object, key } = life;
      all.contextOf(key);
      await all.clock.advance(2000);
      expect((await all.pass(key)).decision.step).toBe("rest");
      // Earlier reads are older than the deletion request, so each pass asks for a list.
      const { metadata, ...rest } = all.api.get(object) ?? object;
      all.api.put({ ...rest, metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
      all.sync();
      const { calls, writes } = await insist(
        life,
        ({ method, url }) => method === "GET" && /ipblocks\?/.test(url),
        error,
      );
      expect(calls.length).toBeGreaterThan(2);
      // Jitter shortens a pause by up to half.
      const gaps = calls.slice(1).map((at, n) => at - (calls[n] ?? 0));
      expect(gaps.filter((gap, n) => gap < Math.max(afterMs, Math.min(700 * 2 ** n, 30_000)))).toEqual([]);
      expect(writes).toBeLessThanOrEqual(4);
    },
  );
});

test("an adoption is tried again soon, because a new resource may be hidden for a moment, then ever more rarely", () => {
  const seconds = (reason: Reason, attempts: number[]) =>
    attempts.map((each) => pauseAfter({ settings: { retryMs: 60_000 } } as Deps, { reason, message: "" }, each) / 1000);
  expect(seconds("NotAdoptable", [0, 1, 2, 5, 6, 7, 20])).toEqual([1, 2, 4, 32, 60, 120, 1920]);
  expect(seconds("Rejected", [0, 1, 20])).toEqual([60, 120, 1920]);
  expect(seconds("PlatformUnavailable", [0, 1, 20])).toEqual([1, 2, 64]);
});

describe("a creation that is answered 404", () => {
  const lost = ({ method }: { method: string }) => {
    if (method === "POST") throw new NotFound({ call: "POST /lans", status: 404 });
  };
  const readyOf = (object: Parameters<typeof readStatus>[0]) =>
    readStatus(object).conditions?.find(({ type }) => type === "Ready");

  test("names the field and the id, is stalled, and its intent is closed", async () => {
    const object = objectOf("Lan", "a", { spec: { datacenterId: DC } });
    const { platform, pass, api, events } = stage([object]);
    platform.beforeEach(lost);
    expect(await pass("Lan/shop/a")).toMatchObject({ decision: { step: "create" }, again: { inMs: 1000 } });
    const after = api.get(object) ?? object;
    expect(readyOf(after)).toMatchObject({ status: "False", reason: "ParentNotFound" });
    expect(readyOf(after)?.message).toContain(`datacenterId: Datacenter ${DC}`);
    expect(readStatus(after).conditions).toContainEqual(expect.objectContaining({ type: "Stalled", status: "True" }));
    expect(after.metadata.annotations?.[INTENT]).toContain("nonce-1");
    expect(openIntent(after)).toBeUndefined();
    expect(events).toEqual([expect.stringContaining("Warning ParentNotFound")]);
  });

  test("has the object that stands for the place looked at again", async () => {
    const status = { id: DC, account: "shop/main", conditions: [readyCondition()] };
    const home = objectOf("Datacenter", "home", { spec: { location: "de/txl" }, status });
    const object = objectOf("Lan", "a", { spec: { datacenterRef: { name: "home" } } });
    const { platform, pass, api, clock, contextOf } = stage([home, object]);
    contextOf("Datacenter/shop/home");
    await clock.advance(5000);
    const lists = () => platform.sent("GET").filter(({ url }) => new URL(url).pathname.endsWith("/datacenters")).length;
    const before = lists();
    platform.beforeEach(lost);
    await pass("Lan/shop/a");
    await clock.advance(1000);
    expect(lists()).toBe(before + 1);
    expect(readyOf(api.get(object) ?? object)?.message).toContain("datacenterRef: the resource of Datacenter home");
  });
});
