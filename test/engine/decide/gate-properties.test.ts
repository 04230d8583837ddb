import { describe, expect, test } from "vitest";
import type { Decision } from "../../../src/engine/decide/decision.ts";
import { writeKeyOf } from "../../../src/engine/state/intent.ts";
import { isAccepted, MOST_ACCEPTED } from "../../../src/engine/state/memory.ts";
import { needsPerson } from "../../../src/engine/status/reasons.ts";
import { decideOn, type Facts } from "../support/views.ts";
import { among, whenever } from "./sampled-decisions.ts";

/** Steps that call the platform for this object alone. */
const CALLS = [
  "check",
  "create",
  "adopt",
  "inspect",
  "search",
  "update",
  "renew",
  "publish",
  "revoke",
  "recall",
  "deliver",
  "delete",
] as const satisfies readonly Decision["step"][];

/** Steps that create something in the namespace. */
const BEGINS: readonly Decision["step"][] = ["create", "adopt", "renew", "publish", "output", "delete"];

describe("the gate", () => {
  const unmarked = ({ claim, intent, deleting, hasFinalizer, recorded }: Facts) =>
    hasFinalizer ? intent !== undefined && !recorded : (claim ?? intent) !== undefined && !deleting;
  const pausing = ({ failure, now }: Facts) => failure !== undefined && failure.retryAt > now;

  test("puts finalizer and intent back before anything else, paused or not, and only then", () => {
    among(unmarked, (_, { step }) => expect(step).toBe("mark"));
    whenever(["mark"], (view) => expect(unmarked(view)).toBe(true));
  });

  test("begins nothing in a namespace that is being deleted", () => {
    const ending = ({ terminating, deleting }: Facts) => terminating && !deleting;
    among(ending, (_, { step }) => expect(BEGINS).not.toContain(step));
  });

  test("begins nothing for an object that refers to another namespace and may not", () => {
    const refused = ({ ungranted, deleting }: Facts) => ungranted !== undefined && !deleting;
    among(refused, (_, { step }) => expect(BEGINS).not.toContain(step));
  });

  test("changes nothing for an object that refers to another namespace and may not, except by taking something away", () => {
    const refused = ({ ungranted, deleting }: Facts) => ungranted !== undefined && !deleting;
    among(refused, (_, decision) => {
      if (decision.step === "update") expect(decision.operation.method).toBe("DELETE");
    });
  });

  test("asks nothing of the platform for an object before the pause after a failure is over", () => {
    among(pausing, (_, decision) => {
      expect(CALLS).not.toContain(decision.step);
      if (decision.step === "wait") expect(decision.read).not.toBe("member");
    });
  });

  test("says why it pauses, and for how long", () => {
    among(pausing, (view, decision) => {
      const free = decideOn({ ...view, failure: undefined });
      const calls = CALLS.some((step) => step === free.step) || (free.step === "wait" && free.read === "member");
      const { reason = "Pending", message, retryAt } = view.failure ?? {};
      const inMs = (retryAt ?? 0) - view.now;
      const step = needsPerson(reason) ? { step: "stall", recheckMs: inMs } : { step: "wait", recheckMs: inMs };
      const pause = { ...step, reason, message };
      expect(calls ? [pause] : [pause, free]).toContainEqual(decision);
    });
  });

  test("sends again what was accepted only after its pause, and on a reading that is younger than that", () => {
    whenever(["update"], ({ observation, accepted, now }, decision) => {
      if (!accepted || !isAccepted(accepted, writeKeyOf(decision.operation))) return;
      expect(accepted.retryAt).toBeLessThanOrEqual(now);
      expect(observation).toMatchObject({ seen: "present" });
      if (observation.seen !== "present") return;
      expect(observation.asOf).toBeGreaterThan(Math.max(accepted.at, accepted.retryAt));
    });
  });

  test("says that a change is not applied only while a write that was accepted a few times has its pause", () => {
    whenever(["stall"], ({ accepted, now }, { reason, recheckMs }) => {
      if (reason !== "NotApplied") return;
      expect(accepted?.times).toBeGreaterThanOrEqual(MOST_ACCEPTED);
      expect(recheckMs).toBe((accepted?.retryAt ?? 0) - now);
    });
  });

  test("ends something only on a reading that is newer than the request and was understood", () => {
    whenever(["delete", "renew", "update"], ({ observation, desiredSince }, decision) => {
      if (decision.step === "update" && decision.operation.method !== "DELETE") return;
      expect(observation).toMatchObject({ seen: "present" });
      if (observation.seen !== "present") return;
      expect(observation.asOf).toBeGreaterThan(desiredSince);
      expect(observation.unclear).toBeUndefined();
    });
  });

  test("ends the former one only on a reading that is newer than the request", () => {
    whenever(["revoke"], ({ previous, desiredSince }) => expect(previous?.asOf).toBeGreaterThan(desiredSince));
  });

  test("asks for a fresh reading where one is missing: that costs a list, which serves all", () => {
    const old = ({ observation, desiredSince }: Facts) =>
      observation.seen === "present" && observation.unclear === undefined && observation.asOf <= desiredSince;
    const isRevoked = (view: Facts) => decideOn({ ...view, desiredSince: Number.NEGATIVE_INFINITY }).step === "revoke";
    const young = (view: Facts) => !isRevoked(view) || (view.previous?.asOf ?? 0) <= view.desiredSince;
    among(
      (view) => old(view) && young(view),
      (view, decision) => {
        const fresh = decideOn({ ...view, desiredSince: Number.NEGATIVE_INFINITY });
        const ends =
          fresh.step === "update"
            ? fresh.operation.method === "DELETE"
            : /^(inspect|delete|renew|revoke)$/.test(fresh.step);
        if (ends) expect(decision).toMatchObject({ step: "wait", read: "list" });
        else expect(decision).toEqual(fresh);
      },
    );
  });
});
