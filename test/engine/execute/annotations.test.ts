import { describe, expect, test } from "vitest";
import { annotationAdvice, flagOf, isAllowed, isPaused } from "../../../src/engine/state/annotations.ts";
import { ALLOW_DATA_LOSS, ALLOW_NON_EMPTY_DELETE, PAUSED } from "../../../src/engine/state/names.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import { kinds } from "../../../src/kinds/index.ts";
import type { Kind } from "../../../src/kinds/kind.ts";
import { objectOf } from "../support/fixtures.ts";
import { restingDatacenters } from "../support/resting.ts";
import { stage } from "../support/stage.ts";

const kindOf = (name: string): Kind => {
  const found = kinds.find(({ kind }) => kind === name);
  if (!found) throw new Error(`there is no kind ${name}`);
  return found;
};
const annotated = (annotations: Record<string, string>, kind = "Server") =>
  objectOf(kind, "a", { metadata: { name: "a", annotations } });
const adviceFor = (annotations: Record<string, string>, kind = "Server") =>
  annotationAdvice(kindOf(kind), annotated(annotations, kind));

/** Annotations that are true or false. */
const FLAGS = [PAUSED, ALLOW_NON_EMPTY_DELETE, ALLOW_DATA_LOSS];

describe.each(FLAGS)("the annotation %s", (name) => {
  const kind = "Datacenter";
  const meaning = (word: string) => flagOf(annotated({ [name]: word }, kind), name);

  test.each(["true", "yes", "1", "True", " YES "])("is set with %j", (word) => {
    expect(meaning(word)).toBe("yes");
    expect(adviceFor({ [name]: word }, kind)).toEqual([]);
  });

  test.each(["false", "no", "0", "No"])("is not set with %j", (word) => {
    expect(meaning(word)).toBe("no");
    expect(adviceFor({ [name]: word }, kind)).toEqual([]);
  });

  test("is not set when it is empty, and that is reported", () => {
    expect(meaning("")).toBe("no");
    expect(adviceFor({ [name]: "" }, kind)).toEqual([
      `annotation ${name} is empty and has no effect: set it to "true", or remove it`,
    ]);
  });

  test.each(["maybe", "on", "ture", "2026-01-01"])("is on the safe side with %j, and that is reported", (word) => {
    const object = annotated({ [name]: word }, kind);
    expect(flagOf(object, name)).toBe("unclear");
    if (name === PAUSED) expect(isPaused(object)).toBe(true);
    else expect(isAllowed(object, name)).toBe(false);
    const effect = name === PAUSED ? "the object stays paused" : "it allows nothing";
    const removal = name === PAUSED ? "remove it to resume" : "remove it";
    expect(adviceFor({ [name]: word }, kind)).toEqual([
      `annotation ${name} is "${word}", which is neither true nor false: ${effect}; set it to "true", or ${removal}`,
    ]);
  });
});

test("mooring.dev/allow-data-loss names a generation as well", () => {
  expect(adviceFor({ [ALLOW_DATA_LOSS]: "17" })).toEqual([]);
  expect(isAllowed(annotated({ [ALLOW_DATA_LOSS]: "17" }), ALLOW_DATA_LOSS)).toBe(false);
});

describe("an annotation of Mooring's that has no effect", () => {
  test.each([
    ["mooring.dev/pause", "Server", "mooring.dev/paused"],
    ["mooring.dev/puased", "Server", "mooring.dev/paused"],
    ["mooring.dev/allow-dataloss", "Server", "mooring.dev/allow-data-loss"],
    ["mooring.dev/rotate", "LogPipeline", "mooring.dev/rotate-at"],
    ["mooring.dev/reconcile", "Account", "mooring.dev/reconcile-at"],
    ["mooring.dev/restore", "Snapshot", "mooring.dev/restore-at"],
    ["mooring.dev/accept-usr", "ClusterAccount", "mooring.dev/accept-user"],
  ])("%s of a %s is told with %s, which is meant", (name, kind, meant) => {
    const [reported = ""] = adviceFor({ [name]: "true" }, kind);
    expect(reported).toBe(`annotation ${name} is unknown for kind ${kind} and has no effect: did you mean ${meant}?`);
  });

  test("is reported without a suggestion if nothing is similar", () => {
    expect(adviceFor({ "mooring.dev/owner-team": "a" })).toEqual([
      "annotation mooring.dev/owner-team is unknown for kind Server and has no effect: remove it",
    ]);
  });

  test("is one that another kind has", () => {
    expect(adviceFor({ "mooring.dev/rotate-at": "now", "mooring.dev/paused": "true" }, "Grant")).toHaveLength(2);
    expect(adviceFor({ "mooring.dev/rotate-at": "now" }, "LogPipeline")).toEqual([]);
  });

  test("is not one of others, and not one that Mooring keeps", () => {
    const kept = { "mooring.dev/intent": "{}", "mooring.dev/external-id": "{}" };
    expect(adviceFor({ ...kept, "example.com/paused": "x", "kubectl.kubernetes.io/y": "z" })).toEqual([]);
  });

  test("is named among at most five", () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`mooring.dev/x-label-${n}`, ""]));
    const reported = adviceFor(many);
    expect(reported).toHaveLength(6);
    expect(reported.at(-1)).toContain("35 more are unknown");
  });
});

describe("an object with such an annotation", () => {
  function resting(annotations: Record<string, string>, others: object = {}) {
    const { platform, objects } = restingDatacenters(1);
    const [datacenter = objectOf("Datacenter", "d0")] = objects;
    const object = { ...datacenter, metadata: { ...datacenter.metadata, ...others, annotations } };
    const all = stage([object], { platform });
    const status = () => readStatus(all.api.get(object) ?? object);
    const writes = () => all.api.get(object)?.metadata.resourceVersion;
    return { all, status, writes };
  }
  const KEY = "Datacenter/shop/d0";

  test("says so in status.advice and one Event, whatever else happens to it, and costs one write", async () => {
    const { all, status, writes } = resting({ "mooring.dev/pause": "true" });
    const advice =
      "annotation mooring.dev/pause is unknown for kind Datacenter and has no effect: did you mean mooring.dev/paused?";
    await all.pass(KEY);
    await all.deps.collections.refresh(KEY);
    for (let passes = 0; passes < 5; passes++) {
      await all.clock.advance(2000);
      await all.pass(KEY);
      all.sync();
    }
    expect(status().advice).toEqual([advice]);
    const version = writes();
    await all.pass(KEY);
    expect(writes()).toBe(version);
    expect(all.events.filter((event) => event.includes("Advice"))).toEqual([`Warning Advice ${advice}`]);
  });

  test("that seems to allow something says in one Event that it does not", async () => {
    const { all, status } = resting({ "mooring.dev/allow-non-empty-delete": "ja" });
    for (let passes = 0; passes < 3; passes++) {
      await all.pass(KEY);
      await all.clock.advance(2000);
      all.sync();
    }
    expect(status().advice).toEqual([expect.stringContaining('is "ja", which is neither true nor false')]);
    expect(all.events).toEqual([expect.stringContaining("Warning Advice annotation mooring.dev/allow-non-empty")]);
  });

  test("that pauses a deletion says how the resource is kept", async () => {
    const { all, status } = resting({ "mooring.dev/paused": "true" }, { deletionTimestamp: "2026-01-01T00:00:00Z" });
    expect((await all.pass(KEY)).decision.step).toBe("pause");
    const message = expect.stringMatching(
      /^paused while it is being deleted: to keep .* deletionPolicy: Retain; without/,
    );
    expect(status().conditions).toContainEqual(expect.objectContaining({ type: "Paused", message }));
  });

  test("that cannot be understood as paused or not is paused, and says both", async () => {
    const { all, status, writes } = resting({ "mooring.dev/paused": "perhaps" });
    expect((await all.pass(KEY)).decision.step).toBe("pause");
    all.sync();
    const version = writes();
    await all.pass(KEY);
    expect(writes()).toBe(version);
    expect(status().conditions).toContainEqual(expect.objectContaining({ type: "Paused", status: "True" }));
    expect(status().advice).toEqual([expect.stringContaining('is "perhaps", which is neither true nor false')]);
    expect(all.events).toEqual([expect.stringContaining("Warning Advice annotation mooring.dev/paused is")]);
  });
});
