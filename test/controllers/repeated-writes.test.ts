import { expect, test } from "vitest";
import { FINALIZER } from "../../src/engine/state/names.ts";
import { createSignatures } from "../../src/engine/state/signatures.ts";
import { readyOf } from "../../src/engine/status/status.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { datacenterSpec, objectOf } from "../engine/support/fixtures.ts";
import { accountOf, credentials, runEngine } from "../engine/support/running-engine.ts";
import { fakeClock } from "../fake-clock.ts";

const seal = createSignatures({ keys: () => ["one"] });
const object = objectOf("Datacenter", "dc", { spec: datacenterSpec });

test.each<[string, (object: KubeObject) => KubeObject]>([
  ["its finalizer", ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, finalizers: [] } })],
  ["its status", (found) => ({ ...found, status: undefined })],
  ["both", ({ metadata, ...rest }) => ({ ...rest, status: undefined, metadata: { ...metadata, finalizers: [] } })],
])(
  "an object is repaired ever more rarely while somebody undoes %s ten times a second, and in the end",
  async (_, undo) => {
    const clock = fakeClock();
    await using engine = await runEngine([accountOf("main"), credentials, object], { clock, seal });
    const stored = () => engine.api.get(object) ?? object;
    for (let second = 0; second < 30; second++) await clock.advance(1000);
    expect(readyOf(stored())?.status).toBe("True");
    const before = engine.api.calls.length;
    for (let tenth = 0; tenth < 600; tenth++) {
      engine.put(undo(stored()));
      await clock.advance(100);
    }
    const writes = engine.api.calls
      .slice(before)
      .filter(({ method, path }) => method !== "GET" && path.includes("/dc"));
    expect(writes.length).toBeLessThan(20);
    expect(writes.length).toBeGreaterThan(2);
    for (let second = 0; second < 300; second++) await clock.advance(1000);
    expect(readyOf(stored())?.status).toBe("True");
    expect(stored().metadata.finalizers).toEqual([FINALIZER]);
  },
);
