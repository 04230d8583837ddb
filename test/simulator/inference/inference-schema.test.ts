import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { valueFor } from "../../../src/simulator/inference/schema-value.ts";

const bounded = fc
  .tuple(fc.integer({ min: -50, max: 50 }), fc.nat({ max: 40 }))
  .map(([from, more]) => [from, from + more]);

/** Schemas in the various forms that programs use. */
const { schema: schemas } = fc.letrec<{ schema: z.ZodType }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<z.ZodType>(
      z.string(),
      z.boolean(),
      z.null(),
      z.number(),
      z.int(),
      z.iso.date(),
      z.uuid(),
      z.email(),
    ),
    fc.tuple(fc.nat({ max: 80 }), fc.nat({ max: 80 })).map(([a, b]) =>
      z
        .string()
        .min(a)
        .max(a + b),
    ),
    bounded.map(([a = 0, b = 0]) => z.int().min(a).max(b)),
    bounded.map(([a = 0, b = 0]) =>
      z
        .number()
        .gt(a)
        .lt(b + 0.5),
    ),
    fc.array(fc.string(), { minLength: 1, maxLength: 5 }).map((words) => z.enum(words)),
    fc.tuple(tie("schema"), fc.nat({ max: 3 })).map(([item, least]) => z.array(item).min(least)),
    fc.array(tie("schema"), { maxLength: 3 }).map((items) => z.strictObject(Object.fromEntries(items.entries()))),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((items) => z.union(items)),
    tie("schema").map((inner) => inner.nullable()),
    tie("schema").map((inner) => z.strictObject({ maybe: inner.optional() })),
  ),
}));

describe("an answer to a JSON schema", () => {
  it("is one that the schema accepts, whatever the prompt, and the same each time", () => {
    fc.assert(
      fc.property(schemas, fc.string({ unit: "grapheme" }), (schema, prompt) => {
        const asked = z.toJSONSchema(schema);
        const value = valueFor(asked, prompt);
        expect(schema.safeParse(JSON.parse(JSON.stringify(value))).error).toBeUndefined();
        expect(valueFor(asked, prompt)).toEqual(value);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["^[A-Z]{3}-[0-9]{4}$", {}],
    ["^(red|green|blue)$", {}],
    ["^\\d+(\\.\\d{2})?$", {}],
    ["[a-f0-9]{8}", {}],
    ["^[^a-z\\s]+@x$", { minLength: 9, maxLength: 12 }],
    ["^\\w+$", { minLength: 40 }],
  ])("keeps the pattern %s", (pattern, bounds) => {
    for (const prompt of ["hello there", "ABC-1234", ""]) {
      const value = z.string().parse(valueFor({ type: "string", pattern, ...bounds }, prompt));
      expect(value).toMatch(new RegExp(pattern, "u"));
      const { minLength = 0, maxLength = 200 }: { minLength?: number; maxLength?: number } = bounds;
      expect(value.length).toBeGreaterThanOrEqual(minLength);
      expect(value.length).toBeLessThanOrEqual(maxLength);
    }
  });

  it("keeps all of several schemas at once", () => {
    const base = { type: "object", properties: { id: { type: "integer", minimum: 5 } }, required: ["id"] };
    const schema = {
      $defs: { base },
      allOf: [{ $ref: "#/$defs/base" }, { properties: { id: { maximum: 6 }, name: { type: "string", maxLength: 4 } } }],
      required: ["name"],
    };
    const value = z.strictObject({ id: z.int().min(5).max(6), name: z.string().max(4) });
    expect(value.safeParse(valueFor(schema, "a long prompt")).error).toBeUndefined();
  });

  it.each([
    [
      "a word",
      { type: "string", not: { enum: ["hello", "there"] } },
      "hello",
      z.string().refine((it) => it !== "hello"),
    ],
    ["a number", { type: "integer", minimum: 1, maximum: 2, not: { const: 1 } }, "x", z.literal(2)],
    ["a truth", { type: "boolean", not: { const: true } }, "x", z.literal(false)],
    [
      "an object",
      { type: "object", properties: { a: { type: "boolean", not: { const: false } } } },
      "x",
      z.object({ a: z.literal(true) }),
    ],
  ])("avoids what is forbidden: %s", (_, schema, prompt, accepted) => {
    expect(accepted.safeParse(valueFor(schema, prompt)).error).toBeUndefined();
  });

  it("refuses what nothing fits, and patterns that it does not understand", () => {
    expect(() => valueFor({ type: "boolean", not: {} }, "x")).toThrow(/not/);
    expect(() => valueFor({ type: "string", pattern: "(?=a)b" }, "x")).toThrow(/pattern/);
    expect(() => valueFor({ type: "string", pattern: "(" }, "x")).toThrow(/pattern/);
  });

  it("comes to an end where the schema refers to itself", () => {
    const tree: z.ZodType = z.object({
      word: z.string(),
      next: z.lazy(() => tree.nullable()),
      children: z.array(z.lazy(() => tree)),
    });
    expect(tree.safeParse(valueFor(z.toJSONSchema(tree), "x")).error).toBeUndefined();
  });

  it.each<[string, Record<string, unknown>]>([
    ["has no end", { $ref: "#" }],
    ["has no end", { type: "object", properties: { a: { $ref: "#" } }, required: ["a"] }],
    ["has no end", { anyOf: [{ $ref: "#" }, { $ref: "#" }] }],
    ["pattern", { type: "string", pattern: "^(?=a)b$" }],
    ["bounds", { type: "integer", minimum: 1.1, maximum: 1.9 }],
    ["bounds", { type: "array", minItems: 1e9, items: {} }],
    ["another document", { $ref: "https://example.org/schema" }],
    ["is not a schema", { $ref: "#/$defs/none" }],
    ["type", { type: "ship" }],
  ])("%s: such a schema is refused", (words, schema) => {
    expect(() => valueFor(schema, "x")).toThrow(words);
  });
});
