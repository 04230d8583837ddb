import { describe, expect, it } from "vitest";
import { z } from "zod";
import { structural } from "../../../src/kube/write/structural.ts";

describe("a structural schema", () => {
  interface Tree {
    children: Tree[];
  }
  const tree: z.ZodType<Tree> = z.object({
    get children() {
      return z.array(tree);
    },
  });

  it.each([
    ["a union", z.union([z.string(), z.int()])],
    [
      "a discriminated union",
      z.discriminatedUnion("a", [z.object({ a: z.literal("x") }), z.object({ a: z.literal("y") })]),
    ],
    ["a nullable string or number", z.union([z.string(), z.number()]).nullable()],
    ["a tuple", z.tuple([z.string(), z.int()])],
    ["unknown", z.unknown()],
    ["any", z.any()],
    ["recursion", tree],
    ["a date", z.date()],
    ["lookahead", z.string().regex(/^(?=a)b/)],
    ["negative lookahead", z.string().regex(/^(?!a)b/)],
    ["lookbehind", z.string().regex(/(?<=a)b/)],
    ["negative lookbehind", z.string().regex(/(?<!a)b/)],
    ["a back reference", z.string().regex(/^(a)\1$/)],
  ])("does not exist for %s", (_, field) => {
    expect(() => structural(z.object({ list: z.array(z.object({ field })) }), "spec")).toThrow();
  });

  it("names the field that has none", () => {
    const nested = z.object({ list: z.array(z.object({ field: z.string().regex(/(?=a)/) })) });
    expect(() => structural(nested, "spec")).toThrow("spec.list[].field: RE2 has no lookaround");
  });

  it("keeps what the API server understands: limits, defaults, enumerations, extensions, maps", () => {
    const list = { "x-kubernetes-list-type": "set" };
    const either = { "x-kubernetes-int-or-string": true, enum: [7, "7", "unlimited"] };
    const source = z.object({
      text: z
        .string()
        .min(1)
        .max(9)
        .regex(/^(?:a|b)+$/)
        .describe("Text."),
      count: z.int32().min(1).max(62),
      large: z.int(),
      choice: z.enum(["A", "B"]).default("A"),
      set: z.array(z.string()).meta(list).optional(),
      map: z.record(z.string(), z.int()).optional(),
      when: z.iso.datetime().optional(),
      either: z.union([z.int(), z.string()]).meta(either).optional(),
    });
    expect(structural(source, "spec")).toEqual({
      type: "object",
      properties: {
        text: { type: "string", minLength: 1, maxLength: 9, pattern: "^(?:a|b)+$", description: "Text." },
        count: { type: "integer", minimum: 1, maximum: 62, format: "int32" },
        large: { type: "integer", format: "int64" },
        choice: { type: "string", enum: ["A", "B"], default: "A" },
        set: { type: "array", items: { type: "string" }, ...list },
        map: { type: "object", additionalProperties: { type: "integer", format: "int64" } },
        when: { type: "string", format: "date-time" },
        either,
      },
      required: ["text", "count", "large"],
    });
  });
});
