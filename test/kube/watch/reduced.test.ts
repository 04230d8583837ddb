import { expect, test } from "vitest";
import { reducedData, reducedMetadata } from "../../../src/kube/watch/reduced.ts";

const own = { prefix: "m/" };

test("kept annotations and data are measured in bytes: what has two bytes a character counts twice", () => {
  const fits = { "m/a": "a".repeat(10_000), "m/b": "b" };
  expect(reducedMetadata({ name: "x", annotations: fits }, own).annotations).toEqual(fits);
  const wide = { "m/a": "ä".repeat(10_000), "m/b": "b" };
  expect(reducedMetadata({ name: "x", annotations: wide }, own).annotations).toEqual({ "m/b": "b" });
  const [short, long] = ["s", "ä".repeat(40_000)];
  expect(reducedData({ short, long })).toEqual({ short });
  expect(reducedData({ short, long: "a".repeat(40_000) })).toEqual({ short, long: "a".repeat(40_000) });
});
