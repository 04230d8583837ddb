import { describe, expect, test } from "vitest";
import { needsPerson, reasons } from "../../../src/engine/status/reasons.ts";
import { STEPS } from "../support/any-view/ways.ts";
import { decideOn, type Facts } from "../support/views.ts";
import { always, among, decided, isPreDelete, LEAST, seed, whenever } from "./sampled-decisions.ts";

test(`every step is taken at least ${LEAST} times`, () => {
  const counts = new Map(STEPS.map((step) => [step, 0]));
  for (const { decision } of decided) counts.set(decision.step, (counts.get(decision.step) ?? 0) + 1);
  const rare = [...counts].filter(([, count]) => count < LEAST);
  expect(rare, `seed ${seed}: ${JSON.stringify(Object.fromEntries(counts))}`).toEqual([]);
});

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
      if (isPreDelete(view, decision)) return;
      expect(["create", "adopt", "update", "publish", "output", "rest"]).not.toContain(decision.step);
    });
    whenever(["idle"], ({ claim, previous, unwanted }) =>
      expect([claim, previous, unwanted]).toEqual([undefined, undefined, true]),
    );
  });

  test("only what is claimed is deleted or changed, and only what was seen at rest", () => {
    whenever(["delete", "update", "renew", "publish"], (view) => {
      expect(view.claim).toBeDefined();
      expect(view.observation).toMatchObject({ seen: "present", busy: false });
    });
  });

  test("a resource that its creation cannot have made is given up, and nothing is done to it or made instead", () => {
    always((view) => {
      const { observation } = view;
      if (observation.seen !== "present") return;
      const { step } = decideOn({ ...view, observation: { ...observation, refused: { why: "because", since: 0 } } });
      expect(["forget", "stall", "pause", "ignore", "release", "mark", "revoke", "wait"]).toContain(step);
      if (view.deleting || view.paused) return;
      expect(["forget", "stall", "mark", "wait"]).toContain(step);
    });
  });

  test("an observed resource is not written", () => {
    among(
      ({ observed }) => observed,
      (_, { step }) => expect(["create", "update", "renew", "publish", "delete"]).not.toContain(step),
    );
  });

  test("a resource that cannot be created or deleted is neither", () => {
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

  test("a paused object is left unchanged, except for the marks that keep it from going without its resource", () => {
    among(
      ({ paused }) => paused,
      (_, { step }) => expect(["pause", "mark", "ignore"]).toContain(step),
    );
  });

  test("a person is asked for exactly where waiting does not help", () => {
    whenever(["wait", "stall"], (_, { step, reason }) => expect(step === "stall").toBe(needsPerson(reason)));
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
