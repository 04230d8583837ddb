import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Decision } from "../../../src/engine/decide/decision.ts";
import { anyFacts, recoveringFacts } from "../support/any-view/any-facts.ts";
import { decideOn, type Facts } from "../support/views.ts";

const FRESH = 5000;
const PAUSE = 2000;

/** Checks that `holds` is true for the decision about any view with an open intent. */
function always(holds: (view: Facts, decision: Decision) => void) {
  // gate-properties.test.ts checks which steps the gate delays, and for how long.
  const open = anyFacts
    .filter(({ intent, unsent, hasFinalizer, recorded }) => intent !== undefined && !unsent && hasFinalizer && recorded)
    .map((view) => ({ ...view, failure: undefined }));
  for (const [views, numRuns] of [[recoveringFacts, 2500] as const, [open, 300] as const]) {
    fc.assert(
      fc.property(views, (view) => holds(view, decideOn(view))),
      { numRuns },
    );
  }
}

const retained = ({ deletionPolicy, observed }: Facts) => deletionPolicy === "Retain" || observed;

/** More candidates than can have been created, of a type that nobody can use and that expires: all are left alone. */
const isLeft = ({ search, successive }: Facts) =>
  successive && search !== undefined && search.matches.length > search.rivals;

/** Nothing of the open intent can appear any more, and two later reads found nothing to claim. */
const certainlyNothing = ({ search, settledAt, now, ...view }: Facts) =>
  search !== undefined &&
  (search.matches.length === 0 || isLeft({ search, settledAt, now, ...view })) &&
  !search.inFlight &&
  !search.pending &&
  search.beganAt >= settledAt &&
  search.settledSearches > 1 &&
  now - search.beganAt < FRESH;

describe("in every view of an open intent", { timeout: 60_000 }, () => {
  test("nothing is created while an unclaimed match exists, or one may still appear", () => {
    always((view, { step }) => {
      if (step === "create") expect(certainlyNothing(view)).toBe(true);
    });
  });

  test("a deleted object is not let go while an unclaimed match exists, or one may still appear", () => {
    always((view, { step }) => {
      if (step === "release" && !retained(view)) expect(certainlyNothing(view)).toBe(true);
    });
  });

  test("an object whose intent certainly made nothing goes on at once", () => {
    always((view, decision) => {
      if (view.paused || view.accountObstacle || !certainlyNothing(view)) return;
      expect(decision.step).not.toBe("search");
      expect(decision).not.toMatchObject({ reason: "Recovering" });
    });
  });

  test("only a match is claimed, by a young look, and never one of too many", () => {
    always(({ search, now }, decision) => {
      if (decision.step !== "claim") return;
      const { matches = [], rivals = 0, beganAt = 0 } = search ?? {};
      expect(matches).toContain(decision.identity);
      expect(matches.length).toBeLessThanOrEqual(rivals);
      expect(now - beganAt).toBeLessThan(FRESH);
    });
  });

  test("nothing is claimed while an equal creation or claim is under way, or something accepted cannot be seen", () => {
    always(({ search }, { step }) => {
      if (step === "claim") expect(search).toMatchObject({ inFlight: false, pending: false });
    });
  });

  test("nothing is claimed while its own may still appear beside what an equal made", () => {
    always(({ search, settledAt }, { step }) => {
      if (step !== "claim" || !search || search.beganAt >= settledAt) return;
      expect(search.matches).toHaveLength(search.rivals);
    });
  });

  test("before everything is visible, equals never take the same match", () => {
    always((view, decision) => {
      const { search } = view;
      if (decision.step !== "claim" || !search || search.beganAt >= view.settledAt) return;
      for (let rank = 0; rank < search.rivals; rank++) {
        if (rank === search.rank) continue;
        expect(decideOn({ ...view, search: { ...search, rank } })).not.toMatchObject({
          step: "claim",
          identity: decision.identity,
        });
      }
    });
  });

  test("after the window, a match that is no surplus is claimed, whoever was first", () => {
    always((view, { step }) => {
      const { search, settledAt, now } = view;
      if (view.paused || view.accountObstacle || (view.deleting && (retained(view) || !view.hasFinalizer))) return;
      if (!search || search.inFlight || search.pending || search.beganAt < settledAt) return;
      if (now - search.beganAt >= FRESH || search.matches.length === 0 || isLeft(view)) return;
      // The former one is revoked first.
      if (view.deleting && view.previous) return;
      expect(step).toBe(search.matches.length > search.rivals ? "stall" : "claim");
    });
  });

  test("an ambiguous result is read again", () => {
    always((view, decision) => {
      if (!("reason" in decision) || decision.reason !== "Ambiguous") return;
      const recheckMs = decision.step === "stall" ? decision.recheckMs : undefined;
      expect(recheckMs).toBeGreaterThan(0);
      expect(decideOn({ ...view, now: view.now + (recheckMs ?? 0) }).step).toBe("search");
    });
  });

  test("recovery looks again by itself", () => {
    always((view, decision) => {
      if (decision.step !== "wait" || decision.reason !== "Recovering") return;
      expect(decision.recheckMs).toBeGreaterThan(0);
      expect(decideOn({ ...view, now: view.now + (decision.recheckMs ?? 0) }).step).toBe("search");
    });
  });

  test("a look that could not be the last one is not repeated without a pause", () => {
    always(({ search, now }, { step }) => {
      if (step === "search" && search) expect(now - search.beganAt).toBeGreaterThanOrEqual(PAUSE);
    });
  });

  test("while the platform hides resources, the pause between two searches grows, and the reason is told", () => {
    always((view, decision) => {
      const { search, settledAt } = view;
      if (decision.step !== "wait" || decision.reason !== "Recovering" || !search) return;
      const isHidden = search.beganAt >= settledAt && search.settledSearches === 0 && search.matches.length === 0;
      const grown = Math.min(60_000, (search.endedAt - settledAt) / 10);
      expect(decision.recheckMs).toBe(isHidden ? Math.max(PAUSE, grown) : PAUSE);
      expect(decision.message.includes("does not list resources of other objects")).toBe(isHidden);
    });
  });
});
