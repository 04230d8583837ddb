import { expect, test } from "vitest";
import { regionalCollection } from "../../src/platform/products/regional.ts";
import { scriptedConnection } from "../engine/fixtures.ts";

const service = regionalCollection(
  scriptedConnection(() => ({})),
  "http://streaming.test",
  "/clusters",
  "streaming",
);
const failureOf = (state: string, more: object = {}) =>
  service.failure?.({ id: "c1", state, raw: { id: "c1", metadata: { state, ...more } } });

test("what has failed says why, whatever it failed at", () => {
  expect(failureOf("FAILED", { message: "no room left" })).toBe("no room left");
  expect(failureOf("FAILED_UPDATING", { statusMessage: "too small" })).toBe("too small");
  expect(failureOf("FAILED")).toBe("the platform gave no reason");
});

test("what works, or is being worked on, has not failed", () => {
  for (const state of ["AVAILABLE", "DEPLOYING", "UPDATING", "DESTROYING"]) expect(failureOf(state)).toBeUndefined();
});
