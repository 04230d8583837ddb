import { describe, expect, it } from "vitest";
import { createResults, type FigureName } from "../../bench/scale/figures.ts";
import { contenderNames, readOptions, scenarioNames } from "../../bench/scale/options.ts";
import { median, rowsOf, tableOf } from "../../bench/scale/table.ts";

function resultsOf(figure: FigureName, mooring: number[], peer: number[] = []) {
  const results = createResults();
  for (const value of mooring) results.add("mooring", figure, value);
  for (const value of peer) results.add("peer", figure, value);
  return results;
}

describe("a figure", () => {
  it.each([
    { mooring: [23], peer: [20], met: true },
    { mooring: [24], peer: [20], met: false },
    { mooring: [10, 23, 90], peer: [20, 21, 2], met: true },
    { mooring: [23], peer: [], met: undefined },
    { mooring: [], peer: [20], met: undefined },
  ])("with a goal against the peer: $mooring against $peer is $met", ({ mooring, peer, met }) => {
    expect(rowsOf(resultsOf("createSeconds", mooring, peer), 1020).map((row) => row.met)).toEqual([met]);
  });

  it.each([
    { objects: 1020, met: undefined },
    { objects: 10_020, met: false },
  ])("may have a goal of its own, or none, with $objects objects", ({ objects, met }) => {
    expect(rowsOf(resultsOf("createApiserver", [23], [20]), objects).map((row) => row.met)).toEqual([met]);
  });

  it.each([
    { mooring: [1.1], met: true },
    { mooring: [1.2], met: false },
  ])("with a goal of its own needs no peer: $mooring is $met", ({ mooring, met }) => {
    expect(rowsOf(resultsOf("createCalls", mooring), 1020).map((row) => row.met)).toEqual([met]);
  });

  it("that nobody has measured is left out", () => {
    expect(rowsOf(createResults(), 1020)).toEqual([]);
  });

  it("of several rounds is shown with its spread and its goal", () => {
    const table = tableOf(rowsOf(resultsOf("createSeconds", [26, 29, 27], [21, 22, 23]), 1020), contenderNames);
    expect(table.split("\n")[2]).toMatch(
      /22\.0 s \(21\.0–23\.0\) .* 27\.0 s \(26\.0–29\.0\) .* 1\.23 .* ≤ 1\.15 × peer .* missed/,
    );
  });
});

it("the median of an even number lies between the two in the middle", () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
});

describe("the options", () => {
  it("are both operators and all scenarios but the one that takes an hour, unless somebody says otherwise", () => {
    const options = readOptions([]);
    expect(options).toMatchObject({ objects: 1020, rounds: 1, workers: 16, contenders: contenderNames });
    expect(options).toMatchObject({ scenarios: new Set(scenarioNames.filter((name) => name !== "churn")) });
  });

  it.each([
    { args: ["--scenario", "create,sing"], says: '--scenario: "sing" is unknown; valid: create' },
    { args: ["--only", "other"], says: '--only: "other" is unknown; valid: mooring, peer' },
    { args: ["--objects", "many"], says: '--objects: "many" is not a whole number' },
  ])("name what is wrong: $args", ({ args, says }) => {
    expect(() => readOptions(args)).toThrow(says);
  });
});
