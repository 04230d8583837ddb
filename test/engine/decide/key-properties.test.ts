import { describe, expect, test } from "vitest";
import { decideOn, type Facts } from "../support/views.ts";
import { among, retained, whenever } from "./sampled-decisions.ts";

describe("in every view", () => {
  test("a key that is due is renewed whether what spec names was found or not", () => {
    const due = ({ keyDueAt = Number.POSITIVE_INFINITY, platformNow }: Facts) => keyDueAt <= platformNow;
    among(
      (view) => view.unchecked && due(view),
      (view, decision) => {
        const free = decideOn({ ...view, unchecked: false });
        if (["renew", "revoke"].includes(free.step)) expect(decision).toEqual(free);
      },
    );
    whenever(["publish"], ({ unchecked, specObstacle, secret }) =>
      expect(secret === "outdated" && unchecked && !specObstacle).toBe(false),
    );
  });

  test("there are never more than two of what succeeds each other, and the one before goes in its time", () => {
    whenever(["renew"], ({ previous }) => expect(previous).toBeUndefined());
    whenever(["revoke"], ({ previous, deleting, keyDueAt = Number.POSITIVE_INFINITY, platformNow, ...view }) => {
      const renewed = view.secret === "missing" || view.renewal === "lost" || view.replacement?.verdict === "allowed";
      const wanted = view.unwanted || renewed;
      expect(previous?.isOver || deleting || wanted || keyDueAt <= platformNow).toBe(true);
    });
    whenever(["release"], (view) => {
      if (!retained(view) && view.unknownKey === undefined) expect(view.previous).toBeUndefined();
    });
  });

  test("a new key is made only where there is none of this resource, one is due, or a lost one can no longer come", () => {
    whenever(["renew"], ({ secret, keyDueAt, platformNow, othersKey, renewal, request, now, ...view }) => {
      if (view.successive && view.replacement) return expect(view.replacement.verdict).toBe("allowed");
      if (request?.outcome === "unanswered") {
        expect(renewal).toBe("lost");
        expect(now).toBeGreaterThanOrEqual(request.settledAt ?? Number.POSITIVE_INFINITY);
      } else
        expect(
          (keyDueAt ?? Number.POSITIVE_INFINITY) <= platformNow ||
            (secret === "missing" && !othersKey && now >= (view.repair?.at ?? now)),
        ).toBe(true);
    });
  });

  test("a key that is lost is not made anew before its pause is over, nor before a read has proved it", () => {
    among(
      ({ secret, repair, othersKey, successive, request, now, replacement }) =>
        (secret === "unread" || (secret === "missing" && !othersKey && now < (repair?.at ?? now))) &&
        !(successive && replacement) &&
        request?.outcome !== "unanswered",
      (_, { step }) => expect(step).not.toBe("renew"),
    );
  });

  test("a key that has arrived is delivered, and no other one is made", () => {
    among(
      ({ renewal }) => renewal === "answered",
      (_, { step }) => expect(step).not.toBe("renew"),
    );
  });
});
