import fc from "fast-check";
import { type Facts, factsOf, intentAt, NOW, UNSETTLED } from "../views.ts";
import { consistent } from "./consistent.ts";
import { anything, FIELDS, mostly } from "./fields.ts";
import { STEPS, WAYS } from "./ways.ts";

/** The facts of every view that `observe` can put together; a way to each step is taken about equally often. */
export const anyFacts: fc.Arbitrary<Facts> = fc
  .tuple(anything, fc.constantFrom(undefined, ...STEPS), fc.nat(5), fc.subarray([...FIELDS], { maxLength: 2 }))
  .map(([fields, step, way, chance]) => {
    if (step === undefined) return consistent(factsOf(fields));
    const ways = WAYS[step];
    const by = Object.fromEntries(chance.map((field) => [field, fields[field]]));
    return consistent(factsOf({ ...ways[way % ways.length], ...by }));
  });

/** The facts of an object whose creation got no answer, with nothing else in the way: the cases that matter are common. */
export const recoveringFacts: fc.Arbitrary<Facts> = fc
  .record({
    deleting: fc.boolean(),
    at: fc.integer({ min: NOW - 2 * UNSETTLED, max: NOW }),
    seenAt: fc.integer({ min: NOW - 2 * UNSETTLED, max: NOW }),
    beganAt: fc.integer({ min: NOW - 8000, max: NOW }),
    settledSearches: fc.integer({ min: 1, max: 3 }),
    matches: fc.subarray(["id-1", "id-2", "id-3"]),
    pending: mostly(false),
    rivals: fc.integer({ min: 1, max: 3 }),
    rank: fc.nat(2),
    inFlight: mostly(false),
    looked: mostly(true),
  })
  .map(({ deleting, at, seenAt, looked, rank, rivals, ...found }) =>
    factsOf({
      deleting,
      intent: intentAt(at),
      settledAt: Math.max(at, seenAt) + UNSETTLED,
      search: looked ? { ...found, endedAt: found.beganAt, rivals, rank: rank % rivals } : undefined,
    }),
  );
