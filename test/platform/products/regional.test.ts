import { expect, test } from "vitest";
import { regionalCollection } from "../../../src/platform/products/regional.ts";
import { scriptedConnection } from "../../engine/support/fixtures.ts";

const service = regionalCollection(
  scriptedConnection(() => ({})),
  "http://streaming.test",
  "/clusters",
  "streaming",
);
const failureOf = (state: string, more: object = {}) =>
  service.failure?.({ id: "c1", state, raw: { id: "c1", metadata: { state, ...more } } });

test("a failed resource reports the reason, for any failure", () => {
  expect(failureOf("FAILED", { message: "no room left" })).toBe("no room left");
  expect(failureOf("FAILED_UPDATING", { statusMessage: "too small" })).toBe("too small");
  expect(failureOf("FAILED")).toBe("the platform gave no reason");
});

test("a resource that works, or is being changed, has not failed", () => {
  for (const state of ["AVAILABLE", "DEPLOYING", "UPDATING", "DESTROYING"]) expect(failureOf(state)).toBeUndefined();
});

/** The members that a collection reads from one answer. */
async function listed(path: string, body: unknown) {
  const connection = scriptedConnection(() => body);
  const source = regionalCollection(connection, "http://logging.test", path, "logging");
  const items = await source.list(new AbortController().signal, "people");
  return { connection, source, items };
}

test("the state of a pipeline is read where the platform tells it: in metadata, or in its properties", async () => {
  const pipeline = (status: string) => ({ id: "p1", metadata: {}, properties: { name: "shop", status } });
  const words = ["PROVISIONING", "Provisioning", "Ready", "AVAILABLE", "FAILED"];
  for (const word of words) {
    const { source, items } = await listed("/pipelines", { items: [pipeline(word)] });
    const [item = { id: "", state: undefined, raw: undefined }] = items;
    expect(item.state).toBe(word);
    expect(source.isBusy(item)).toBe(word.toUpperCase() === "PROVISIONING");
    expect(source.failure?.(item)).toBe(word === "FAILED" ? "the platform gave no reason" : undefined);
  }
  const both = { id: "p1", metadata: { state: "AVAILABLE" }, properties: { status: "Ready" } };
  expect((await listed("/pipelines", { items: [both] })).items).toMatchObject([{ state: "AVAILABLE" }]);
});

test("the only resource of a region, answered without a list, is the only member", async () => {
  const { connection, source, items } = await listed("/central", { properties: { enabled: false } });
  expect(items).toMatchObject([{ id: "central", raw: { id: "central", properties: { enabled: false } } }]);
  const read = await source.get?.("central", new AbortController().signal);
  expect(read).toMatchObject({ id: "central", raw: { id: "central" } });
  expect(connection.calls.map(({ url }) => new URL(url).pathname)).toEqual(["/central", "/central"]);
});
