import { describe, expect, test } from "vitest";
import { misfits } from "../../src/kinds/fields/compare.ts";
import { kinds } from "../../src/kinds/index.ts";

describe("a resource is not adopted", () => {
  const [first] = kinds;
  if (!first) throw new Error("no kind");
  const kind = { ...first, immutable: { type: "why", a: "why" }, grows: ["size"] };
  test.each([
    ["a fixed field", { field: "type", wanted: "HDD", found: "SSD" }],
    ["a part of a fixed field", { field: "a.b", wanted: "1", found: "2" }],
    ["a size that would have to shrink", { field: "size", wanted: "10", found: "20" }],
  ])("%s", (_, drift) => {
    expect(misfits(kind, [drift])).toEqual([drift]);
  });
  test.each([
    ["a size that can grow", { field: "size", wanted: "20", found: "10" }],
    ["a field that can be changed", { field: "name", wanted: "a", found: "b" }],
    ["a field whose name begins like a fixed one", { field: "ab", wanted: "a", found: "b" }],
  ])("not %s", (_, drift) => {
    expect(misfits(kind, [drift])).toEqual([]);
  });
});
