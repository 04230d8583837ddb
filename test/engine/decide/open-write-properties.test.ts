import { describe, expect, test } from "vitest";
import type { Facts } from "../support/views.ts";
import { among, isPreDelete, whenever } from "./sampled-decisions.ts";

const isOpen = ({ request }: Facts) => request?.outcome === "unanswered";
/** Nobody needs the result of the creation: there is a resource, or the object names one. */
const isGivenUp = ({ intent, adopt }: Facts) => intent !== undefined && (intent.succeeds ?? adopt) !== undefined;

describe("in every view", () => {
  test("nothing is created while an intent is open, unless it certainly made nothing", () => {
    whenever(["create"], ({ intent, unsent, search, settledAt, successive }) => {
      if (!intent || unsent) return;
      // With keys that expire, it need not be known which of too many was created.
      const tooMany = successive && search && search.matches.length > search.rivals;
      expect(search).toMatchObject({ ...(!tooMany && { matches: [] }), pending: false, inFlight: false });
      expect(search?.beganAt).toBeGreaterThanOrEqual(settledAt);
    });
  });

  test("a deletion is not sent again while one is under way", () => {
    whenever(["delete"], ({ request }) => {
      if (request?.action !== "delete" && request?.action !== "replace") return;
      expect(["DONE", "FAILED", "accepted"]).toContain(request.outcome);
    });
  });

  test("a change that is done is not made again before a reading that would show it", () => {
    const isUnseen = ({ request, observation, believedMs }: Facts) =>
      request?.unseen === true &&
      request.action !== "create" &&
      observation.seen === "present" &&
      observation.asOf < request.since + believedMs;
    among(isUnseen, (view, decision) => expect(decision.step === "update" && !isPreDelete(view, decision)).toBe(false));
  });

  test("while it is not known what became of a write, the resource is not changed", () => {
    among(isOpen, (_, { step }) => expect(["update", "publish"]).not.toContain(step));
  });

  test("the outcome of a write is asked only when it got no answer", () => {
    whenever(["recall", "retract", "deliver"], (view, { step }) =>
      expect(isOpen(view) || (step === "retract" && isGivenUp(view))).toBe(true),
    );
  });

  test("a creation is given up only when it was certainly not made, or cannot be told from others", () => {
    whenever(["retract"], ({ intent, unsent, search, settledAt }) => {
      if (!intent || unsent) return;
      expect(search).toMatchObject({ pending: false, inFlight: false });
      const { matches = [], rivals = 0, beganAt } = search ?? {};
      expect(matches.length === 0 || matches.length > rivals).toBe(true);
      expect(beganAt).toBeGreaterThanOrEqual(settledAt);
    });
  });

  test("a write without an answer is given up only when a search after its whole time did not find it", () => {
    whenever(["retract"], ({ intent, request, renewal, deleting, now }) => {
      if (intent) return;
      const certainAt = request?.settledAt ?? Number.POSITIVE_INFINITY;
      // A key that nobody needs any more is not searched for.
      if (renewal === "lost" && deleting) return expect(now).toBeGreaterThanOrEqual(certainAt);
      expect(renewal).toBeUndefined();
      expect(request?.recalledAt).toBeGreaterThanOrEqual(certainAt);
    });
  });

  test("the log is not searched again without a pause", () => {
    whenever(["recall"], ({ request, now }) => {
      if (request?.recalledAt !== undefined) expect(now - request.recalledAt).toBeGreaterThanOrEqual(2000);
    });
  });
});
