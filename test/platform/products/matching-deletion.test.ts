import { describe, expect, test } from "vitest";
import type { Deletion } from "../../../src/platform/products/requests.ts";
import { matchingDeletion } from "../../../src/platform/products/requests.ts";

describe("a deletion in a log of the platform", () => {
  const where = { id: "v", collection: "/datacenters/d/volumes", within: ["d"], reusesIds: false };
  const deletion = (path: string, more: Partial<Deletion> = {}): Deletion => ({
    requestId: "r",
    path,
    status: "DONE",
    at: Date.UTC(2026, 0, 1),
    targets: [],
    ...more,
  });
  test.each([
    ["of the resource itself", deletion("/datacenters/d/volumes/v"), true],
    ["of what it lies in", deletion("/datacenters/d"), true],
    ["of another that took it along", deletion("/datacenters/d/servers/s", { targets: ["s", "v"] }), true],
    ["of what it lies in, by its id alone", deletion("", { targets: ["d"] }), true],
    ["of one beside it", deletion("/datacenters/d/volumes/w", { targets: ["w", "d"] }), false],
    ["that detaches it", deletion("/datacenters/d/servers/s/volumes/v", { targets: ["v"] }), false],
    ["of what only begins with the same letters", deletion("/datacenters/d/volumes/vv"), false],
    ["that failed", deletion("/datacenters/d/volumes/v", { status: "FAILED" }), false],
  ])("%s counts: %s", (_, each, counts) => {
    expect(matchingDeletion(where, [each]) !== undefined).toBe(counts);
  });

  test("of a number counts only when it is younger than what has the number", () => {
    const lan = { id: "1", collection: "/datacenters/d/lans", within: ["d"], reusesIds: true };
    const each = deletion("/datacenters/d/lans/1", { targets: ["1"] });
    expect(matchingDeletion({ ...lan, born: "2026-01-01T00:00:01Z" }, [each])).toBeUndefined();
    expect(matchingDeletion({ ...lan, born: "2025-12-31T00:00:00Z" }, [each])).toBe(each);
    expect(matchingDeletion(lan, [each])).toBeUndefined();
  });
});
