import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readStatus } from "../../src/engine/status/status.ts";
import { createQueue } from "../../src/kube/queue/queue.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { createLiveness } from "../../src/operator/liveness.ts";
import type { PlatformCall } from "../../src/platform/calls/transport.ts";
import { sleep } from "../../src/runtime/clock.ts";
import { fakePlatform } from "../engine/support/fake-platform.ts";
import { objectOf } from "../engine/support/fixtures.ts";
import { accountOf, credentials, runEngine } from "../engine/support/running-engine.ts";
import { BEGIN } from "../engine/support/stage.ts";
import { fakeClock } from "../fake-clock.ts";

const HOUR = 3_600_000;

/** A working operator with its liveness probe. `answer` answers calls to the platform. */
async function operate(
  objects: readonly KubeObject[],
  answer: (call: PlatformCall) => Promise<unknown> | undefined,
  workers = 4,
) {
  const clock = fakeClock();
  const platform = fakePlatform();
  const passes: { kind: string; result: string; seconds: number }[] = [];
  const queue = createQueue({ clock, random: () => 1, workers, laneOf: (key) => lanes.of(key) });
  const lanes = { of: (key: string) => ({ account: "main", namespace: key, shared: false }) };
  const liveness = createLiveness(clock, () => queue);
  const engine = await runEngine(
    [accountOf("main", { objectStorage: "https://s3.example.com" }), credentials, ...objects],
    {
      clock,
      queue,
      workers,
      platform,
      connect(id) {
        const connection = platform.connectionOf(id);
        return {
          ...connection,
          contractNumber: 1,
          async send(call) {
            call.guard?.();
            const answered = answer(call);
            return answered ? { status: 200, headers: {}, body: await answered } : connection.send(call);
          },
        };
      },
      observe(pass) {
        passes.push(pass);
        if (pass.result !== "timeout") liveness.beat();
      },
    },
  );
  liveness.begin();
  const problems: string[] = [];
  const ready = (object: KubeObject) =>
    readStatus(engine.api.get(object) ?? object).conditions?.find(({ type }) => type === "Ready");
  return {
    ...engine,
    clock,
    passes,
    liveness,
    problems,
    ready,
    /** A hanging pass is ended by its deadline, so time has to pass. */
    async [Symbol.asyncDispose]() {
      const ended = engine[Symbol.asyncDispose]();
      await clock.advance(80_000);
      await ended;
    },
    /** Time passes, and the kubelet probes now and then. */
    async live(seconds: number) {
      for (let left = seconds; left > 0; left -= 10) {
        await clock.advance(Math.min(10, left) * 1000);
        problems.push(...[liveness.problem() ?? []].flat());
      }
    },
  };
}

const datacenter = (name: string, more: object = {}) =>
  objectOf("Datacenter", name, { spec: { location: "de/txl", ...more }, metadata: { name, namespace: "shop" } });

test("an activity log of 28 s a page, hundreds of pages long, keeps nobody waiting and is exported as a whole", async () => {
  const COUNT = 2_000;
  const from = BEGIN - 3 * HOUR;
  const audit = objectOf("ActivityLogExport", "audit", {
    spec: {
      from: new Date(from).toISOString(),
      destination: { bucket: { name: "audit", secretRef: { name: "s3" } } },
    },
    metadata: { name: "audit", creationTimestamp: new Date(BEGIN).toISOString() },
  });
  const text = (value: string) => Buffer.from(value).toString("base64");
  const s3 = objectOf("Secret", "s3", { apiVersion: "v1", data: { accessKey: text("a"), secretKey: text("b") } });
  const log = Array.from({ length: COUNT }, (_, nth) => ({
    time: new Date(from + nth * 1000).toISOString(),
    action: `nth-${nth}`,
  }));
  const asked: string[] = [];
  const delivered: string[] = [];
  const answer = (call: PlatformCall) => {
    const url = new URL(call.url);
    if (call.method === "PUT") {
      const lines = gunzipSync(call.bytes ?? "")
        .toString()
        .trim()
        .split("\n");
      delivered.push(...lines.map((line): string => JSON.parse(line).action));
      return Promise.resolve(undefined);
    }
    if (!url.pathname.includes("/activitylog/")) return undefined;
    asked.push(url.search);
    const { dateStart = "", dateEnd = "", offset } = Object.fromEntries(url.searchParams);
    const hits = log.filter(({ time }) => time >= dateStart && time < dateEnd).map((_source) => ({ _source }));
    const page = hits.slice(Number(offset), Number(offset) + 10);
    return sleep(operator.clock, 28_000).then(() => ({ hits: { total: hits.length, hits: page } }));
  };
  await using operator = await operate([audit, s3], answer);
  await operator.live(120);
  const other = datacenter("other");
  operator.put(other);
  await operator.live(120);
  expect(operator.ready(other)?.status).toBe("True");
  expect(operator.ready(audit)?.reason).toBe("CatchingUp");
  expect(delivered).toEqual([]);
  const status = () => Object(operator.api.get(audit)?.status);
  for (let steps = 0; steps < 2_000 && status().begun === undefined; steps++) await operator.live(10);
  // Compression takes real time, in which the fake clock stands still.
  await expect.poll(() => status().entriesDelivered, { timeout: 30_000 }).toBe(COUNT);
  expect(delivered.sort()).toEqual(log.map(({ action }) => action).sort());
  expect(operator.problems).toEqual([]);
  // Each pass has read a page of its own.
  const exports = operator.passes.filter(({ kind }) => kind === "ActivityLogExport");
  expect(Math.max(...exports.map(({ seconds }) => seconds))).toBeLessThan(60);
  expect(asked.length).toBeGreaterThan(COUNT / 10);
  expect(asked.length).toBeGreaterThanOrEqual(exports.length - 10);
  const pages = asked.filter((query) => !query.includes("limit=1&") && !query.endsWith("limit=1"));
  expect(new Set(pages).size).toBe(pages.length);
});

describe("a step that hangs for ever", () => {
  const id = "8b7d1a3e-0f5c-4a52-9d1c-1f2e3d4c5b6a";
  const stuck = datacenter("stuck", { externalId: id });

  test("is ended at the deadline of its pass: the object says why, and comes back with a growing pause", async () => {
    const begunAt: number[] = [];
    let hangs = true;
    const answer = (call: PlatformCall) => {
      if (!hangs || call.method !== "GET" || !call.url.includes(id)) return undefined;
      begunAt.push(operator.clock.monotonic());
      return new Promise<never>(() => {});
    };
    await using operator = await operate([stuck, datacenter("other")], answer, 8);
    await operator.live(90);
    expect(operator.ready(stuck)).toMatchObject({ status: "False", reason: "PlatformUnavailable" });
    expect(operator.ready(stuck)?.message).toContain("took longer than 60 s");
    expect(operator.ready(datacenter("other"))?.status).toBe("True");
    await operator.live(600);
    const pauses = begunAt.map((at, nth) => at - (begunAt[nth - 1] ?? at) - 60_000).slice(1);
    expect(pauses.length).toBeGreaterThan(3);
    // Up to the longest pause.
    for (const [nth, pause] of pauses.slice(0, 6).entries()) expect(pause).toBeGreaterThan(pauses[nth - 1] ?? 0);
    expect(operator.problems).toEqual([]);
    hangs = false;
    operator.platform.items.set(id, {
      state: "AVAILABLE",
      properties: { name: "stuck", location: "de/txl" },
      user: "u1",
    });
    await operator.live(300);
    expect(operator.ready(stuck)?.reason).not.toBe("PlatformUnavailable");
  });

  test("in every pass, with others waiting, is what liveness fails for", async () => {
    const all = Array.from({ length: 6 }, (_, nth) =>
      datacenter(`stuck-${nth}`, { externalId: `${nth}${id.slice(1)}` }),
    );
    const isHung = (call: PlatformCall) => call.method === "GET" && /datacenters\/\d/.test(call.url);
    const answer = (call: PlatformCall) => (isHung(call) ? new Promise<never>(() => {}) : undefined);
    await using operator = await operate(all, answer, 1);
    await operator.live(60);
    expect(operator.problems).toEqual([]);
    await operator.live(240);
    expect(operator.problems[0]).toMatch(/objects are waiting, and no worker has made progress for \d+ s/);
  });
});
