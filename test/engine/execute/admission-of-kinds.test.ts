import { describe, expect, test } from "vitest";
import { FINALIZER } from "../../../src/engine/state/names.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { subjects } from "../../subjects/index.ts";
import { API } from "../support/fake-platform.ts";
import { clusterAccountOf, objectOf } from "../support/fixtures.ts";
import { type Life, live, readyOf } from "../support/lives.ts";
import { stage } from "../support/stage.ts";

const managed = subjects.filter(({ kind }) => kinds.find((each) => each.kind === kind)?.resource);
const claim = {
  id: "11111111-1111-4111-8111-111111111111",
  parents: {},
  nonce: "answered",
  account: "ClusterAccount/shared",
  endpoint: API,
};
const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };

// test/cluster/life/policies.test.ts checks one kind of each type with a real API server.
describe.each(managed)("a $kind that its ClusterAccount does not admit", ({ kind, spec }) => {
  async function shut(status: object, metadata: object = {}) {
    const object = objectOf(kind, "a", {
      spec: { ...spec, accountRef: { kind: "ClusterAccount", name: "shared" } },
      metadata: { name: "a", namespace: "team", ...metadata },
      status: { ...status },
    });
    const all = stage([object]);
    all.objects.store("ClusterAccount").put(clusterAccountOf("shared"));
    const life: Life = { all, key: `${kind}/team/a`, object, beforeEach: all.platform.beforeEach };
    await live(life, 5);
    return { life, calls: all.platform.calls, stored: all.api.get(object) };
  }

  test("is not created", async () => {
    const { life, calls, stored } = await shut({});
    expect(calls).toEqual([]);
    expect(readyOf(life)).toMatchObject({ status: "False", reason: "AccountNotAllowed" });
    expect(stored && readStatus(stored).id).toBeUndefined();
  });

  test.each([
    ["changed", {}, ""],
    ["deleted", deleted, "set deletionPolicy: Retain"],
  ])("is not %s, and keeps what it has", async (_, metadata, way) => {
    const { life, calls, stored } = await shut(claim, { finalizers: [FINALIZER], ...metadata });
    expect(calls).toEqual([]);
    expect(readyOf(life)).toMatchObject({ status: "False", reason: "AccountNotAllowed" });
    expect(readyOf(life)?.message).toContain(way);
    expect(stored?.metadata.finalizers).toEqual([FINALIZER]);
    expect(stored && readStatus(stored).id).toBe(claim.id);
  });
});
