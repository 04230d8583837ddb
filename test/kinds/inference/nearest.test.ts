import { describe, expect, it } from "vitest";
import { unknownModel } from "../../../src/kinds/inference/catalogue.ts";
import { nearest } from "../../../src/kinds/inference/nearest.ts";
import { modelOf, models } from "../../../src/simulator/inference/models.ts";

const ids = models.map(({ id }) => id);

describe("similar names", () => {
  it.each([
    ["openai/gpt-oss-12b", "openai/gpt-oss-120b"],
    ["openai/gpt-4o", "openai/gpt-oss-120b"],
    ["gpt-oss-120b", "openai/gpt-oss-120b"],
    ["llama", "meta-llama/Llama-3.3-70B-Instruct"],
    ["baai/BGE-M3", "BAAI/bge-m3"],
  ])("%s is most like %s", (name, best) => expect(nearest(name, ids)[0]).toBe(best));

  it("are only those that have to do with the one that was asked for", () => {
    expect(nearest("openai/gpt-4o", ids)).toEqual(["openai/gpt-oss-120b"]);
    expect(nearest("anthropic/claude", ids)).toEqual([]);
    expect(nearest("", ids)).toEqual([]);
  });
});

describe("a model that does not exist", () => {
  it("is told with similar ones only", () => {
    expect(unknownModel("openai/gpt-4o", ids)).toBe(
      "the platform has no model openai/gpt-4o; nearest are openai/gpt-oss-120b",
    );
  });

  it("is told with those that there are if none is similar", () => {
    const all = ids.join(", ");
    expect(unknownModel("anthropic/claude", ids)).toBe(
      `the platform has no model anthropic/claude; none is similar; it has ${all}`,
    );
    expect(() => modelOf("anthropic/claude")).toThrow(`does not exist; there are ${all}`);
    expect(() => modelOf("openai/gpt-oss-12b")).toThrow("did you mean openai/gpt-oss-120b?");
  });
});
