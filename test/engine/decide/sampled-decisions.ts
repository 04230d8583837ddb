import fc from "fast-check";
import { expect } from "vitest";
import type { Decision } from "../../../src/engine/decide/decision.ts";
import { anyFacts } from "../support/any-view/any-facts.ts";
import { decideOn, type Facts } from "../support/views.ts";

const RUNS = 12_000;
/** How often each step is taken, at least. */
export const LEAST = 200;
/** The views that a property is about, at least. */
const ENOUGH = 50;
export const seed = Date.now() % 1_000_000_007;
const views = fc.sample(anyFacts, { numRuns: RUNS, seed });
export const decided = views.map((view) => ({ view, decision: decideOn(view) }));

/** Checks that `holds` is true for the decision about any view. */
export function always(holds: (view: Facts, decision: Decision) => void) {
  for (const { view, decision } of decided) {
    try {
      holds(view, decision);
    } catch (error) {
      throw new Error(`seed ${seed}: ${JSON.stringify({ decision, view }, null, 1)}`, { cause: error });
    }
  }
}

/** Checks that it is true for each decision with one of these steps, and that there are enough of them. */
export function whenever<S extends Decision["step"]>(
  steps: readonly S[],
  holds: (view: Facts, decision: Extract<Decision, { step: S }>) => void,
) {
  const is = (decision: Decision): decision is Extract<Decision, { step: S }> =>
    steps.some((step) => step === decision.step);
  expect(decided.filter(({ decision }) => is(decision)).length, `${steps} with seed ${seed}`).toBeGreaterThan(ENOUGH);
  always((view, decision) => {
    if (is(decision)) holds(view, decision);
  });
}

/** Checks that enough views match `fits` for a property to mean something. */
export function among(fits: (view: Facts) => boolean, holds: (view: Facts, decision: Decision) => void) {
  expect(decided.filter(({ view }) => fits(view)).length, `views with seed ${seed}`).toBeGreaterThan(ENOUGH);
  always((view, decision) => {
    if (fits(view)) holds(view, decision);
  });
}

export const retained = ({ deletionPolicy, observed }: Facts) => deletionPolicy === "Retain" || observed;
/** A write before a deletion, not one that keeps the resource up to date. */
export const isPreDelete = ({ observation }: Facts, decision: Decision) =>
  decision.step === "update" && observation.seen === "present" && decision.operation === observation.preDelete;
