import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AbsenceFacts, interrupted, judge, missed } from "../../../src/engine/state/presence.ts";
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
