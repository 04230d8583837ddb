import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Died, Failed, modelOperator } from "./model-operator.ts";
import { type Choose, type Fate, modelPlatform, type PlatformOptions } from "./model-platform.ts";
import { claimants, claimed, openIntent, type Stored, stored, write } from "./model-state.ts";

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

type Happening = "a step" | "many steps" | "a crash" | "time" | "much time" | "a deletion";

interface Scenario extends PlatformOptions {
  objects: () => Stored[];
  deletions: boolean;
  seed?: number;
}

/** Lets the scenario happen, then lets everything come to rest; returns what is there in the end. */
function live(objects: Stored[], numbers: readonly number[], scenario: Omit<Scenario, "objects" | "seed">) {
  const { deletions } = scenario;
  const choices = choicesOf(numbers);
  const { choose } = choices;
  const platform = modelPlatform(choose, scenario);
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
      if (error instanceof Died) crash();
      else if (error instanceof Failed) passes.delete(object);
      else throw error;
    }
    const id = claimed(object);
    if (id !== undefined && claimants(objects, id).length > 1) throw new Error(`${id} is claimed twice`);
  };
  const others: Happening[] = [
    "a crash",
    "time",
    "time",
    "much time",
    ...Array<Happening>(7).fill("a step"),
    "many steps",
    "many steps",
    ...(deletions ? ["a deletion" as const] : []),
  ];
  while (choices.left > 0) {
    const happening = choose<Happening>("a step", ...others);
    const object = choose(...nonEmpty(objects));
    if (happening === "a step") step(object);
    if (happening === "many steps") for (let count = 0; count < 6; count++) step(object);
    if (happening === "time") platform.advance(1500);
    if (happening === "much time") platform.advance(70_000);
    // The API server lets an object without a finalizer go at once.
    if (happening === "a deletion" && !object.deleting) write(object, { deleting: true, gone: !object.finalizer });
    if (happening === "a crash") crash();
  }
  const atRest = () =>
    passes.size === 0 &&
    objects.every(
      (object) => object.gone || (object.ready && !object.request && !object.deleting && !openIntent(object)),
    );
  for (let round = 0; round < 800 && !atRest(); round++) {
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

function check({ objects, seed, ...scenario }: Scenario, numRuns: number, maxLength = 150) {
  fc.assert(
    fc.property(fc.array(fc.nat(59), { maxLength, size: "max" }), (numbers) => {
      const all = objects();
      const { platform, atRest } = live(all, numbers, scenario);
      const owned = all.filter(({ gone }) => !gone).map(({ id }) => id);
      expect(owned.toSorted()).toEqual(platform.truth().toSorted());
      expect(new Set(owned).size).toBe(owned.length);
      expect(all.filter(({ deleting, gone }) => deleting && !gone)).toEqual([]);
      expect(atRest).toBe(true);
    }),
    { numRuns, ...(seed !== undefined && { seed }) },
  );
}

const one = () => [stored("a", "body")];
const equals = {
  objects: () => [stored("a", "body"), stored("b", "body"), stored("c", "body")],
};

/** Many scenarios take their time on a busy machine. */
const timeout = 60_000;

describe("whatever is lost, late or interrupted", { timeout }, () => {
  test("an object has exactly one resource in the end", () => {
    check({ objects: one, deletions: false }, 1000);
  });

  test("a deleted object leaves nothing behind", () => {
    check({ objects: one, deletions: true }, 1000);
  });

  test("objects with different bodies never take what is the other's", () => {
    check({ objects: () => [stored("a", "one"), stored("b", "two")], deletions: true }, 500);
  });

  test("objects with equal bodies have exactly one resource each", () => {
    check({ ...equals, deletions: false }, 800, 250);
  });

  test("of objects with equal bodies, the deleted ones leave nothing behind and take nothing from the others", () => {
    check({ ...equals, deletions: true }, 800, 250);
  });

  test("a creation that was put off is looked for as long as any other", () => {
    const fates: Fate[] = ["slow down", "slow down", "executed late", "answer lost"];
    check({ objects: one, deletions: true, fates }, 500);
    check({ ...equals, deletions: true, fates }, 400, 250);
  });
});
