import { expect } from "vitest";
import { readStatus } from "../../../src/engine/status/status.ts";
import type { KubeCall } from "../../../src/kube/client/transport.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { fakeApiServer, isDryRun } from "../support/fake-api-server.ts";
import { type FakePipelines, fakePipelines } from "../support/fake-pipelines.ts";
import { objectOf } from "../support/fixtures.ts";
import { stage } from "../support/stage.ts";

export const A = "MetricPipeline/shop/a";
export const SECRET = "a-metricpipeline";
export const pipeline = (spec: object = {}): KubeObject => objectOf("MetricPipeline", "a", { spec });

const worlds: { api: ReturnType<typeof fakeApiServer>; platform: FakePipelines; reported: string[] }[] = [];

/** No world has shown a key outside the Secret. */
export function checkWorlds(): void {
  for (const { api, platform, reported } of worlds.splice(0)) {
    const visible = JSON.stringify([api.get(pipeline()), api.get(objectOf("Secret", SECRET))?.metadata, reported]);
    for (const key of platform.keys) expect(visible).not.toContain(key);
  }
}

/** A platform and an API server that outlive the operator's processes. */
export function open(object = pipeline()) {
  const platform = fakePipelines();
  const api = fakeApiServer(object);
  const reported: string[] = [];
  let nonces = 0;
  worlds.push({ api, platform, reported });
  const secret = () => api.get(objectOf("Secret", SECRET));
  const held = () => {
    const data: object = Object(secret()?.data);
    const key: unknown = Reflect.get(data, "key");
    return typeof key === "string" ? Buffer.from(key, "base64").toString() : undefined;
  };
  /** One process of the operator, which starts by reading what exists. */
  function live() {
    const life = stage([object], { api, connection: platform.connection });
    life.deps.nonce = () => `unique-${++nonces}`;
    const found = secret();
    if (found) life.deps.published.put(found);
    /** Repeats passes and waits, until the object rests or nothing more can be done. */
    async function settle(rounds = 40): Promise<string[]> {
      const steps: string[] = [];
      for (let round = 0; round < rounds && steps.at(-1) !== "rest"; round++) {
        life.sync();
        steps.push(...(await life.passes(A)));
        if (steps.at(-1) !== "rest") await life.clock.advance(2000);
      }
      reported.push(...life.events);
      return steps;
    }
    return { ...life, settle };
  }
  const annotate = (annotations: Record<string, string>) => {
    const current = api.get(object) ?? object;
    const { metadata } = current;
    api.put({ ...current, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } });
  };
  const status = () => readStatus(api.get(object) ?? object);
  return { object, platform, api, secret, held, live, annotate, status };
}

export const isSecret = (call: KubeCall) => call.path.includes("/secrets") && call.method !== "GET" && !isDryRun(call);

/** Throws at the first matching call, like a crash: nothing happens after it. */
export function dieAt<Call>(
  world: { beforeEach(hook: (call: Call) => void): void },
  fits: (call: Call) => boolean,
): void {
  world.beforeEach((call) => {
    if (fits(call)) throw new Error("died");
  });
}
