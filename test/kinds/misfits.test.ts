import { describe, expect, test } from "vitest";
import { misfits, misfitsInWords, missing, surplus } from "../../src/kinds/fields/compare.ts";
import { kinds } from "../../src/kinds/index.ts";

describe("a resource is not adopted", () => {
  const [first] = kinds;
  if (!first) throw new Error("no kind");
  const kind = { ...first, immutable: { type: "why", a: "why" }, grows: ["size"] };
  test.each([
    ["a fixed field", { field: "type", wanted: "HDD", found: "SSD" }],
    ["a part of a fixed field", { field: "a.b", wanted: "1", found: "2" }],
    ["a size that would have to shrink", { field: "size", wanted: "10", found: "20" }],
    ["a member that spec does not name", surplus("nics[eth1]")],
  ])("%s", (_, drift) => {
    expect(misfits(kind, [drift])).toEqual([drift]);
  });
  test.each([
    ["a size that can grow", { field: "size", wanted: "20", found: "10" }],
    ["a field that can be changed", { field: "name", wanted: "a", found: "b" }],
    ["a member that has to be added", missing("nics[eth1]")],
    ["a field whose name begins like a fixed one", { field: "ab", wanted: "a", found: "b" }],
  ])("not %s", (_, drift) => {
    expect(misfits(kind, [drift])).toEqual([]);
  });
});

test("the message has the values of fixed fields, and the members that would be lost", () => {
  const zone = { field: "zone", wanted: "A", found: "B" };
  const both = [surplus("nics[eth1]"), surplus("nics[eth0].firewallRules[ssh]")];
  const fixed =
    "zone is B on the platform and A in spec, and the platform cannot change it: correct spec, or remove the field";
  const one =
    "nics[eth1] is on the platform and not in spec, which would remove it: add it to spec, or leave out nics; once adopted, it can be removed";
  const all =
    "nics[eth1], nics[eth0].firewallRules[ssh] are on the platform and not in spec, which would remove them: add them to spec, or leave out nics and nics[eth0].firewallRules; once adopted, they can be removed";
  expect(misfitsInWords([zone])).toBe(fixed);
  expect(misfitsInWords(both.slice(0, 1))).toBe(one);
  expect(misfitsInWords([surplus("replica.nics[n1]")])).toMatch(/add it to spec, or leave out replica\.nics; /);
  expect(misfitsInWords([zone, ...both])).toBe(`${fixed}; ${all}`);
});
