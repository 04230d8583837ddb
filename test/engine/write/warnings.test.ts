import { describe, expect, test } from "vitest";
import { execute } from "../../../src/engine/execute/execute.ts";
import { createMemories } from "../../../src/engine/state/memory.ts";
import { conditions, type ReadyState } from "../../../src/engine/status/status.ts";
import { recordWarning } from "../../../src/engine/write/warnings.ts";
import type { Operation } from "../../../src/kinds/desired.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { fakeClock } from "../../fake-clock.ts";
import { objectOf, scriptedConnection } from "../support/fixtures.ts";
import { stage } from "../support/stage.ts";
import { drifted, preDelete, present } from "../support/views.ts";

const KEY = "Server/shop/a";
const MINUTE = 60_000;
const waiting = (reason: ReadyState["reason"], message = "why"): ReadyState => ({
  mode: "reconciling",
  reason,
  message,
});
const stalled = (message: string): ReadyState => ({ mode: "stalled", reason: "Rejected", message });
const ready: ReadyState = { mode: "ready", reason: "Available", message: "up to date" };

/** An object whose conditions are written repeatedly, and the resulting Events. */
function open(first?: ReadyState) {
  const clock = fakeClock();
  const reported: string[] = [];
  const deps = {
    clock,
    memories: createMemories(clock),
    events: {
      record: (_: KubeObject, type: string, reason: string, message: string) =>
        void reported.push(`${type} ${reason} ${message}`),
      flush: async () => {},
      close: async () => {},
    },
  };
  const withCondition = (condition: ReadyState | undefined, generation = 1) => {
    const object = objectOf("Server", "a", { metadata: { name: "a", generation } });
    return condition ? { ...object, status: { conditions: conditions(object, 0, condition) } } : object;
  };
  let before = withCondition(first);
  const stand = (condition: ReadyState, { generation = 1, graceUntil = 0 } = {}) => {
    const after = withCondition(condition, generation);
    recordWarning(deps, KEY, { before, after, condition: condition, graceUntil });
    before = after;
  };
  return { clock, reported, stand };
}

describe("an Event about what an object waits for", () => {
  test("comes once per reason and message", () => {
    const { clock, reported, stand } = open();
    for (let n = 0; n < 5; n++) stand(waiting("ReferenceNotFound", "no Datacenter dc"));
    clock.spend(MINUTE);
    for (let n = 0; n < 5; n++) stand(waiting("SecretNotFound", "no Secret s"));
    expect(reported).toEqual(["Warning ReferenceNotFound no Datacenter dc", "Warning SecretNotFound no Secret s"]);
  });

  test("is not about what passes by itself", () => {
    const { clock, reported, stand } = open();
    for (const reason of ["Creating", "ReferenceNotReady", "AccountNotReady", "RateLimited"] as const) {
      stand(waiting(reason));
      clock.spend(10 * MINUTE);
      stand(waiting(reason));
    }
    expect(reported).toEqual([]);
  });

  test("about a platform that does not answer comes when that has lasted a minute", () => {
    const { clock, reported, stand } = open();
    stand(waiting("PlatformUnavailable", "no answer"));
    clock.spend(MINUTE - 1);
    stand(waiting("PlatformUnavailable", "answered 503"));
    expect(reported).toEqual([]);
    clock.spend(1);
    stand(waiting("PlatformUnavailable", "answered 503"));
    expect(reported).toEqual(["Warning PlatformUnavailable answered 503"]);
  });

  test("does not bother a young object, and is made up for", () => {
    const { clock, reported, stand } = open();
    stand(waiting("SecretNotFound"), { graceUntil: 5000 });
    expect(reported).toEqual([]);
    clock.spend(5000);
    stand(waiting("SecretNotFound"), { graceUntil: 5000 });
    expect(reported).toHaveLength(1);
  });

  test("is not repeated by the next leader", () => {
    const { reported, stand } = open(stalled("cores: too many"));
    stand(stalled("cores: too many"));
    stand(stalled("cores: too many"));
    expect(reported).toEqual([]);
    stand(stalled("ram: too much"), { generation: 2 });
    expect(reported).toEqual(["Warning Rejected ram: too much"]);
  });

  test("follows the one before ever later while the reasons take turns", () => {
    const { clock, reported, stand } = open();
    for (let second = 0; second < 3600; second++) {
      stand(stalled(`try ${second}`));
      clock.spend(1000);
    }
    expect(reported.length).toBeGreaterThan(5);
    expect(reported.length).toBeLessThan(14);
  });

  test("comes at once after an edit, and after the object was Ready", () => {
    const { reported, stand } = open();
    for (let n = 0; n < 20; n++) stand(stalled(`try ${n}`));
    expect(reported).toHaveLength(1);
    stand(stalled("still wrong"), { generation: 2 });
    stand(ready, { generation: 2 });
    stand(stalled("still wrong"), { generation: 2 });
    expect(reported.slice(1)).toEqual(["Warning Rejected still wrong", "Warning Rejected still wrong"]);
  });
});

test("an object without its reference, and one without an Account, report that", async () => {
  const lan = objectOf("Lan", "a", { spec: { datacenterRef: { name: "nowhere" } } });
  const stray = objectOf("Lan", "b", { spec: { datacenterId: "d", accountRef: { name: "gone" } } });
  const { pass, events } = stage([lan, stray]);
  for (const key of ["Lan/shop/a", "Lan/shop/b", "Lan/shop/a", "Lan/shop/b"]) await pass(key);
  expect(events).toEqual([
    expect.stringContaining("Warning ReferenceNotFound datacenterRef: Datacenter nowhere not found"),
    expect.stringContaining("Warning AccountNotFound Account shop/gone not found"),
  ]);
});

test("an Event about a write names what differs only where the write is about that", async () => {
  const object = objectOf("Datacenter", "a", { spec: { location: "de/txl" }, status: { id: "dc" } });
  const said = async (operation: Operation) => {
    const { deps, contextOf, events } = stage([object], { connection: scriptedConnection(() => ({})) });
    const context = contextOf("Datacenter/shop/a");
    const drift = [...drifted.drift, { field: "ram", wanted: "2", found: "1" }];
    const observation = present({ comparison: { drift, next: drifted.next }, preDelete });
    await execute(
      deps,
      { ...context, view: { ...context.view, resource: { ...context.view.resource, observation } } },
      { step: "update", operation },
    );
    return events;
  };
  expect(await said(preDelete)).toEqual(["Normal Updated asked the platform to detach volume data"]);
  expect(await said(drifted.next)).toEqual(["Normal Updated asked the platform to update: cores, ram"]);
  const partial: Operation = { ...drifted.next, fields: ["ram"] };
  expect(await said(partial)).toEqual(["Normal Updated asked the platform to update: ram"]);
});
