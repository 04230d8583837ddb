import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Died, modelOperator, openIntent, type Stored, stored } from "./model-operator.ts";
import { type Choose, modelPlatform } from "./model-platform.ts";

/** Takes its choices from a list of numbers; when that is used up, everything goes well. */
function choicesOf(numbers: readonly number[]): { choose: Choose; readonly left: number } {
  let next = 0;
  return {
    choose: (first, ...others) => [first, ...others][(numbers[next++] ?? 0) % (others.length + 1)] ?? first,
    get left() {
      return Math.max(0, numbers.length - next);
    },
  };
}

type Happening = "a step" | "a crash" | "time" | "much time" | "a deletion";

/** Lets the scenario happen, then lets everything come to rest; returns what is there in the end. */
function live(objects: Stored[], numbers: readonly number[], deletions: boolean) {
  const choices = choicesOf(numbers);
  const { choose } = choices;
  const platform = modelPlatform(choose);
  let operator = modelOperator(platform, objects, choose);
  let passes = new Map<Stored, Generator<void>>();
  const crash = () => {
    operator = modelOperator(platform, objects, choose);
    passes = new Map();
  };
  const step = (object: Stored) => {
    const pass = passes.get(object) ?? operator.pass(object);
    try {
      if (pass.next().done) passes.delete(object);
      else passes.set(object, pass);
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      crash();
    }
  };
  const others: Happening[] = [
    "a crash",
    "time",
    "much time",
    "a step",
    "a step",
    ...(deletions ? ["a deletion" as const] : []),
  ];
  while (choices.left > 0) {
    const happening = choose<Happening>("a step", ...others);
    const object = choose(...nonEmpty(objects));
    if (happening === "a step") step(object);
    if (happening === "time") platform.advance(1500);
    if (happening === "much time") platform.advance(70_000);
    if (happening === "a deletion") object.deleting = true;
    if (happening === "a crash") crash();
  }
  const atRest = () =>
    passes.size === 0 &&
    objects.every(
      (object) => object.gone || (object.ready && !object.request && !object.deleting && !openIntent(object)),
    );
  for (let round = 0; round < 400 && !atRest(); round++) {
    for (const object of objects) step(object);
    platform.advance(1000);
  }
  return { platform, atRest: atRest() };
}

function nonEmpty<T>(list: readonly T[]): [T, ...T[]] {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error("a scenario needs an object");
  return [first, ...rest];
}

const scenario = fc.array(fc.nat(59), { maxLength: 150, size: "max" });
const check = (objects: () => Stored[], deletions: boolean, numRuns: number) =>
  fc.assert(
    fc.property(scenario, (numbers) => {
      const all = objects();
      const { platform, atRest } = live(all, numbers, deletions);
      const owned = all.filter(({ gone }) => !gone).map(({ id }) => id);
      expect(owned.toSorted()).toEqual(platform.truth().toSorted());
      expect(new Set(owned).size).toBe(owned.length);
      expect(all.filter(({ deleting, gone }) => deleting && !gone)).toEqual([]);
      expect(atRest).toBe(true);
    }),
    { numRuns },
  );

describe("whatever is lost, late or interrupted", () => {
  test("an object has exactly one resource in the end", () => {
    check(() => [stored("a", "body")], false, 2500);
  });

  test("a deleted object leaves nothing behind", () => {
    check(() => [stored("a", "body")], true, 2500);
  });

  test("objects with different bodies never take what is the other's", () => {
    check(() => [stored("a", "one"), stored("b", "two")], true, 1500);
  });
});
