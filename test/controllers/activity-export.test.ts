import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDestinationClients, type DestinationDeps } from "../../src/controllers/exports/destinations.ts";
import { reconcileExport } from "../../src/controllers/exports/reconcile.ts";
import { PAUSED } from "../../src/engine/state/names.ts";
import { activityLogExport } from "../../src/kinds/observability/activity-log-export.ts";
import type { Requeue } from "../../src/kube/queue/work.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { Forbidden, type PlatformError, Retry, Unauthorized } from "../../src/platform/answers/errors.ts";
import type { Connection, PlatformCall } from "../../src/platform/calls/transport.ts";
import { fakeApiServer } from "../engine/support/fake-api-server.ts";
import { objectOf, readyCondition } from "../engine/support/fixtures.ts";
import { BEGIN, stage } from "../engine/support/stage.ts";

const KEY = "ActivityLogExport/shop/audit";
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SECRET = "s3-secret-key-value";

interface Entry {
  time: string;
  action: string;
}
const entry = (at: number, action: string): Entry => ({ time: new Date(at).toISOString(), action });

const bucket = {
  name: "audit",
  endpoint: "https://s3.eu-central-3.example.com",
  prefix: "log/",
  secretRef: { name: "s3" },
};
const s3 = objectOf("Secret", "s3", {
  apiVersion: "v1",
  data: { accessKey: Buffer.from("AK").toString("base64"), secretKey: Buffer.from(`${SECRET}\n`).toString("base64") },
});

/** An export with everything that outlives the operator's processes: the API server, the log and the destination. */
function open(spec: object = { destination: { bucket } }, more: { created?: number; others?: KubeObject[] } = {}) {
  const { created = BEGIN, others = [] } = more;
  const object = objectOf("ActivityLogExport", "audit", {
    spec,
    metadata: { name: "audit", creationTimestamp: new Date(created).toISOString() },
  });
  const api = fakeApiServer(object, s3, ...others);
  const log: Entry[] = [];
  const stored = new Map<string, string>();
  const sent: PlatformCall[] = [];
  const asked: PlatformCall[] = [];
  const trouble: { read?: PlatformError; deliver?: PlatformError; answer?: object } = {};
  const told: string[] = [];
  const connectionOf = (send: (call: PlatformCall) => unknown): Connection => ({
    id: "test",
    send: async (call) => ({ status: 200, headers: {}, body: send(call) }),
    setCredentials: () => {},
    identity: undefined,
    contractNumber: 31,
    close: async () => {},
  });
  const platform = connectionOf((call) => {
    asked.push(call);
    if (trouble.read) throw trouble.read;
    const query = new URL(call.url).searchParams;
    const [from = "", to = ""] = [query.get("dateStart"), query.get("dateEnd")].map(String);
    const hits = log.filter(({ time }) => time >= from && time < to).map((_source) => ({ _source }));
    const offset = Number(query.get("offset"));
    return (
      trouble.answer ?? { hits: { total: hits.length, hits: hits.slice(offset, offset + Number(query.get("limit"))) } }
    );
  });
  const outlet = connectionOf((call) => {
    call.guard?.();
    if (trouble.deliver) throw trouble.deliver;
    sent.push(call);
    const text =
      call.method === "PUT" ? gunzipSync(call.bytes ?? "").toString() : Buffer.from(call.bytes ?? "").toString();
    stored.set(new URL(call.url).pathname, text);
    return undefined;
  });

  let now = () => BEGIN;
  function live() {
    const life = stage([object, ...others.filter(({ kind }) => kind !== "Secret")], {
      api,
      connection: platform,
      wallTime: now(),
    });
    now = life.clock.now;
    const deps: DestinationDeps = {
      ...life.deps,
      sites: { endpoints: {}, isAllowed: (url) => url.includes("example.com") },
      destinations: createDestinationClients({ connect: () => outlet }),
    };
    async function pass(): Promise<Requeue> {
      life.sync();
      const now = life.objects.find(KEY)?.object ?? object;
      const again = await reconcileExport(deps, { key: KEY, kind: activityLogExport, object: now });
      told.push(...life.events.splice(0));
      return again;
    }
    /** Passes until nothing happens for a while. */
    async function settle(): Promise<Requeue> {
      for (let nth = 0; nth < 2000; nth++) {
        const again = await pass();
        if (typeof again !== "object" || again.inMs > 0) return again;
      }
      throw new Error("it never rests");
    }
    return { ...life, deps, pass, settle };
  }
  const status = () => Object(api.get(object)?.status);
  const ready = () => [...(status().conditions ?? [])].find(({ type }) => type === "Ready");
  /** The entries at the destination. */
  const delivered = () =>
    [...stored.values()].flatMap((text) =>
      text
        .trim()
        .split("\n")
        .map((line): string => JSON.parse(line).action),
    );
  /** How far the platform's clock is ahead, by its Date headers. */
  const tell = (aheadMs: number) => Reflect.set(platform, "aheadMs", aheadMs);
  return { object, api, log, stored, sent, asked, trouble, told, live, status, ready, delivered, tell };
}

describe("an ActivityLogExport", () => {
  it("is Ready at once, and delivers every entry a minute after its time, compressed, in a folder per hour", async () => {
    const world = open();
    const { settle, skip } = world.live();
    expect(await settle()).toMatchObject({ inMs: 60_000 });
    expect(world.ready()).toMatchObject({ status: "True", reason: "Available" });
    world.log.push(
      entry(BEGIN + 5_000, "one"),
      entry(BEGIN + 61_000, "two"),
      entry(BEGIN - 1, "before it was created"),
    );
    skip(MINUTE + 5_000);
    await settle();
    expect(world.delivered()).toEqual([]);
    skip(65_000);
    await settle();
    expect(world.delivered()).toEqual(["one", "two"]);
    expect([...world.stored.keys()]).toEqual([
      expect.stringMatching(/^\/audit\/log\/2026\/01\/01\/00\/0000000-[0-9a-f]{16}\.ndjson\.gz$/),
      expect.stringMatching(/^\/audit\/log\/2026\/01\/01\/00\/0100000-[0-9a-f]{16}\.ndjson\.gz$/),
    ]);
    expect(world.status()).toMatchObject({
      account: "shop/main",
      contract: 31,
      entriesDelivered: 2,
      lastEntryTime: "2026-01-01T00:01:01.000Z",
      watermark: { time: "2026-01-01T00:02:00.000Z" },
    });
    expect(JSON.stringify([world.status(), world.told])).not.toContain(SECRET);
  });

  it("writes nothing while nothing happens, and one status in ten minutes", async () => {
    const world = open();
    const { settle, skip } = world.live();
    await settle();
    const writes = () => world.api.calls.filter(({ method }) => method === "PATCH").length;
    const before = writes();
    for (let minute = 0; minute < 30; minute++) {
      skip(MINUTE);
      await settle();
    }
    expect(writes() - before).toBeLessThanOrEqual(3);
    expect(world.asked.length).toBeLessThan(100);
  });

  it("that is killed after a delivery and before the record delivers the same objects again, and no entry twice", async () => {
    const world = open();
    const first = world.live();
    await first.settle();
    world.log.push(...[1, 5, 61, 130].map((second) => entry(BEGIN + 1000 * second, `at-${second}`)));
    first.skip(5 * MINUTE);
    let writes = 0;
    world.api.beforeEach(({ method, path }) => {
      if (method === "PATCH" && path.endsWith("/status") && ++writes % 2 === 1) throw new Error("killed");
    });
    for (let life = world.live(), nth = 0; nth < 20; nth++) {
      const ended = await life.settle().then(
        () => true,
        () => false,
      );
      if (ended) break;
      life = world.live();
    }
    expect(writes).toBeGreaterThan(2);
    expect(world.sent.length).toBeGreaterThan(3);
    expect(world.delivered().sort()).toEqual(["at-1", "at-130", "at-5", "at-61"]);
  });

  /**
   * Exports a few minutes of the log and kills the process at a status write, while late entries arrive: after this
   * many other writes, or at the first one after a PUT, which records the delivery.
   */
  async function killed(
    world: ReturnType<typeof open>,
    entries: readonly Entry[],
    kills: readonly { late: readonly Entry[]; after?: number }[],
  ) {
    const first = world.live();
    await first.settle();
    world.log.push(...entries);
    first.skip(5 * MINUTE);
    const waiting = [...kills];
    let [sent, writes] = [0, 0];
    world.api.beforeEach(({ method, path }) => {
      const [kill] = waiting;
      if (method !== "PATCH" || !path.endsWith("/status") || !kill) return;
      if (kill.after === undefined ? world.sent.length === sent : ++writes <= kill.after) return;
      sent = world.sent.length;
      writes = 0;
      waiting.shift();
      world.log.push(...kill.late);
      throw new Error("killed");
    });
    for (let nth = 0; nth <= kills.length; nth++) await Promise.allSettled([world.live().settle()]);
    const last = world.live();
    await last.settle();
    return { left: waiting.length, last };
  }
  const ofMinute = (minute: number, count: number, name: string) =>
    Array.from({ length: count }, (_, nth) => entry(BEGIN + minute * MINUTE + nth, `${name}-${minute}-${nth}`));
  const actions = (world: ReturnType<typeof open>) => world.log.map(({ action }) => action).sort();

  it("that is killed between a delivery and its record delivers no entry twice, though others came late meanwhile", async () => {
    const world = open();
    const entries = [0, 1, 2].flatMap((minute) => ofMinute(minute, 3, "in-time"));
    const kills = [0, 0, 1, 2, 0].map((minute, nth) => ({ late: ofMinute(minute, 2, `late-${nth}`) }));
    expect((await killed(world, entries, kills)).left).toBe(0);
    expect(world.delivered().sort()).toEqual(actions(world));
    expect(world.status().entriesDelivered).toBe(world.log.length);
    expect(world.status().begun).toBeUndefined();
  });

  it.each([
    ["few entries and many late ones", 20, 400],
    ["many entries and a few late ones", 900, 12],
  ])("that is killed with %s delivers each once", async (_, count, late) => {
    const world = open();
    await killed(world, ofMinute(0, count, "in-time"), [{ late: ofMinute(0, late, "late") }]);
    expect(world.delivered().sort()).toEqual(actions(world));
  });

  it("that is killed at any write, with any late entries, delivers every entry once", async () => {
    const minute = fc.integer({ min: 0, max: 3 });
    const batches = fc.array(fc.tuple(minute, fc.integer({ min: 0, max: 3 })), { minLength: 1, maxLength: 2 });
    const killing = fc.record({ after: fc.option(fc.nat(3), { nil: undefined }), batches });
    await fc.assert(
      fc.asyncProperty(batches, fc.array(killing, { maxLength: 6 }), async (inTime, all) => {
        const world = open();
        const named = (all: [number, number][], name: string) =>
          all.flatMap(([at, count], nth) => ofMinute(at, count, `${name}-${nth}`));
        const kills = all.map(({ after, batches: late }, nth) => ({
          late: named(late, `late-${nth}`),
          ...(after !== undefined && { after }),
        }));
        await killed(world, named(inTime, "in-time"), kills);
        expect(world.delivered().sort()).toEqual(actions(world));
      }),
      // In rare runs, more entries collide than can be told apart.
      { numRuns: 100, seed: 30 },
    );
  });

  it("has a record of what it is about to deliver that stays small, however many entries that are", async () => {
    const world = open();
    const { settle, skip } = world.live();
    await settle();
    world.log.push(...ofMinute(0, 5_000, "in-time"));
    skip(2 * MINUTE);
    let record = "";
    world.trouble.deliver = new Retry({ call: "PUT /audit", status: 503, detail: "down" }, "unknown");
    await settle();
    record = JSON.stringify(world.status().begun);
    expect(record.length).toBeGreaterThan(100);
    expect(record.length).toBeLessThan(5_000);
    expect(record).not.toContain("in-time");
  });

  it("that is killed before more came late than can be told apart loses nothing", async () => {
    const world = open();
    await killed(world, ofMinute(0, 1_000, "in-time"), [{ late: ofMinute(0, 1_000, "late") }]);
    expect([...new Set(world.delivered())].sort()).toEqual(actions(world));
    expect(world.status().begun).toBeUndefined();
  });

  it("waits for entries that it had read before it was killed and that the log does not show; after ten minutes it goes on", async () => {
    const world = open();
    const entries = ofMinute(0, 3, "in-time");
    const first = world.live();
    await first.settle();
    world.log.push(...entries);
    first.skip(2 * MINUTE);
    world.trouble.deliver = new Retry({ call: "PUT /audit", status: 503, detail: "down" }, "unknown");
    await first.settle();
    delete world.trouble.deliver;
    const hidden = world.log.splice(0, 1);
    const second = world.live();
    await second.settle();
    expect(world.sent).toEqual([]);
    expect(world.ready()).toMatchObject({ status: "False", reason: "PlatformUnavailable" });
    expect(world.ready().message).toContain("2026-01-01T00:00:00.000Z");
    second.skip(11 * MINUTE);
    await second.settle();
    expect(world.delivered().length).toBe(2);
    world.log.push(...hidden);
    expect(world.ready().reason).toBe("Available");
  });

  it("delivers what comes late, once, also when it is killed meanwhile", async () => {
    const world = open();
    const first = world.live();
    await first.settle();
    world.log.push(entry(BEGIN + 1000, "in time"));
    first.skip(8 * MINUTE);
    await first.settle();
    world.log.push(entry(BEGIN + 2 * MINUTE, "late"), entry(BEGIN + 1500, "late as well"));
    const second = world.live();
    await second.settle();
    await world.live().settle();
    expect(world.delivered().sort()).toEqual(["in time", "late", "late as well"]);
    expect(world.status().entriesDelivered).toBe(3);
  });

  it("begins at spec.from, by the hour where that is long ago, and is Ready when it has caught up", async () => {
    const world = open({ destination: { bucket }, from: new Date(BEGIN - 3 * DAY).toISOString() });
    world.log.push(...Array.from({ length: 72 }, (_, hour) => entry(BEGIN - 3 * DAY + hour * HOUR + 5, `h${hour}`)));
    const { pass, settle } = world.live();
    await pass();
    expect(world.ready()).toMatchObject({ status: "False", reason: "CatchingUp" });
    await settle();
    expect(world.ready()).toMatchObject({ status: "True", reason: "Available" });
    expect(world.delivered().length).toBe(72);
    expect(world.asked.length).toBeLessThan(400);
  });

  it("names the gap when the platform has deleted what is next, and goes on behind it", async () => {
    const world = open({ destination: { bucket }, from: new Date(BEGIN - 40 * DAY).toISOString() });
    world.log.push(entry(BEGIN - 30 * DAY, "kept"));
    await world.live().settle();
    expect(world.delivered()).toEqual(["kept"]);
    expect(world.ready()).toMatchObject({ status: "True", reason: "HistoryLost" });
    expect(world.ready().message).toContain(
      "entries from 2025-11-22T00:00:00.000Z to 2025-11-27T00:02:00.000Z are lost",
    );
    expect(world.told).toEqual([expect.stringContaining("Warning HistoryLost entries from 2025-11-22")]);
  });

  describe("when Date headers are wrong", () => {
    const minutes = async ({ settle, skip }: ReturnType<ReturnType<typeof open>["live"]>, count: number) => {
      for (let nth = 0; nth < count; nth++) {
        await settle();
        skip(MINUTE);
      }
    };

    it.each([40 * DAY, DAY, 2 * HOUR, 5 * MINUTE, -DAY])("by %i ms for a while, no entry is lost", async (aheadMs) => {
      const world = open();
      const life = world.live();
      await minutes(life, 3);
      world.tell(aheadMs);
      world.log.push(entry(life.clock.now() - 5_000, "before"));
      await minutes(life, 5);
      world.log.push(entry(life.clock.now() + 1_000, "during"));
      await minutes(life, 5);
      expect(Date.parse(world.status().watermark.time)).toBeLessThanOrEqual(life.clock.now());
      world.tell(0);
      world.log.push(entry(life.clock.now() + 1_000, "after"));
      life.skip(HOUR);
      await minutes(world.live(), 3);
      expect(world.delivered()).toEqual(["before", "during", "after"]);
      expect(world.status().lost).toBeUndefined();
      expect(world.told.join()).not.toContain("HistoryLost");
    });

    it("an entry that comes late to a minute is still looked for", async () => {
      const world = open();
      const life = world.live();
      world.tell(40 * DAY);
      await minutes(life, 3);
      world.log.push(entry(BEGIN + 5_000, "late"));
      await minutes(life, 2);
      expect(world.delivered()).toEqual(["late"]);
    });
  });

  it("follows a platform that is ahead of our own clock as far as its log goes, and no further", async () => {
    const world = open();
    const life = world.live();
    await life.settle();
    world.tell(HOUR);
    world.log.push(entry(BEGIN + 30 * MINUTE, "one"), entry(BEGIN + 40 * MINUTE, "two"));
    life.skip(MINUTE);
    await life.settle();
    expect(world.delivered()).toEqual(["one"]);
    expect(Date.parse(world.status().watermark.time)).toBeLessThanOrEqual(BEGIN + 40 * MINUTE);
    world.log.push(entry(BEGIN + 42 * MINUTE, "three"));
    life.skip(MINUTE);
    await life.settle();
    expect(world.delivered()).toEqual(["one", "two"]);
  });

  it("names the gap after the operator was away for too long", async () => {
    const world = open();
    const { settle, skip } = world.live();
    await settle();
    skip(36 * DAY);
    await settle();
    expect(world.status().lost).toMatchObject({ from: "2026-01-01T00:00:00.000Z", to: "2026-01-02T00:02:00.000Z" });
    expect(world.ready().reason).toBe("HistoryLost");
    skip(8 * DAY);
    await settle();
    expect(world.ready().reason).toBe("Available");
  });
});

describe("an ActivityLogExport waits", () => {
  const failed = { call: "GET /activitylog", status: 429, detail: "slow down" };

  it.each([
    ["RateLimited", "False", new Retry(failed, "no", 90_000)],
    ["PlatformUnavailable", "False", new Retry({ ...failed, status: 503 }, "no")],
    ["Forbidden", "False", new Forbidden({ ...failed, status: 403 })],
    ["AccountNotReady", "False", new Unauthorized({ ...failed, status: 401 })],
  ])("while the log cannot be read: %s, and never less long than it is asked to", async (reason, isReady, error) => {
    const world = open();
    const { settle, skip, pass } = world.live();
    await settle();
    world.trouble.read = error;
    world.log.push(entry(BEGIN + 1000, "one"));
    skip(2 * MINUTE);
    const again = await pass();
    expect(world.ready()).toMatchObject({ status: isReady, reason });
    if (reason === "Forbidden") expect(world.ready().message).toContain("ACCESS_ACTIVITY_LOG");
    if (reason === "RateLimited") expect(again).toEqual({ inMs: 90_000 });
    const calls = world.asked.length;
    await pass();
    expect(world.asked.length).toBe(calls);
    delete world.trouble.read;
    skip(2 * MINUTE);
    await settle();
    expect(world.delivered()).toEqual(["one"]);
    expect(world.ready()).toMatchObject({ status: "True" });
  });

  it.each([
    ["DestinationUnavailable", new Retry({ ...failed, call: "PUT /audit", status: 503 }, "unknown")],
    ["RateLimited", new Retry({ ...failed, call: "PUT /audit" }, "no", 5_000)],
    ["DestinationRefused", new Forbidden({ ...failed, call: "PUT /audit", status: 403 })],
  ])("while the destination does not take it: %s; the record stays where it is", async (reason, error) => {
    const world = open();
    const { settle, skip, pass } = world.live();
    await settle();
    const before = world.status().watermark;
    world.trouble.deliver = error;
    world.log.push(entry(BEGIN + 1000, "one"));
    skip(2 * MINUTE);
    await pass();
    expect(world.ready()).toMatchObject({ status: "False", reason });
    expect(world.status().watermark).toEqual(before);
    const pauses = [];
    for (let nth = 0; nth < 4; nth++) {
      const again = await pass();
      if (typeof again !== "object") throw new Error("it gave up");
      pauses.push(again.inMs);
      skip(again.inMs);
      await pass();
    }
    expect(pauses.at(-1)).toBeGreaterThan(pauses[0] ?? 0);
    delete world.trouble.deliver;
    skip(10 * MINUTE);
    await settle();
    expect(world.delivered()).toEqual(["one"]);
  });

  it("on an answer that is not understood", async () => {
    const world = open();
    const { settle, skip, pass } = world.live();
    await settle();
    world.trouble.answer = { hits: { total: 1, hits: [{ _source: "what" }] } };
    skip(2 * MINUTE);
    await pass();
    expect(world.ready()).toMatchObject({ status: "False", reason: "PlatformUnavailable" });
    expect(world.ready().message).toContain("hits.hits.0._source");
  });

  it.each([
    ["SecretNotFound", { bucket: { ...bucket, secretRef: { name: "nothing" } } }, "nothing"],
    ["EndpointNotAllowed", { bucket: { ...bucket, endpoint: "http://169.254.169.254" } }, "--allow-endpoint"],
    ["ReferenceNotFound", { logPipelineRef: { name: "logs" } }, "LogPipeline logs not found"],
    ["ReferenceNotGranted", { logPipelineRef: { name: "logs", namespace: "other" } }, "no Grant"],
  ])("for somebody: %s", async (reason, destination, words) => {
    const world = open({ destination });
    await world.live().pass();
    expect(world.ready()).toMatchObject({ status: "False", reason });
    expect(world.ready().message).toContain(words);
    expect(world.sent).toEqual([]);
  });

  it("while it is paused, and goes on with what came meanwhile", async () => {
    const world = open();
    const { settle, skip, pass } = world.live();
    await settle();
    const { metadata } = world.api.get(world.object) ?? world.object;
    world.api.put({
      ...world.object,
      status: world.status(),
      metadata: { ...metadata, annotations: { [PAUSED]: "true" } },
    });
    world.log.push(entry(BEGIN + 1000, "one"));
    skip(5 * MINUTE);
    expect(await pass()).toBe("never");
    expect(world.delivered()).toEqual([]);
    world.api.put({ ...world.object, status: world.status(), metadata: { ...metadata, annotations: {} } });
    await settle();
    expect(world.delivered()).toEqual(["one"]);
  });

  it("when the Account has become that of another contract", async () => {
    const world = open();
    const { settle } = world.live();
    await settle();
    world.api.put({ ...world.object, status: { ...world.status(), contract: 7 } });
    await settle();
    expect(world.ready()).toMatchObject({ status: "False", reason: "ContractChanged" });
  });
});

describe("through a ClusterAccount", () => {
  it("a tenant does not get the log of a shared contract unless the kind is admitted by its name", async () => {
    const world = open({ accountRef: { kind: "ClusterAccount", name: "shared" }, destination: { bucket } });
    const { pass, objects } = world.live();
    await pass();
    expect(world.ready()).toMatchObject({ status: "False", reason: "AccountNotAllowed" });
    expect(world.asked).toEqual([]);
    const shared = [...objects.store("ClusterAccount").values()][0];
    if (!shared) throw new Error("there is none");
    const admitting = { ...Object(shared.spec), kinds: ["ActivityLogExport"] };
    objects
      .store("ClusterAccount")
      .put({ ...shared, spec: admitting, metadata: { ...shared.metadata, resourceVersion: "2" } });
    await pass();
    expect(world.ready()).toMatchObject({ status: "True" });
  });
});

describe("to a LogPipeline", () => {
  const pipeline = objectOf("LogPipeline", "logs", {
    spec: {
      logs: [
        { tag: "syslog", protocol: "tcp" },
        { tag: "audit", protocol: "http" },
      ],
    },
    status: { id: "p1", account: "shop/main", secretName: "logs-logpipeline", conditions: [readyCondition()] },
  });
  const secret = objectOf("Secret", "logs-logpipeline", {
    apiVersion: "v1",
    data: {
      httpAddress: Buffer.from("https://in.example.com/p1").toString("base64"),
      key: Buffer.from(SECRET).toString("base64"),
    },
  });

  it("entries go as JSON to its first log with protocol http", async () => {
    const world = open({ destination: { logPipelineRef: { name: "logs" } } }, { others: [pipeline, secret] });
    const { settle, skip } = world.live();
    await settle();
    world.log.push(entry(BEGIN + 1000, "one"), entry(BEGIN + 2000, "two"));
    skip(2 * MINUTE);
    await settle();
    const [call] = world.sent;
    expect(call).toMatchObject({ method: "POST", url: "https://in.example.com/p1/audit", headers: { apikey: SECRET } });
    expect(JSON.parse(Buffer.from(call?.bytes ?? "").toString())).toMatchObject([{ action: "one" }, { action: "two" }]);
    expect(JSON.stringify(world.status())).not.toContain(SECRET);
  });

  it("killed before its record, it sends the same entries again and no others, a thousand at most", async () => {
    const world = open({ destination: { logPipelineRef: { name: "logs" } } }, { others: [pipeline, secret] });
    const { settle, skip } = world.live();
    await settle();
    world.log.push(...Array.from({ length: 2_500 }, (_, nth) => entry(BEGIN + nth * 20, `in-time-${nth}`)));
    skip(2 * MINUTE);
    let isKilled = false;
    world.api.beforeEach(({ method, path }) => {
      if (method !== "PATCH" || !path.endsWith("/status") || world.sent.length === 0 || isKilled) return;
      isKilled = true;
      world.log.push(entry(BEGIN + 1, "late"));
      throw new Error("killed");
    });
    await expect(settle()).rejects.toThrow("killed");
    await world.live().settle();
    const sent = world.sent.map(({ bytes }): Entry[] => JSON.parse(Buffer.from(bytes ?? "").toString()));
    expect(sent[1]).toEqual(sent[0]);
    expect(sent[0]?.length).toBeLessThanOrEqual(1_000);
    const others = sent.slice(1).flatMap((part) => part.map(({ action }) => action));
    expect(others.sort()).toEqual(world.log.map(({ action }) => action).sort());
  });

  it("without such a log it says what to add", async () => {
    const tcp = { ...pipeline, spec: { logs: [{ tag: "syslog", protocol: "tcp" }] } };
    const world = open({ destination: { logPipelineRef: { name: "logs" } } }, { others: [tcp, secret] });
    await world.live().pass();
    expect(world.ready()).toMatchObject({ reason: "InvalidSpec", message: expect.stringContaining("protocol http") });
  });
});
