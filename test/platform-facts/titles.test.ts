import { expect, it } from "vitest";
import { titlesIn } from "./titles.ts";

const shown = (source: string) => titlesIn(source).map(({ title, rows }) => [title, [...rows]]);

it("the title of a test is that of a call, with the texts of its table, also those of a constant", () => {
  expect(shown('describe("a", () => { it("b", () => { call("c"); }); });')).toEqual([
    ["a", []],
    ["b", []],
  ]);
  const table = 'const more: string[] = ["y", ...later]; const later = [`z`];';
  expect(shown(`${table} test.concurrent.each<[string]>([["x", 1], ...more])("%s", async () => {});`)).toEqual([
    ["%s", ["x", "y", "z"]],
  ]);
});

it.each([
  "// it('a', () => {})",
  "it.skip('a', () => {})",
  "test.todo('a')",
  "it.skip.each(['x'])('a', () => {})",
  "say('a')",
])("nothing that is not run has one: %s", (source) => {
  expect(shown(source)).toEqual([]);
});
