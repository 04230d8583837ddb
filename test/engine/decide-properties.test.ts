import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decide } from "../../src/engine/decide/decide.ts";
import type { Decision } from "../../src/engine/decide/decision.ts";
import type { View } from "../../src/engine/look/view.ts";
import { reasons } from "../../src/engine/schema/reasons.ts";
import { anyView } from "./views.ts";

/** Whatever the view, its decision is as `holds` says. */
function always(holds: (view: View, decision: Decision) => void) {
  fc.assert(
    fc.property(anyView, (view) => holds(view, decide(view))),
    { numRuns: 5000 },
  );
}

const WRITES = new Set(["create", "adopt", "update", "renew", "publish", "delete", "claim", "forget", "release"]);

const retained = ({ deletionPolicy, observed }: View) => deletionPolicy === "Retain" || observed;

describe("in every view", { timeout: 60_000 }, () => {
  test("nothing is created for an object that owns something, is deleted, or waits for a failure to pass", () => {
    always((view, { step }) => {
      if (step !== "create") return;
      expect(view.claim).toBeUndefined();
      expect(view.deleting).toBe(false);
      expect(view.failure?.retryAt ?? 0).toBeLessThanOrEqual(view.now);
      expect(view.accountObstacle ?? view.specObstacle).toBeUndefined();
    });
  });

  test("only what is claimed is deleted or changed, and only what was seen at rest", () => {
    always((view, { step }) => {
      if (step !== "delete" && step !== "update") return;
      expect(view.claim).toBeDefined();
      expect(view.observation).toMatchObject({ seen: "present", busy: false });
    });
  });

  test("a resource is deleted only with its object, or to be replaced where that is allowed", () => {
    always((view, decision) => {
      if (decision.step !== "delete") return;
      expect(view.deleting).toBe(decision.action === "delete");
      if (decision.action === "replace") expect(view.replacement?.verdict).toBe("allowed");
    });
  });

  test("nothing is deleted that still holds something, unless that is wanted", () => {
    always((view, { step }) => {
      if (step !== "delete" || !view.contents || view.contents.ignored) return;
      expect(view.contents).toMatchObject({ leaving: [], staying: [], found: [] });
    });
  });

  test("what has to come before a deletion comes before it", () => {
    always((view, { step }) => {
      if (step === "delete") expect(view.observation).not.toHaveProperty("farewell");
    });
  });

  test("while it is not known what became of a write, the resource is not changed", () => {
    always((view, { step }) => {
      if (view.request?.outcome === "unanswered") expect(step).not.toBe("update");
    });
  });

  test("what became of a write is asked only when it got no answer", () => {
    always((view, { step }) => {
      if (step === "recall") expect(view.request?.outcome).toBe("unanswered");
    });
  });

  test("an observed resource is not written", () => {
    always((view, { step }) => {
      if (view.observed) expect(["create", "update", "renew", "delete"]).not.toContain(step);
    });
  });

  test("a new key is made only where there is none of this resource, or one is due", () => {
    always((view, { step }) => {
      if (step !== "renew") return;
      expect(view.claim).toBeDefined();
      expect(view.secret === "missing" || view.keyDue).toBe(true);
      expect(view.failure?.retryAt ?? 0).toBeLessThanOrEqual(view.now);
    });
  });

  test("a key that somebody else has made is ended only when that was asked for", () => {
    always((view, { step }) => {
      if (view.othersKey && !view.keyDue) expect(step).not.toBe("renew");
    });
  });

  test("what cannot be created or deleted is neither", () => {
    always((view, decision) => {
      if (!view.permanent) return;
      expect(["create", "delete"]).not.toContain(decision.step);
    });
  });

  test("an existing resource is taken over only by an object that has none and has begun none", () => {
    always((view, decision) => {
      if (decision.step !== "adopt") return;
      if (!view.permanent) expect(decision.id).toBe(view.adopt);
      expect(view.claim ?? view.intent ?? view.accountObstacle ?? view.specObstacle).toBeUndefined();
      expect(view.deleting).toBe(false);
    });
  });

  test("an object that is to take over an existing resource never makes one of its own", () => {
    always((view, { step }) => {
      if (view.adopt !== undefined) expect(step).not.toBe("create");
    });
  });

  test("a paused object is not written, here or on the platform", () => {
    always((view, { step }) => {
      if (view.paused) expect(WRITES).not.toContain(step);
    });
  });

  test("a deleted object with Retain deletes nothing", () => {
    always((view, { step }) => {
      if (view.deleting && view.deletionPolicy === "Retain") expect(step).not.toBe("delete");
    });
  });

  test("a deleted object is not let go while its resource can be seen, or a request about it is open", () => {
    always((view, { step }) => {
      if (step !== "release" || retained(view) || !view.claim || view.permanent) return;
      // Where ids are given away again, what can be seen is no proof; a deletion that is done, or a creation that failed, is.
      const { action = "", outcome } = view.request ?? {};
      const ended =
        action === "create" ? outcome === "FAILED" : /^(delete|replace)$/.test(action) && outcome === "DONE";
      if (!view.reusesIds || !ended) expect(view.observation.seen).toBe("absent");
      expect([undefined, "DONE", "FAILED"]).toContain(view.request?.outcome);
    });
  });

  test("an id is let go only when its absence was confirmed, its creation failed, or its replacement removed or left it", () => {
    always((view, decision) => {
      const replaced = view.request?.action === "replace" && view.request.outcome === "DONE";
      const left = view.permanent && view.replacement?.verdict === "allowed";
      // Where ids are given away again, nothing that is seen proves anything; the request does.
      if (view.reusesIds && view.request) {
        if (decision.step === "forget") expect(view.request.outcome).not.toBe("FAILED");
        if (decision.step === "fail" && decision.gone) expect(view.request.outcome).toBe("FAILED");
        return;
      }
      if (decision.step === "forget" && !left) {
        expect(view.observation).toMatchObject({ seen: "absent", ...(!replaced && { confirmed: true }) });
      }
      if (decision.step === "fail" && decision.gone) {
        expect(view.observation.seen).toBe("absent");
        expect(view.request?.outcome).toBe("FAILED");
      }
    });
  });

  test("there is a step, or a reason from the closed list with words for people", () => {
    always((_, decision) => {
      expect(decision.step).not.toBe("");
      if (!("reason" in decision)) return;
      expect(Object.keys(reasons)).toContain(decision.reason);
      expect(decision.message.trim()).not.toBe("");
    });
  });

  test("a failure is never followed by the same attempt without a pause", () => {
    always((view, { step }) => {
      if (!view.failure || view.failure.retryAt <= view.now) return;
      expect(["create", "adopt", "update", "delete"]).not.toContain(step);
    });
  });

  test("a pause has an end in the future", () => {
    always((_, decision) => {
      if (decision.step === "stall" && decision.retryMs !== undefined) expect(decision.retryMs).toBeGreaterThan(0);
      if (decision.step === "wait" && decision.recheckMs !== undefined) expect(decision.recheckMs).toBeGreaterThan(0);
    });
  });

  test("the same view gives the same decision and stays as it was", () => {
    fc.assert(
      fc.property(anyView, (view) => {
        const before = structuredClone(view);
        const first = decide(view);
        expect(view).toEqual(before);
        expect(decide(structuredClone(view))).toEqual(first);
      }),
      { numRuns: 2000 },
    );
  });
});
