import { afterEach, describe, expect, test } from "vitest";
import { readFacts, readStatus } from "../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { Retry } from "../../../src/platform/answers/errors.ts";
import type { Connection, PlatformCall } from "../../../src/platform/calls/transport.ts";
import { fakeApiServer } from "../support/fake-api-server.ts";
import { API } from "../support/fake-platform.ts";
import { fakeTokens } from "../support/fake-tokens.ts";
import { clusterAccountOf, objectOf } from "../support/fixtures.ts";
import { BEGIN, stage } from "../support/stage.ts";

const A = "InferenceAccess/shop/a";
const DAY = 86_400_000;
const MODELS = ["openai/gpt-oss-120b", "BAAI/bge-m3"];
const catalogue = {
  data: [{ id: MODELS[0], context_window: 128_000 }, { id: MODELS[1] }, { id: "meta-llama/Llama-3.3-70B-Instruct" }],
};
const isCatalogue = ({ url }: PlatformCall) => url === `${API}/v1/models`;

const shown: string[] = [];
const secrets: string[] = [];
afterEach(() => {
  const visible = shown.splice(0).join("\n");
  for (const value of secrets.splice(0)) expect(visible).not.toContain(value);
});

/** A platform and an API server that outlive the operator's processes. */
function open(spec: object) {
  const object = objectOf("InferenceAccess", "a", { spec: { models: MODELS, ...spec } });
  let now = () => BEGIN;
  const platform = fakeTokens(() => now());
  const asked: PlatformCall[] = [];
  let inference: () => unknown = () => catalogue;
  const connection: Connection = {
    ...platform.connection,
    async send(call) {
      if (!isCatalogue(call)) return platform.connection.send(call);
      asked.push(call);
      return { status: 200, headers: {}, body: inference() };
    },
  };
  const api = fakeApiServer(object);
  const secretOf = (name: string): Record<string, string> | undefined => {
    const found = api.get(objectOf("Secret", name));
    const data: Record<string, string> = { ...Object(found?.data) };
    return (
      found &&
      Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, "base64").toString()]))
    );
  };
  const current = () => api.get(object) ?? object;
  function live(prepare: (life: ReturnType<typeof stage>) => void = () => {}) {
    const life = stage([object], { api, connection, wallTime: now() });
    now = life.clock.now;
    prepare(life);
    for (const name of ["models", "other"]) {
      const found = api.get(objectOf("Secret", name));
      if (found) life.deps.published.put(found);
    }
    async function settle(rounds = 40): Promise<string[]> {
      const steps: string[] = [];
      for (let round = 0; round < rounds && !["rest", "idle"].includes(steps.at(-1) ?? ""); round++) {
        life.sync();
        if (!life.objects.find(A)) break;
        steps.push(...(await life.passes(A)));
        if (!["rest", "idle"].includes(steps.at(-1) ?? "")) await life.clock.advance(2000);
      }
      shown.push(JSON.stringify(current()), ...life.events);
      secrets.push(...platform.values);
      return steps;
    }
    return { ...life, settle };
  }
  function edit(change: object) {
    const before = current();
    const { generation = 1 } = before.metadata;
    const spec = Object.fromEntries(
      Object.entries({ ...Object(before.spec), ...change }).filter(([, value]) => value !== undefined),
    );
    api.put({ ...before, metadata: { ...before.metadata, generation: generation + 1 }, spec });
  }
  const ready = () => readStatus(current()).conditions?.find(({ type }) => type === "Ready");
  const answer = (next: typeof inference) => {
    inference = next;
  };
  const remove = () => {
    const { metadata, ...rest } = current();
    api.put({ ...rest, metadata: { ...metadata, deletionTimestamp: new Date(now()).toISOString() } });
  };
  return { object, api, platform, asked, live, edit, remove, secretOf, current, ready, answer };
}
const factsOf = (object: KubeObject) => readFacts(object);
const outage = () => {
  throw new Retry({ call: "GET /v1/models", status: 503 }, "no");
};

describe("an InferenceAccess with a Secret", () => {
  test("has a token there with the address and its models, and shows limits and prices", async () => {
    const { live, secretOf, platform, current, ready } = open({ secretName: "models" });
    await live().settle();
    expect(secretOf("models")).toEqual({
      OPENAI_BASE_URL: `${API}/v1`,
      OPENAI_API_KEY: platform.values[0],
      MODEL_OPENAI_GPT_OSS_120B: MODELS[0],
      MODEL_BAAI_BGE_M3: MODELS[1],
    });
    expect(platform.values).toHaveLength(1);
    expect(ready()).toMatchObject({ status: "True" });
    expect(factsOf(current())).toMatchObject({
      lifetime: "7d",
      limits: { requestsPerSecond: 5, burst: 10 },
      models: [
        { id: MODELS[0], contextTokens: 128_000, inputEurPerMillion: 0.15, outputEurPerMillion: 0.65 },
        { id: MODELS[1], inputEurPerMillion: 0.02, outputEurPerMillion: 0 },
      ],
    });
  });

  test("is renewed at two thirds of the token's life, also while inference is down", async () => {
    const { live, secretOf, platform, answer, asked, edit, ready } = open({ secretName: "models" });
    const { settle, skip, clock } = live();
    await settle();
    expect(asked).toHaveLength(1);
    answer(outage);
    await clock.advance(61_000);
    skip(5 * DAY);
    await settle();
    expect(secretOf("models")?.OPENAI_API_KEY).toBe(platform.values[1]);
    // The catalogue is not read again while spec names the same models.
    expect([asked.length, ready()?.status]).toEqual([1, "True"]);
    edit({ models: [MODELS[1]] });
    skip(5 * DAY);
    await settle(20);
    expect(secretOf("models")?.OPENAI_API_KEY).toBe(platform.values[2]);
    expect(ready()).toMatchObject({ reason: "PlatformUnavailable" });
    answer(() => catalogue);
    await settle();
    expect([ready()?.status, Object.keys(secretOf("models") ?? {})]).toEqual([
      "True",
      expect.not.arrayContaining(["MODEL_OPENAI_GPT_OSS_120B"]),
    ]);
    expect(platform.most()).toBe(2);
  });

  test("keeps its token and gets other keys when its models change", async () => {
    const { live, secretOf, platform, edit, current } = open({ secretName: "models" });
    const { settle } = live();
    await settle();
    edit({ models: [MODELS[1]] });
    await settle();
    expect(Object.keys(secretOf("models") ?? {}).sort()).toEqual([
      "MODEL_BAAI_BGE_M3",
      "OPENAI_API_KEY",
      "OPENAI_BASE_URL",
    ]);
    expect(secretOf("models")?.OPENAI_API_KEY).toBe(platform.values[0]);
    expect(platform.values).toHaveLength(1);
    expect(factsOf(current()).models).toEqual([{ id: MODELS[1], inputEurPerMillion: 0.02, outputEurPerMillion: 0 }]);
  });

  test("asks for no model that the platform does not have: no token is made, and the nearest are named", async () => {
    const { live, platform, ready, edit, secretOf } = open({ secretName: "models", models: ["openai/gpt-oss-12b"] });
    const { settle } = live();
    await settle(3);
    expect(platform.values).toEqual([]);
    expect(ready()).toMatchObject({ status: "False", reason: "InvalidSpec" });
    expect(ready()?.message).toContain("the platform has no model openai/gpt-oss-12b; nearest are openai/gpt-oss-120b");
    edit({ models: MODELS });
    await settle();
    edit({ models: ["baai/bge-m4"] });
    await settle(3);
    expect(ready()).toMatchObject({ reason: "InvalidSpec" });
    // A token that works continues to work.
    expect(secretOf("models")).toMatchObject({ MODEL_BAAI_BGE_M3: MODELS[1], OPENAI_API_KEY: platform.values[0] });
    expect(platform.isGood(platform.values[0])).toBe(true);
  });

  test("revokes the token when spec asks for no Secret any more, and makes another when it does again", async () => {
    const { live, platform, ready, edit, current } = open({ secretName: "models" });
    const { settle } = live();
    await settle();
    edit({ secretName: undefined });
    expect((await settle()).at(-1)).toBe("idle");
    expect([platform.items.size, readStatus(current()).id]).toEqual([0, undefined]);
    expect(ready()).toMatchObject({ status: "True", message: "InferenceAccess is in effect" });
    expect(factsOf(current())).not.toHaveProperty("tokenExpiresAt");
    edit({ secretName: "other" });
    await settle();
    expect(platform.items.size).toBe(1);
    expect(readStatus(current()).secretName).toBe("other");
  });

  test("keeps the token with Retain, and revokes it with the object otherwise", async () => {
    const kept = open({ secretName: "models", deletionPolicy: "Retain" });
    await kept.live().settle();
    kept.edit({ secretName: undefined });
    expect((await kept.live().settle()).at(-1)).toBe("idle");
    expect(kept.platform.items.size).toBe(1);
    const gone = open({ secretName: "models" });
    const { settle } = gone.live();
    await settle();
    gone.remove();
    await settle();
    expect([gone.platform.items.size, gone.api.get(gone.object)]).toEqual([0, undefined]);
  });

  test("says what is missing when the Account has no address of inference", async () => {
    const { live, ready, platform } = open({ secretName: "models" });
    const nowhere = (name: string) => {
      if (name === "inference") throw new Error("no endpoint for inference");
      return API;
    };
    const { settle } = live(({ accounts }) => {
      const main = accounts.get("shop/main");
      if (main) accounts.put({ ...main, endpoint: nowhere });
    });
    await settle(3);
    expect(ready()).toMatchObject({ reason: "EndpointInvalid", message: "no endpoint for inference" });
    expect(platform.values).toEqual([]);
  });

  test("through a ClusterAccount needs that AccessToken is admitted: the token opens the whole contract", async () => {
    const accountRef = { kind: "ClusterAccount", name: "shared" };
    const admitting = (kinds: string[] | undefined) => (life: ReturnType<typeof stage>) => {
      const spec = { namespaces: { selector: {} }, ...(kinds && { kinds }) };
      life.objects.store("ClusterAccount").put(clusterAccountOf("shared", spec));
    };
    for (const kinds of [undefined, ["InferenceAccess"], ["AccessToken"]]) {
      const { live, ready, platform } = open({ secretName: "models", accountRef });
      await live(admitting(kinds)).settle(3);
      expect([ready()?.reason, platform.values]).toEqual(["AccountNotAllowed", []]);
    }
    for (const kinds of [undefined, ["InferenceAccess"]]) {
      const { live, ready, platform } = open({ accountRef });
      await live(admitting(kinds)).settle(3);
      expect([ready()?.reason, platform.values]).toEqual(["Available", []]);
    }
    const { live, platform } = open({ secretName: "models", accountRef });
    await live(admitting(["InferenceAccess", "AccessToken"])).settle();
    expect(platform.values).toHaveLength(1);
  });
});

describe("an InferenceAccess without a Secret", () => {
  test("shows what the gateway says that it has spent, and is written only when that has changed", async () => {
    const { live, current } = open({ budget: { eurPerDay: 2 } });
    const { settle, deps } = live();
    await settle();
    expect(factsOf(current())).not.toHaveProperty("usage");
    const usage = { day: "2026-01-01", eur: 0.37 };
    deps.spending = { ...deps.spending, of: (key) => (key === A ? { usage } : undefined) };
    await settle();
    expect(factsOf(current()).usage).toEqual(usage);
    const { resourceVersion } = current().metadata;
    await settle();
    expect(current().metadata.resourceVersion).toBe(resourceVersion);
  });

  test("is Ready with limits and prices, without a token, a finalizer or another call at its next looks", async () => {
    const { live, platform, current, ready, asked, answer } = open({ budget: { eurPerDay: 2 } });
    const { settle, skip } = live();
    expect(await settle()).toEqual(["check", "idle"]);
    expect(ready()).toMatchObject({ status: "True", reason: "Available" });
    expect(platform.calls).toEqual([]);
    expect(current().metadata.finalizers ?? []).toEqual([]);
    expect(factsOf(current())).toMatchObject({ limits: { burst: 10 }, models: [{ id: MODELS[0] }, { id: MODELS[1] }] });
    answer(outage);
    skip(DAY);
    const { resourceVersion } = current().metadata;
    expect(await settle()).toEqual(["idle"]);
    expect(await live().settle()).toEqual(["idle"]);
    expect([asked.length, current().metadata.resourceVersion]).toEqual([1, resourceVersion]);
  });
});

test("a token that an AccessToken has is never taken for one of an InferenceAccess", async () => {
  const { live, platform, secretOf, current } = open({ secretName: "models" });
  const theirs = objectOf("AccessToken", "theirs");
  let lost = false;
  platform.afterEach(({ url }) => {
    if (!url.includes("generate") || lost) return;
    lost = true;
    // At the moment the answer is lost, somebody else creates an equal token.
    platform.make(604_800);
    throw new Retry({ call: "GET /tokens/generate", status: 0 }, "unknown");
  });
  const life = live();
  await life.settle(2);
  const [ours = "", other = ""] = [...platform.items.keys()];
  const claim = { id: other, parents: {}, account: "shop/main", endpoint: API };
  life.objects.store("AccessToken").put({ ...theirs, status: claim });
  await life.settle();
  expect([platform.items.has(ours), platform.items.has(other)]).toEqual([false, true]);
  expect(readStatus(current()).id).not.toBe(other);
  expect(platform.isGood(secretOf("models")?.OPENAI_API_KEY)).toBe(true);
});
