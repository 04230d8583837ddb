import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bounded } from "../../../src/kinds/fields/bounded.ts";

const said = fc.anything({
  withNullPrototype: false,
  values: [
    fc.string({ unit: "binary" }),
    fc.integer(),
    fc.boolean(),
    fc.constant("\u001b[2J\n"),
    fc.constant("\ud800"),
  ],
});

describe("text that is written into a status", () => {
  it("has no control characters in it, is valid Unicode, and stays as it is when it is written again", () => {
    fc.assert(
      fc.property(said, (value) => {
        const json = JSON.stringify(bounded(value)) ?? "null";
        JSON.parse(json, (name, each) => {
          for (const text of typeof each === "string" ? [name, each] : [name])
            expect(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(text)).toBe(false);
          return each;
        });
        expect(JSON.stringify(bounded(bounded(value))) ?? "null").toBe(json);
      }),
    );
  });

  it("is bounded in the length of texts and lists, and in the number of names", () => {
    const many = Array.from({ length: 100_000 }, (_, n) => ({ ip: `10.0.0.${n}`, serverName: "x".repeat(10_000) }));
    const names = Object.fromEntries(many.map((_, n) => [`name${n}`, n]));
    for (const value of [many, names, "x".repeat(1e6), { [`a${"b".repeat(1e6)}`]: 1 }])
      expect(JSON.stringify(bounded(value)).length).toBeLessThan(210_000);
  });

  it("is whole where a platform says no more than it has to", () => {
    const ips = Array.from({ length: 10_000 }, (_, n) => `203.113.${100 + (n % 100)}.${100 + (n % 150)}`);
    const status = { ips, size: 10_000, name: "Größe 🚢", absent: undefined, nothing: null, on: true };
    expect(bounded(status)).toEqual(status);
  });
});
