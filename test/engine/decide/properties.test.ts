import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Decision } from "../../../src/engine/decide/decision.ts";
import { writeKeyOf } from "../../../src/engine/state/intent.ts";
import { isAccepted, MOST_ACCEPTED } from "../../../src/engine/state/memory.ts";
import { needsPerson, reasons } from "../../../src/engine/status/reasons.ts";
import { anyFacts, decideOn, type Facts, STEPS } from "../support/views.ts";

const RUNS = 12_000;
const LEAST = 200;
/** The views that a property is about. */
const ENOUGH = 50;
const seed = Date.now() % 1_000_000_007;
const views = fc.sample(anyFacts, { numRuns: RUNS, seed });
const decided = views.map((view) => ({ view, decision: decideOn(view) }));

/** Checks that `holds` is true for the decision about any view. */
function always(holds: (view: Facts, decision: Decision) => void) {
  for (const { view, decision } of decided) {
    try {
      holds(view, decision);
    } catch (error) {
      throw new Error(`seed ${seed}: ${JSON.stringify({ decision, view }, null, 1)}`, { cause: error });
    }
  }
}

/** Checks that it is true for each decision with one of these steps. */
function whenever<S extends Decision["step"]>(
  steps: readonly S[],
  holds: (view: Facts, decision: Extract<Decision, { step: S }>) => void,
) {
  const is = (decision: Decision): decision is Extract<Decision, { step: S }> =>
    steps.some((step) => step === decision.step);
  always((view, decision) => {
    if (is(decision)) holds(view, decision);
  });
}

/** Checks that enough views match `fits` for a property to mean something. */
function among(fits: (view: Facts) => boolean, holds: (view: Facts, decision: Decision) => void) {
  expect(decided.filter(({ view }) => fits(view)).length, `views with seed ${seed}`).toBeGreaterThan(ENOUGH);
  always((view, decision) => {
    if (fits(view)) holds(view, decision);
  });
}

test(`every step is taken at least ${LEAST} times`, () => {
  const counts = new Map(STEPS.map((step) => [step, 0]));
  for (const { decision } of decided) counts.set(decision.step, (counts.get(decision.step) ?? 0) + 1);
  const rare = [...counts].filter(([, count]) => count < LEAST);
  expect(rare, `seed ${seed}: ${JSON.stringify(Object.fromEntries(counts))}`).toEqual([]);
});

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

const retained = ({ deletionPolicy, observed }: Facts) => deletionPolicy === "Retain" || observed;
/** A write before a deletion, not one that keeps the resource up to date. */
const isFarewell = ({ observation }: Facts, decision: Decision) =>
  decision.step === "update" && observation.seen === "present" && decision.operation === observation.preDelete;
const isOpen = ({ request }: Facts) => request?.outcome === "unanswered";
/** Nobody needs the result of the creation: there is a resource, or the object names one. */
const isGivenUp = ({ intent, adopt }: Facts) => intent !== undefined && (intent.succeeds ?? adopt) !== undefined;

test("nothing that is to be done on the platform waits for the output, or for what is in its way", () => {
  always((view, decision) => {
    const free = decideOn({ ...view, output: undefined });
    if (!["rest", "stall", "wait"].includes(free.step)) expect(decision).toEqual(free);
  });
});

test("an object rests as Ready only when its output was written once, or is about to be written again", () => {
  whenever(["rest"], ({ output, now }, { obstacle }) => {
    expect(output).not.toBe("unknown");
    if (typeof output !== "object") return expect(obstacle).toBeUndefined();
    expect(output.dueAt).toBeGreaterThan(now);
    expect(obstacle).toEqual(output.obstacle);
  });
});

const absenceOf = ({ observation }: Facts) => (observation.seen === "absent" ? observation.absence : observation.seen);

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

  test("changes nothing for it either, except by taking something away", () => {
    const refused = ({ ungranted, deleting }: Facts) => ungranted !== undefined && !deleting;
    among(refused, (_, decision) => {
      if (decision.step === "update") expect(decision.operation.method).toBe("DELETE");
    });
  });

  test("asks nothing of the platform for an object before the pause after a failure is over", () => {
    among(pausing, (_, decision) => {
      expect(CALLS).not.toContain(decision.step);
      if (decision.step === "wait") expect(decision.look).not.toBe("member");
    });
  });

  test("says why it pauses, and for how long", () => {
    among(pausing, (view, decision) => {
      const free = decideOn({ ...view, failure: undefined });
      const calls = CALLS.some((step) => step === free.step) || (free.step === "wait" && free.look === "member");
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
        if (ends) expect(decision).toMatchObject({ step: "wait", look: "list" });
        else expect(decision).toEqual(fresh);
      },
    );
  });
});

describe("in every view", () => {
  test("nothing is created for an object that owns something, is deleted, or has something in its way", () => {
    whenever(["create"], (view) => {
      expect(view.claim).toBeUndefined();
      expect(view.deleting).toBe(false);
      expect(view.accountObstacle ?? view.specObstacle).toBeUndefined();
      expect([view.unwanted, view.unchecked, view.unlisted]).toEqual([false, false, false]);
    });
  });

  test("where spec asks for no resource, none is made or kept, and all is well only when there is none", () => {
    const unwanted = ({ unwanted, observed, deleting }: Facts) => unwanted && !observed && !deleting;
    among(unwanted, (view, decision) => {
      if (isFarewell(view, decision)) return;
      expect(["create", "adopt", "update", "publish", "output", "rest"]).not.toContain(decision.step);
    });
    whenever(["idle"], ({ claim, previous, unwanted }) =>
      expect([claim, previous, unwanted]).toEqual([undefined, undefined, true]),
    );
  });

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

  test("nothing is created while an intent is open, unless it certainly made nothing", () => {
    whenever(["create"], ({ intent, unsent, search, settledAt, successive }) => {
      if (!intent || unsent) return;
      // With keys that expire, it need not be known which of too many was created.
      const tooMany = successive && search && search.matches.length > search.rivals;
      expect(search).toMatchObject({ ...(!tooMany && { matches: [] }), pending: false, inFlight: false });
      expect(search?.beganAt).toBeGreaterThanOrEqual(settledAt);
    });
  });

  test("nothing is begun for a deleted object", () => {
    among(
      ({ deleting }) => deleting,
      (_, { step }) => expect(["create", "adopt", "renew", "publish", "forget"]).not.toContain(step),
    );
  });

  test("only what is claimed is deleted or changed, and only what was seen at rest", () => {
    whenever(["delete", "update", "renew", "publish"], (view) => {
      expect(view.claim).toBeDefined();
      expect(view.observation).toMatchObject({ seen: "present", busy: false });
    });
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

  test("nothing is deleted that still holds something, unless that is wanted", () => {
    const isAsked = ({ contents }: Facts) => contents?.ignored === false || contents?.guests === true;
    among(isAsked, ({ contents, observation }, { step }) => {
      if (step !== "delete" || observation.seen !== "present") return;
      expect(contents).toMatchObject({ leaving: [], staying: [], found: { names: [] } });
      expect(contents?.found?.asOf).toBeGreaterThanOrEqual(observation.asOf);
    });
  });

  test("what has to come before a deletion comes before it", () => {
    whenever(["delete"], ({ observation }) => expect(observation).not.toHaveProperty("preDelete"));
  });

  test("a deletion is not sent again while one is under way", () => {
    whenever(["delete"], ({ request }) => {
      if (request?.action !== "delete" && request?.action !== "replace") return;
      expect(["DONE", "FAILED", "accepted"]).toContain(request.outcome);
    });
  });

  test("what was done is not done again but on a reading that would show it", () => {
    const isUnseen = ({ request, observation, believedMs }: Facts) =>
      request?.unseen === true &&
      request.action !== "create" &&
      observation.seen === "present" &&
      observation.asOf < request.since + believedMs;
    among(isUnseen, (view, decision) => expect(decision.step === "update" && !isFarewell(view, decision)).toBe(false));
  });

  test("while it is not known what became of a write, the resource is not changed", () => {
    among(isOpen, (_, { step }) => expect(["update", "publish"]).not.toContain(step));
  });

  test("what became of a write is asked only when it got no answer", () => {
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

  test("an observed resource is not written", () => {
    among(
      ({ observed }) => observed,
      (_, { step }) => expect(["create", "update", "renew", "publish", "delete"]).not.toContain(step),
    );
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

  test("what cannot be created or deleted is neither", () => {
    among(
      ({ permanent }) => permanent,
      (_, { step }) => expect(["create", "delete"]).not.toContain(step),
    );
  });

  test("an existing resource is taken over only by an object that has none and has begun none", () => {
    whenever(["adopt"], (view, { id }) => {
      if (!view.permanent) expect(id).toBe(view.adopt);
      expect(view.claim ?? view.intent ?? view.accountObstacle ?? view.specObstacle).toBeUndefined();
      expect(view.deleting).toBe(false);
    });
  });

  test("an object that is to take over an existing resource never makes one of its own", () => {
    among(
      ({ adopt }) => adopt !== undefined,
      (_, { step }) => expect(step).not.toBe("create"),
    );
  });

  test("a paused object is let be, but for the marks that keep it from going without its resource", () => {
    among(
      ({ paused }) => paused,
      (_, { step }) => expect(["pause", "mark", "ignore"]).toContain(step),
    );
  });

  test("a person is asked for exactly where waiting does not help", () => {
    whenever(["wait", "stall"], (_, { step, reason }) => expect(step === "stall").toBe(needsPerson(reason)));
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

  test("there is a step, or a reason from the closed list with words for people", () => {
    always((_, decision) => {
      const said = "reason" in decision ? decision.reason in reasons && decision.message.trim() !== "" : true;
      if (!said) expect.fail("no reason or no words for people");
    });
  });

  test("a pause has an end in the future", () => {
    whenever(["stall"], (_, { recheckMs = 1 }) => expect(recheckMs).toBeGreaterThan(0));
    whenever(["wait"], (_, { recheckMs = 1 }) => expect(recheckMs).toBeGreaterThan(0));
  });

  test("the same view gives the same decision and stays as it was", () => {
    for (const { view, decision } of decided.slice(0, 2000)) {
      const before = structuredClone(view);
      expect(decideOn(view)).toEqual(decision);
      expect(view).toEqual(before);
    }
  });
});
