import { describe, expect, it } from "vitest";
import { accessOf } from "../../src/gateway/access/cluster-accesses.ts";

const metadata = { name: "chat", namespace: "shop" };
const spec = { accountRef: { kind: "ClusterAccount", name: "ai" }, models: ["BAAI/bge-m3"] };
const objectWith = (more: object) => ({ apiVersion: "v1", kind: "InferenceAccess", metadata, spec, ...more });
const ready = (reason: string) => ({ conditions: [{ type: "Ready", status: "False", reason }] });

describe("an InferenceAccess", () => {
  it("gives access through the ClusterAccount that it names, whatever it waits for", () => {
    expect(accessOf(objectWith({}), "ai")).toMatchObject({ namespace: "shop", name: "chat", models: ["BAAI/bge-m3"] });
    expect(accessOf(objectWith({ status: ready("PlatformUnavailable") }), "ai")).toMatchObject({ name: "chat" });
    expect(accessOf(objectWith({}), "other")).toBeUndefined();
  });

  it("gives none while its namespace has too many", () => {
    expect(accessOf(objectWith({ status: ready("TooManyObjects") }), "ai")).toBeUndefined();
  });

  it("gives none while it is stalled: the operator has refused it", () => {
    const { conditions } = ready("InvalidSpec");
    const stalled = { type: "Stalled", status: "True", reason: "InvalidSpec" };
    expect(accessOf(objectWith({ status: { conditions: [...conditions, stalled] } }), "ai")).toBeUndefined();
    const over = { ...stalled, status: "False" };
    expect(accessOf(objectWith({ status: { conditions: [...conditions, over] } }), "ai")).toMatchObject({
      name: "chat",
    });
  });

  it("gives none while it is deleted", () => {
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    expect(accessOf(objectWith({ metadata: { ...metadata, deletionTimestamp } }), "ai")).toBeUndefined();
  });
});
