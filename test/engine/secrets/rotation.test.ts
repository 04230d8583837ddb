import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dueAt } from "../../../src/kinds/fields/secrets/rotation.ts";

const HOUR = 3_600;
const keyOf = (issuedAt: string) => ({ version: 1, issuedAt, fingerprint: "f" });
const due = (issuedAt: string, everySeconds: number, at?: string) =>
  new Date(dueAt(keyOf(issuedAt), { everySeconds, ...(at && { at }) }) ?? 0).toISOString();

describe("a key", () => {
  test("is renewed when its time is over", () => {
    expect(due("2026-01-01T10:00:00.000Z", 24 * HOUR)).toBe("2026-01-02T10:00:00.000Z");
  });

  test("is renewed at the wanted time of the day, once its time is over", () => {
    expect(due("2026-01-01T10:00:00.000Z", 24 * HOUR, "12:30")).toBe("2026-01-02T12:30:00.000Z");
    expect(due("2026-01-01T10:00:00.000Z", 24 * HOUR, "03:00")).toBe("2026-01-03T03:00:00.000Z");
    expect(due("2026-01-01T10:00:00.000Z", 24 * HOUR, "10:00")).toBe("2026-01-02T10:00:00.000Z");
  });

  test("is never renewed before its time, nor more than a day after", () => {
    const minute = fc.integer({ min: 0, max: 1439 });
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4e12 }),
        fc.integer({ min: HOUR, max: 1e7 }),
        minute,
        (issued, every, of) => {
          const at = `${String(Math.floor(of / 60)).padStart(2, "0")}:${String(of % 60).padStart(2, "0")}`;
          const when = dueAt(keyOf(new Date(issued).toISOString()), { everySeconds: every, at }) ?? 0;
          expect(when).toBeGreaterThanOrEqual(issued + every * 1000);
          expect(when).toBeLessThan(issued + every * 1000 + 86_400_000);
          expect(new Date(when).toISOString().slice(11, 16)).toBe(at);
        },
      ),
    );
  });
});

describe("a certificate", () => {
  const certificate = {
    ...keyOf("2026-01-01T00:00:00.000Z"),
    serial: "1",
    expiresAt: "2026-01-31T00:00:00.000Z",
  };

  test("is renewed when two thirds of its life are over", () => {
    expect(new Date(dueAt(certificate, {}) ?? 0).toISOString()).toBe("2026-01-21T00:00:00.000Z");
  });

  test("is renewed as long before it expires as spec sets", () => {
    expect(new Date(dueAt(certificate, { beforeEndSeconds: 24 * HOUR }) ?? 0).toISOString()).toBe(
      "2026-01-30T00:00:00.000Z",
    );
  });

  test("is not renewed before the platform is to be asked again", () => {
    const later = Date.UTC(2026, 0, 25);
    expect(dueAt(certificate, {}, { after: later })).toBe(later);
    expect(dueAt(certificate, {}, { after: Date.UTC(2026, 0, 5) })).toBe(Date.UTC(2026, 0, 21));
  });
});

test("without a rotation nothing is due by itself", () => {
  expect(dueAt(keyOf("2026-01-01T00:00:00.000Z"), undefined)).toBeUndefined();
});
