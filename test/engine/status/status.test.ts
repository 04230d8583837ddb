import { describe, expect, test } from "vitest";
import { conditions, differs, type ReadyState, readFacts, readStatus } from "../../../src/engine/status/status.ts";
import type { Condition } from "../../../src/kube/write/conditions.ts";
import { objectOf } from "../support/fixtures.ts";
import { stage } from "../support/stage.ts";

const T0 = Date.UTC(2026, 0, 1, 0, 0, 0, 500);
const MINUTE = 60_000;
const ready: ReadyState = { mode: "ready", reason: "Available", message: "Server is up to date" };
const creating: ReadyState = {
  mode: "reconciling",
  reason: "Creating",
  message: "the platform is creating the Server",
};
const stalled: ReadyState = { mode: "stalled", reason: "Rejected", message: "no" };

const withConditions = (before: Condition[]) => objectOf("Server", "a", { status: { conditions: before } });
const shape = (list: Condition[]) => list.map(({ type, status }) => `${type}=${status}`);

describe("conditions", () => {
  test.each([
    ["an object that is ready", ready, ["Ready=True"]],
    ["one that is under way", creating, ["Ready=False", "Reconciling=True"]],
    ["one that is stuck", stalled, ["Ready=False", "Stalled=True"]],
  ])("of %s hold only what is true", (_, condition, expected) => {
    expect(shape(conditions(objectOf("Server", "a"), T0, condition))).toEqual(expected);
  });

  test("carry reason, message and the generation they were judged by", () => {
    const object = objectOf("Server", "a", { metadata: { name: "a", generation: 7 } });
    expect(conditions(object, T0, ready)).toEqual([
      {
        type: "Ready",
        status: "True",
        reason: "Available",
        message: "Server is up to date",
        observedGeneration: 7,
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ]);
  });

  test("keep their time while their status stays, whatever the reason", () => {
    const first = conditions(objectOf("Server", "a"), T0, creating);
    const [notReady, under] = conditions(withConditions(first), T0 + MINUTE, { ...creating, reason: "Updating" });
    expect(notReady?.lastTransitionTime).toBe("2026-01-01T00:00:00Z");
    expect(under).toMatchObject({ reason: "Updating", lastTransitionTime: "2026-01-01T00:00:00Z" });
  });

  test("take a new time when their status changes, and again when it changes back", () => {
    const first = conditions(objectOf("Server", "a"), T0, creating);
    const second = conditions(withConditions(first), T0 + MINUTE, ready);
    expect(second[0]?.lastTransitionTime).toBe("2026-01-01T00:01:00Z");
    const third = conditions(withConditions(second), T0 + 2 * MINUTE, stalled);
    expect(third.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual(Array(2).fill("2026-01-01T00:02:00Z"));
  });

  test("from one wrong state to another, only the new one is new", () => {
    const first = conditions(objectOf("Server", "a"), T0, creating);
    const [notReady, stuck] = conditions(withConditions(first), T0 + MINUTE, stalled);
    expect(notReady?.lastTransitionTime).toBe("2026-01-01T00:00:00Z");
    expect(stuck?.lastTransitionTime).toBe("2026-01-01T00:01:00Z");
  });

  test("cut a message that is longer than anybody reads", () => {
    const [first] = conditions(objectOf("Server", "a"), T0, { ...ready, message: "x".repeat(50_000) });
    expect(first?.message).toHaveLength(4096);
  });
});

const stored = (status: object) => ({ ...objectOf("Server", "a"), status });

describe("a status", () => {
  test("that is not there counts as an empty one", () => {
    expect(readStatus(stored({ id: 7 }))).toEqual({});
    expect(readStatus(objectOf("Server", "a"))).toEqual({});
  });

  test.each([
    ["state", 7],
    ["parents", { datacenter: 7 }],
    ["fixed", "a hash from before"],
    ["contract", "none"],
    ["request", { action: "create" }],
    ["drift", "much"],
    ["conditions", [{ type: "Ready" }]],
    ["observedGeneration", "1"],
  ])("keeps the id when %s is spoilt", (field, value) => {
    const sound = { id: "s1", account: "shop/main", nonce: "n1" };
    expect(readStatus(stored({ ...sound, [field]: value }))).toEqual(sound);
  });

  test("has a part of the engine's and a part of the kind's, and nothing is in both", () => {
    const object = stored({ id: "s1", state: "BUSY", cores: 4, vmState: "RUNNING" });
    expect(readStatus(object)).toEqual({ id: "s1", state: "BUSY" });
    expect(readFacts(object)).toEqual({ cores: 4, vmState: "RUNNING" });
  });

  test("says BUSY as soon as the platform has accepted the creation", async () => {
    const datacenter = objectOf("Datacenter", "a", { spec: { location: "de/txl" } });
    const { api, passes } = stage([datacenter]);
    await passes("Datacenter/shop/a");
    expect(readStatus(api.get(datacenter) ?? datacenter)).toMatchObject({ id: expect.any(String), state: "BUSY" });
  });

  test("does not differ from itself, in whatever order, nor by what JSON leaves out", () => {
    const object = stored({ id: "s1", parents: { a: "1", b: "2" } });
    expect(differs(object, { parents: { b: "2", a: "1" }, id: "s1", request: undefined })).toBe(false);
    expect(differs(objectOf("Server", "a"), {})).toBe(false);
  });

  test("differs when a field comes, goes or changes", () => {
    const object = stored({ id: "s1" });
    expect(differs(object, { id: "s1", state: "BUSY" })).toBe(true);
    expect(differs(object, {})).toBe(true);
    expect(differs(object, { id: "s2" })).toBe(true);
  });

  test("that stands as before is not written again, however late", () => {
    const object = withConditions(conditions(objectOf("Server", "a"), T0, creating));
    expect(differs(object, { conditions: conditions(object, T0 + 60 * MINUTE, creating) })).toBe(false);
  });
});
