import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AbsenceFacts, deletionOf, interrupted, judge, missed } from "../../../src/engine/state/presence.ts";
import type { Deletion } from "../../../src/platform/products/requests.ts";
import { SETTINGS } from "../support/stage.ts";

const { missingMs } = SETTINGS;
const NONE = { logged: true };

describe("the fold over answers that do not show a resource", () => {
  const answer = fc.record({
    afterMs: fc.integer({ min: 1, max: 400_000 }),
    is: fc.constantFrom("credible", "credible", "credible", "doubtful", "trouble"),
  });

  test("says missing exactly after credible answers alone, close together, over the whole time", () => {
    const property = fc.property(
      fc.array(answer, { maxLength: 30 }),
      fc.integer({ min: 1, max: 900_000 }),
      (answers, ms) => {
        let at = 0;
        let facts: AbsenceFacts | undefined;
        /** The answers since the last one that was no evidence or came too late after the one before. */
        let row: number[] = [];
        for (const { afterMs, is } of answers) {
          at += afterMs;
          if (is === "trouble") facts = interrupted(facts);
          else facts = missed(facts, { at, credible: is === "credible", logs: NONE });
          if (is !== "credible") row = [];
          else row = row.length > 0 && afterMs <= 180_000 ? [...row, at] : [at];
          const lasted = (row.at(-1) ?? 0) - (row[0] ?? 0);
          expect(judge(facts, { missingMs: ms })).toBe(row.length > 0 && lasted >= ms ? "missing" : "unseen");
        }
      },
    );
    fc.assert(property, { numRuns: 500 });
  });

  test("says deleted only when a log tells of a deletion that is done", () => {
    const done: Deletion = { requestId: "r", path: "/x/1", status: "DONE", at: 0, targets: [] };
    const facts = (deletion?: Deletion) =>
      missed(undefined, { at: 0, credible: false, logs: { logged: true, deletion } });
    expect(judge(facts(done), { missingMs })).toBe("deleted");
    expect(judge(facts({ ...done, status: "BUSY" }), { missingMs })).toBe("leaving");
    expect(judge(facts({ ...done, status: "FAILED" }), { missingMs })).toBe("unseen");
    expect(judge(interrupted(facts(done)), { missingMs })).toBe("deleted");
    const unknown: Deletion = { ...done, status: "UNKNOWN" };
    expect(judge(facts(unknown), { missingMs })).toBe("unseen");
    const row = { since: 0, last: missingMs };
    expect(judge({ since: 0, row, logged: true, deletion: unknown }, { missingMs })).toBe("deleted");
    expect(judge({ since: 0, row, logged: true }, { missingMs })).toBe("missing");
    expect(judge(undefined, { missingMs })).toBe("unseen");
  });
});

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
    expect(deletionOf(where, [each]) !== undefined).toBe(counts);
  });

  test("of a number counts only when it is younger than what has the number", () => {
    const lan = { id: "1", collection: "/datacenters/d/lans", within: ["d"], reusesIds: true };
    const each = deletion("/datacenters/d/lans/1", { targets: ["1"] });
    expect(deletionOf({ ...lan, born: "2026-01-01T00:00:01Z" }, [each])).toBeUndefined();
    expect(deletionOf({ ...lan, born: "2025-12-31T00:00:00Z" }, [each])).toBe(each);
    expect(deletionOf(lan, [each])).toBeUndefined();
  });
});
