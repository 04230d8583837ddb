import { describe, expect, test } from "vitest";
import { settledAt } from "../../../src/engine/status/author.ts";

const by = { pod: "mooring-0", process: "this", deadlineMs: 10_000 };
const here = { settings: { settleMs: 7000 } };
const SEEN = 1000;

describe("the outcome of a write without an answer is certain", () => {
  test("after its deadline and the settle time, whoever sent it: what a dead process has sent may still be on its way", () => {
    expect(settledAt(here, by, SEEN)).toBe(SEEN + 17_000);
    expect(settledAt(here, { ...by, process: "before" }, SEEN)).toBe(SEEN + 17_000);
  });

  test("after the deadline of its own process and the settle time, when that has another deadline", () => {
    const other = { pod: "mooring-1", process: "this", deadlineMs: 25_000 };
    expect(settledAt(here, other, SEEN)).toBe(SEEN + 32_000);
  });
});
