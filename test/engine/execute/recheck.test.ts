import { describe, expect, test } from "vitest";
import { readStatus } from "../../../src/engine/status/status.ts";
import { createQueue } from "../../../src/kube/queue/queue.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { Terminal } from "../../../src/platform/answers/errors.ts";
import { fakeClock } from "../../fake-clock.ts";
import { fakeApiServer } from "../support/fake-api-server.ts";
import { API, fakePlatform } from "../support/fake-platform.ts";
import { objectOf } from "../support/fixtures.ts";
import { restingDatacenters } from "../support/resting.ts";
import { accountOf, credentials, runEngine } from "../support/running-engine.ts";
import { SETTINGS } from "../support/stage.ts";

const pipeline = objectOf("MetricPipeline", "metrics", { spec: {} });
const monitored = () => accountOf("main", { monitoring: API }, { generation: 2 });

/** A pipeline whose Account lacks the endpoint. Returns the pipeline after some passes. */
async function stalledPipeline(options: { deaf?: () => boolean } = {}) {
  const clock = fakeClock();
  const queue = createQueue({ clock });
  const add: typeof queue.add = (key, priority) => {
    if (!options.deaf?.() || !key.startsWith("MetricPipeline/")) queue.add(key, priority);
  };
  const engine = await runEngine([accountOf("main"), credentials, pipeline], { clock, queue: { ...queue, add } });
  const reason = () => readStatus(engine.api.get(pipeline) ?? pipeline).conditions?.[0]?.reason;
  await clock.advance(0);
  await clock.advance(0);
  expect(reason()).toBe("EndpointInvalid");
  return { ...engine, clock, reason };
}

describe("level, not edge", () => {
  test("an endpoint added to a Ready Account is noticed by the pipelines that lacked it", async () => {
    await using engine = await stalledPipeline();
    engine.put(monitored());
    await engine.clock.advance(100);
    expect(engine.reason()).not.toBe("EndpointInvalid");
  });

  test("a wake that was lost is made up for by the next recheck", async () => {
    let deaf = false;
    await using engine = await stalledPipeline({ deaf: () => deaf });
    deaf = true;
    engine.put(monitored());
    await engine.clock.advance(100);
    expect(engine.reason()).toBe("EndpointInvalid");
    deaf = false;
    await engine.clock.advance(1.2 * SETTINGS.recheckMs);
    expect(engine.reason()).not.toBe("EndpointInvalid");
  });

  test("a recheck of objects at rest makes no call and no write", async () => {
    const clock = fakeClock();
    const { platform, objects } = restingDatacenters(3);
    const passes: string[] = [];
    await using engine = await runEngine([accountOf("main"), credentials, ...objects], {
      clock,
      platform,
      random: () => 0.5,
      settings: { ...SETTINGS, resyncMs: 1e9 },
      observe: ({ kind }) => passes.push(kind),
    });
    // The Account is checked once more as well, because its Secret was not read at first.
    await clock.advance(SETTINGS.recheckMs + 30_000);
    const made = () => ({ platform: platform.calls.length, kubernetes: writes(engine.api.calls) });
    const before = made();
    passes.length = 0;
    await clock.advance(SETTINGS.recheckMs);
    expect(passes).toEqual(["Datacenter", "Datacenter", "Datacenter"]);
    expect(made()).toEqual(before);
  });
});

test("a write that was refused while the Account's own status was being written is not sent again", async () => {
  const clock = fakeClock();
  const platform = fakePlatform();
  const datacenter = objectOf("Datacenter", "dc", { spec: { location: "xx/yyy" } });
  const server = fakeApiServer(accountOf("main"), credentials);
  const slow = Promise.withResolvers<void>();
  const client: typeof server.client = {
    ...server.client,
    async request(call) {
      if (call.path.endsWith("/accounts/main/status")) await slow.promise;
      return server.client.request(call);
    },
  };
  platform.beforeEach(({ method }) => {
    if (method === "POST") throw new Terminal({ call: "POST", status: 422 });
  });
  const api = { ...server, client };
  await using engine = await runEngine([accountOf("main"), credentials], { clock, platform, api, workers: 8 });
  await clock.advance(100);
  engine.put(datacenter);
  await clock.advance(100);
  const before = platform.sent("POST").length;
  slow.resolve();
  await clock.advance(100);
  expect(before).toBe(1);
  expect(readStatus(engine.api.get(datacenter) ?? datacenter).conditions?.[0]?.reason).toBe("Rejected");
  expect(platform.sent("POST")).toHaveLength(1);
});

test("a deletion that the platform refuses names the way out", async () => {
  const clock = fakeClock();
  const platform = fakePlatform();
  const block = objectOf("IPBlock", "ips", { spec: { location: "de/txl", size: 1 } });
  await using engine = await runEngine([accountOf("main"), credentials], { clock, platform });
  engine.put(block);
  await clock.advance(60_000);
  platform.beforeEach(({ method }) => {
    if (method !== "DELETE") return;
    throw new Terminal({ call: "DELETE", status: 422, platformMessage: "[ips] it is in use" });
  });
  const stored = engine.api.get(block) ?? block;
  engine.put({ ...stored, metadata: { ...stored.metadata, deletionTimestamp: new Date(clock.now()).toISOString() } });
  await clock.advance(60_000);
  const [ready] = readStatus(engine.api.get(block) ?? block).conditions ?? [];
  expect(ready).toMatchObject({
    reason: "Rejected",
    message: expect.stringContaining(
      "[ips] it is in use; end that on the platform, or set deletionPolicy: Retain, which keeps the IPBlock there",
    ),
  });
});

const writes = (calls: { method: string; path: string }[]) => calls.filter(({ method }) => method !== "GET");

test("a recheck is spread by a fifth either way", async () => {
  for (const [random, share] of [
    [0, 0.8],
    [1, 1.2],
  ] as const) {
    const clock = fakeClock();
    const later: number[] = [];
    const queue = createQueue({ clock });
    const returnAfter: typeof queue.returnAfter = (key, ms, priority) => {
      if (priority === "background") later.push(ms);
      queue.returnAfter(key, ms, priority);
    };
    const paused: KubeObject = objectOf("Datacenter", "d", {
      spec: { location: "de/txl" },
      metadata: { name: "d", annotations: { "mooring.dev/paused": "true" } },
    });
    await using _ = await runEngine([paused], { clock, queue: { ...queue, returnAfter }, random: () => random });
    await clock.advance(0);
    expect(later).toEqual([expect.closeTo(share * SETTINGS.recheckMs)]);
  }
});
