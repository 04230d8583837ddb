import { expect, it } from "vitest";
import { asItIs, rulesOf, withOnly, withoutRules } from "../../bench/admission/variants.ts";
import { server } from "../../src/kinds/compute/server/server.ts";

const rulesIn = (value: unknown): number => JSON.stringify(value).split('"rule":').length - 1;

it("the CRD as it is has all of its rules, its copy none", () => {
  expect(rulesOf(server).length).toBeGreaterThan(10);
  expect(rulesIn(asItIs(server).crd)).toBe(rulesOf(server).length);
  expect(rulesIn(withoutRules(server).crd)).toBe(0);
});

it("every rule can be had alone, as often as wanted, each time as another text", () => {
  for (const placed of rulesOf(server)) {
    const { crd } = withOnly(server, placed, 3, "rule.example.com");
    expect(rulesIn(crd)).toBe(3);
    const texts = [...JSON.stringify(crd).matchAll(/"rule":("(?:[^"\\]|\\.)*")/g)].map(([, text]) => text);
    expect(new Set(texts).size).toBe(3);
  }
});
