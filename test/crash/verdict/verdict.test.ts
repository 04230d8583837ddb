import { describe, expect, test } from "vitest";
import { datacenter } from "../../../src/kinds/compute/datacenter.ts";
import type { Kind } from "../../../src/kinds/kind.ts";
import { centralLogging } from "../../../src/kinds/observability/central-logging.ts";
import { fakeApiServer } from "../../engine/support/fake-api-server.ts";
import { objectOf, readyCondition } from "../../engine/support/fixtures.ts";
import { type Chapter, play } from "../lives/life.ts";
import type { Subject } from "../lives/lives.ts";
import { secretReader } from "../lives/secrets.ts";
import { CLUSTER_NAME } from "../operator.ts";
import type { Stage } from "../stage.ts";
import { judge, type Problem } from "./verdict.ts";

/** A kind that publishes a Secret, on a platform that accepts only this key. */
const feed: Kind = { ...datacenter, kind: "Feed" };
const subject: Subject = {
  kind: feed,
  account: "Account",
  life: () => ({
    prerequisites: [],
    spec: {},
    changes: [{ title: "update", spec: {} }],
    secrets: ({ metadata }) => [
      {
        name: `${metadata.name}-key`,
        works: async ({ key }) => (key === "good" ? undefined : "the platform refuses its key"),
      },
    ],
  }),
};

const secret = (key: string) =>
  objectOf("Secret", "subject-key", { apiVersion: "v1", data: { key: Buffer.from(key).toString("base64") } });

/** A stage without delays, except for the Secret. */
function stageWith(api: ReturnType<typeof fakeApiServer>, entered: (phase: string) => void): Stage {
  let there = false;
  const id = "feed-1";
  const nothing = async () => {};
  return {
    folder: "",
    log: "",
    namespace: "shop",
    ground: { api: "http://platform.test", nth: 0 },
    secret: secretReader(api.client, "shop"),
    async apply() {
      there = true;
    },
    read: async (kind, name) =>
      there
        ? objectOf(kind, name, { status: { id, observedGeneration: 1, conditions: [readyCondition()] } })
        : undefined,
    async remove() {
      there = false;
    },
    assisted: (work) => work(),
    platform: {
      steering: {
        url: "",
        token: "",
        resources: async () => [],
        made: async () => ({}),
        calls: async () => ({ total: 0, byRoute: {}, highestRatePerSecond: 0 }),
        resetCalls: nothing,
        writes: async () => [],
        faults: nothing,
        call: nothing,
      },
      snapshot: async () => ({
        resources: there ? { datacenters: [{ id }] } : {},
        accepted: {},
        labels: [{ value: CLUSTER_NAME, ids: [id] }],
        idle: true,
      }),
      [Symbol.asyncDispose]: nothing,
    },
    recorder: {
      calls: [],
      reached: 0,
      enter: entered,
      arrived: () => ({ fatal: undefined, isWrite: false, ended: () => {} }),
      quietMs: () => Number.POSITIVE_INFINITY,
      isUp: () => ({ watching: true, talking: true }),
    },
    operator: {
      process: 1,
      ended: undefined,
      start() {},
      restart() {},
      freeze() {},
      thaw() {},
      stop: nothing,
      kill: nothing,
    },
    begin() {},
    unrest: () => undefined,
    [Symbol.asyncDispose]: nothing,
  };
}

/** The problems of a whole life. `change` edits the Secret at the start of a phase. */
async function problemsOf(change: (api: ReturnType<typeof fakeApiServer>, phase: string) => void): Promise<Problem[]> {
  const api = fakeApiServer();
  const problems: Problem[] = [];
  const stage = stageWith(api, (phase) => change(api, phase));
  const life = play(stage, subject, { targets: [], impatient: false });
  const { value: before } = await life.next();
  if (!before) throw new Error("the life has no beginning");
  for await (const chapter of life) problems.push(...judge(feed, before, chapter, undefined));
  return problems;
}

describe("a life whose object promises a Secret", () => {
  test("is without fault when the Secret is there and works whenever the object is Ready", async () => {
    const problems = await problemsOf((api, phase) => {
      if (phase === "create") api.put(secret("good"));
      if (phase === "delete") api.remove(secret("good"));
    });
    expect(problems).toEqual([]);
  });

  test("has lost it when it is missing, in each phase in which it is", async () => {
    expect(await problemsOf(() => {})).toEqual([
      { fault: "lost secret", message: "create: Secret subject-key: it does not exist" },
      { fault: "lost secret", message: "update: Secret subject-key: it does not exist" },
    ]);
  });

  test("has lost it when what it holds does not work any more", async () => {
    const problems = await problemsOf((api, phase) => api.put(secret(phase === "create" ? "good" : "bad")));
    expect(problems).toEqual([
      { fault: "lost secret", message: "update: Secret subject-key: the platform refuses its key" },
    ]);
  });
});

describe("a resource that cannot be deleted", () => {
  const left = (enabled: boolean): Chapter => ({
    phase: "delete",
    shows: { enabled: false },
    object: undefined,
    snapshot: {
      resources: { centrals: [{ id: "c-1", properties: { enabled } }] },
      accepted: {},
      labels: [],
      idle: true,
    },
    lost: [],
  });
  const before: Chapter = { ...left(false), snapshot: { resources: {}, accepted: {}, labels: [], idle: true } };

  test("may stay when its object goes, as it was before", () => {
    expect(judge(centralLogging, before, left(false), undefined)).toEqual([]);
  });

  test("must not stay as the object has made it", () => {
    expect(judge(centralLogging, before, left(true), undefined)).toEqual([
      { fault: "stuck", message: "delete: the object is gone, but enabled is true, not false" },
    ]);
  });

  test("is compared by value where it shows a list", () => {
    const shown = (zones: string[]) => ({ ...left(false), shows: { zones: ["a"] }, snapshot: snapshotOf(zones) });
    const snapshotOf = (zones: string[]) => ({
      resources: { centrals: [{ id: "c-1", properties: { zones } }] },
      accepted: {},
      labels: [],
      idle: true,
    });
    expect(judge(centralLogging, before, shown(["a"]), undefined)).toEqual([]);
    expect(judge(centralLogging, before, shown([]), undefined)).toEqual([
      { fault: "stuck", message: 'delete: the object is gone, but zones is [], not ["a"]' },
    ]);
  });
});
