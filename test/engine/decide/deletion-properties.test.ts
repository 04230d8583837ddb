import { describe, expect, test } from "vitest";
import type { Facts } from "../support/views.ts";
import { among, retained, whenever } from "./sampled-decisions.ts";

const absenceOf = ({ observation }: Facts) => (observation.seen === "absent" ? observation.absence : observation.seen);

describe("in every view", () => {
  test("nothing is begun for a deleted object", () => {
    among(
      ({ deleting }) => deleting,
      (_, { step }) => expect(["create", "adopt", "renew", "publish", "forget"]).not.toContain(step),
    );
  });

  test("a resource is deleted only with its object, where spec asks for none, or to be replaced where that is allowed or nothing was finished", () => {
    whenever(["delete"], ({ deleting, replacement, observation, unfinished, request, unwanted }, { action }) => {
      expect(deleting).toBe(action === "delete");
      if (action === "delete" || unwanted || replacement?.verdict === "allowed") return;
      expect(replacement).toBeUndefined();
      expect(observation).toHaveProperty("broken");
      expect(unfinished || request?.action === "replace").toBe(true);
    });
  });

  test("nothing is deleted for a replacement that cannot be created as spec is now", () => {
    whenever(["delete"], ({ replacement, unwanted, specObstacle, lacking, unchecked, observation }, { action }) => {
      if (action !== "replace" || !replacement || unwanted || observation.seen !== "present") return;
      expect({ specObstacle, lacking, unchecked }).toEqual({
        specObstacle: undefined,
        lacking: undefined,
        unchecked: false,
      });
    });
  });

  test("nothing is deleted that still holds something, unless that is wanted", () => {
    const isAsked = ({ contents }: Facts) => contents?.ignored === false || contents?.guests === true;
    among(isAsked, ({ contents, observation }, { step }) => {
      if (step !== "delete" || observation.seen !== "present") return;
      expect(contents).toMatchObject({ leaving: [], staying: [], found: { names: [] } });
      const { asOf = 0, since = asOf } = contents?.found ?? {};
      expect(asOf).toBeGreaterThanOrEqual(observation.asOf);
      expect(asOf - since).toBeGreaterThanOrEqual(2000);
    });
  });

  test("writes that a deletion needs first come before it", () => {
    whenever(["delete"], ({ observation }) => expect(observation).not.toHaveProperty("preDelete"));
  });

  test("a deleted object with Retain writes nothing to the platform", () => {
    among(
      ({ deleting, deletionPolicy }) => deleting && deletionPolicy === "Retain",
      (_, { step }) => expect(["release", "ignore", "pause", "mark"]).toContain(step),
    );
  });

  test("a deleted object is not let go while its resource can be seen, or a request about it is open", () => {
    whenever(["release"], (view) => {
      if (retained(view) || !view.claim || view.permanent) return;
      expect(view.observation.seen).toBe("absent");
      expect([undefined, "DONE", "FAILED"]).toContain(view.request?.outcome);
    });
  });

  test("a deleted object is let go only when absence was confirmed, its own deletion is done, or its creation failed", () => {
    whenever(["release"], (view) => {
      if (retained(view) || !view.claim || view.permanent) return;
      const { action = "", outcome } = view.request ?? {};
      const ended =
        action === "create" ? outcome === "FAILED" : /^(delete|replace)$/.test(action) && outcome === "DONE";
      if (!ended) expect(absenceOf(view)).toMatch(/deleted|missing/);
    });
  });

  test("an id is let go only when its absence was confirmed, its creation failed, or its replacement removed or left it", () => {
    whenever(["forget"], ({ request, permanent, replacement, observation, ...view }) => {
      const replaced = request?.action === "replace" && request.outcome === "DONE";
      if (view.unwanted && (permanent || view.deletionPolicy === "Retain") && observation.seen === "present") return;
      if (permanent && replacement?.verdict === "allowed" && observation.seen === "present") return;
      expect(observation.seen).toBe("absent");
      if (replaced) return;
      const [absence, logged] = observation.seen === "absent" ? [observation.absence, observation.logged] : [];
      if (view.recreateAsked) return;
      if (absence === "deleted" && replacement?.verdict === "allowed") return;
      // If there is a request log, it must show the deletion, unless spec accepts absence as evidence.
      const enough = view.recreatePolicy === "WhenMissing" || !logged ? ["deleted", "missing"] : ["deleted"];
      expect(view.recreatePolicy).not.toBe("Never");
      expect(enough).toContain(absence);
    });
    whenever(["fail"], ({ observation, request }, { gone }) => {
      if (gone) expect([observation.seen, request?.outcome]).toEqual(["absent", "FAILED"]);
    });
  });
});
