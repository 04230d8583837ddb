import { describe, expect, test } from "vitest";
import { bornOf, isClaimed } from "../../src/engine/objects/birth.ts";

const made = (createdDate: unknown) => ({ id: "3", metadata: { createdDate } });
const claim = { id: "3", parents: {}, account: "shop/main" };
const ours = { ...claim, born: "2026-01-01T10:00:00Z" };

describe("what has an id that is given away again", () => {
  test("is what was claimed when the platform made it at the same time, however that is written", () => {
    expect(isClaimed(ours, made("2026-01-01T10:00:00Z"))).toBe(true);
    expect(isClaimed(ours, made("2026-01-01T11:00:00.000+01:00"))).toBe(true);
  });

  test("is the next one when the platform made it at another time, skewed clocks aside", () => {
    expect(isClaimed(ours, made("2026-01-01T10:03:00Z"))).toBe(false);
    expect(isClaimed(ours, made("2026-01-01T09:57:00Z"))).toBe(false);
    expect(isClaimed(ours, made("2026-01-01T10:01:00Z"))).toBe(true);
  });

  test("is what was claimed as long as nothing says otherwise", () => {
    expect(isClaimed(claim, made("2026-01-01T10:03:00Z"))).toBe(true);
    for (const strange of [made("yesterday"), made(null), {}, null]) {
      expect(bornOf(strange)).toBeUndefined();
      expect(isClaimed(ours, strange)).toBe(true);
    }
  });
});
