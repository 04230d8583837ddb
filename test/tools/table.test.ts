import { describe, expect, it } from "vitest";
import { groups } from "../../src/tools/table/row.ts";
import { table } from "../../src/tools/table/table.ts";

const inGroup = (group: string) => table.filter((row) => row.group === group);

describe("the table", () => {
  it.each([
    ["compute", 50],
    ["objectstorage", 23],
    ["dns", 14],
    ["billing", 15],
    ["cert", 6],
    ["activitylog", 2],
    ["k8s", 8],
  ])("has the tools of the public server: %s %i", (group, count) => {
    expect(inGroup(group)).toHaveLength(count);
  });

  it("has at least ten tools of Mooring's own", () => {
    expect(inGroup("mooring").length).toBeGreaterThanOrEqual(10);
    expect(Object.keys(groups).filter((group) => inGroup(group).length === 0)).toEqual([]);
  });

  it("has each name once, and only names that promise to read", () => {
    const names = table.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^(list|get|head)_[a-z0-9_]+$/.test(name))).toEqual(["why_not_ready"]);
  });

  it("reads with GET and HEAD only, and no path that makes something", () => {
    const reads = table.flatMap(({ work }) => ("read" in work ? [work.read] : []));
    expect(new Set(reads.map(({ method }) => method))).toEqual(new Set(["GET", "HEAD"]));
    expect(reads.filter(({ path }) => /generate|sso|kubeconfig|\/token/.test(path))).toEqual([]);
  });

  it("names in its descriptions only tools that there are", () => {
    const known = new Set(table.map(({ name }) => name));
    const mentioned = table.flatMap(({ description }) => description.match(/\b(?:list|get|head)_[a-z0-9_]+\b/g) ?? []);
    expect(mentioned.length).toBeGreaterThan(30);
    expect(mentioned.filter((name) => !known.has(name))).toEqual([]);
  });
});
