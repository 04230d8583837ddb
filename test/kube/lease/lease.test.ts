import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KubeError } from "../../../src/kube/client/errors.ts";
import type { KubeCall, KubeClient } from "../../../src/kube/client/transport.ts";
import { type Election, type ElectionOptions, elect } from "../../../src/kube/lease/lease.ts";
import type { Lease } from "../../../src/kube/lease/lease-record.ts";
import { type FakeClock, fakeClock } from "../../fake-clock.ts";

const PATH = "/apis/coordination.k8s.io/v1/namespaces/system/leases/mooring";

/** A Lease that already exists. */
const AGED = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "mooring", namespace: "system", resourceVersion: "7" },
} as const;

let clock: FakeClock;
let lease: Lease | undefined;
let calls: string[];
/** A fault of the API server for a call: it fails, or never answers. */
let trouble: ((call: KubeCall) => Promise<void> | undefined) | undefined;
let elections: Election[];

beforeEach(() => {
  clock = fakeClock();
  lease = undefined;
  calls = [];
  trouble = undefined;
  elections = [];
});

afterEach(async () => {
  trouble = undefined;
  await Promise.all(elections.map((election) => election.release()));
  expect(clock.pending, "timers left behind").toBe(0);
});

const refuse = (status: number, reason: string) => new KubeError({ status, reason, message: reason });

/** Ends with the call's signal, like a connection to a dead host. */
const never = ({ signal }: KubeCall) =>
  new Promise<void>((_, reject) => signal?.addEventListener("abort", () => reject(refuse(0, "Aborted"))));

/** An API server with one Lease and its preconditions. */
function apiserver(who: string): KubeClient {
  async function answer(call: KubeCall): Promise<unknown> {
    if (call.signal?.aborted) throw refuse(0, "Aborted");
    calls.push(`${who} ${call.method}`);
    await trouble?.(call);
    const body = call.body === undefined ? undefined : copy<Lease>(call.body);
    switch (call.method) {
      case "GET":
        if (!lease || call.path !== PATH) throw refuse(404, "NotFound");
        return lease;
      case "POST":
        if (lease) throw refuse(409, "AlreadyExists");
        lease = stored(body, 1);
        return lease;
      case "PUT":
        if (!lease) throw refuse(404, "NotFound");
        if (body?.metadata.resourceVersion !== lease.metadata.resourceVersion) throw refuse(409, "Conflict");
        lease = stored(body, Number(lease.metadata.resourceVersion) + 1);
        return lease;
      default:
        throw refuse(405, "MethodNotAllowed");
    }
  }
  return {
    server: "",
    request: async <T>(call: KubeCall) => copy<T>(await answer(call)),
    stream: () => Promise.reject(new Error("nothing is streamed here")),
    close: async () => {},
  };
}

/** The value after it was sent as JSON. */
function copy<T>(value: unknown): T {
  return JSON.parse(JSON.stringify(value));
}

function stored(body: Lease | undefined, version: number): Lease {
  if (!body) throw refuse(400, "BadRequest");
  return { ...body, metadata: { ...body.metadata, resourceVersion: String(version) } };
}

function candidate(identity: string, options: Partial<ElectionOptions> = {}): Election {
  const election = elect({
    client: apiserver(identity),
    namespace: "system",
    name: "mooring",
    identity,
    clock,
    random: () => 0,
    ...options,
  });
  elections.push(election);
  return election;
}

const hasSettled = async (promise: Promise<void>) =>
  Promise.race([promise.then(() => true), clock.advance(0).then(() => false)]);

describe("a lease nobody holds", () => {
  test("is created by the first to come, with times of six fractional digits", async () => {
    const a = candidate("a");
    expect(a.held()).toBe(false);
    await a.acquired;
    expect(a.held()).toBe(true);
    expect(lease?.spec).toEqual({
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:00.000000Z",
      leaseTransitions: 0,
    });
  });

  test("goes to exactly one of two who try at the same time", async () => {
    const [a, b] = [candidate("a"), candidate("b")];
    await clock.advance(60_000);
    expect([a.held(), b.held()]).toEqual([true, false]);
  });
});

test("a lease that an earlier process of the same pod held is taken at once, and others count from that renewal", async () => {
  const spec = { holderIdentity: "mooring-0", leaseDurationSeconds: 15, leaseTransitions: 3 };
  lease = { ...AGED, spec: { ...spec, renewTime: "2026-01-01T00:00:00.000000Z" } };
  const other = candidate("mooring-1");
  await clock.advance(12_000);
  const restarted = candidate("mooring-0");
  expect(await hasSettled(restarted.acquired)).toBe(true);
  expect(restarted.held()).toBe(true);
  expect(lease?.spec).toMatchObject({ ...spec, renewTime: "2026-01-01T00:00:12.000000Z" });
  await clock.advance(60_000);
  expect([restarted.held(), other.held()]).toEqual([true, false]);
});

test("who stands by says once for whom", async () => {
  const said: string[] = [];
  const a = candidate("a");
  await a.acquired;
  candidate("b", { log: (message) => said.push(message) });
  await clock.advance(60_000);
  expect(said).toEqual(["lease system/mooring is held by a: standing by"]);
  await a.release();
  await clock.advance(5_000);
  expect(said.slice(1)).toEqual(["lease system/mooring is held by b"]);
});

describe("the holder", () => {
  test("renews every two seconds with a single call", async () => {
    const a = candidate("a");
    await a.acquired;
    calls.length = 0;
    await clock.advance(20_000);
    expect(calls).toEqual(Array(10).fill("a PUT"));
    expect(lease?.spec).toMatchObject({
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:20.000000Z",
    });
  });

  test("survives a conflict with somebody who only touched the labels, and keeps those", async () => {
    const a = candidate("a");
    await a.acquired;
    if (lease) lease = stored({ ...lease, metadata: { ...lease.metadata, labels: { x: "y" } } }, 50);
    await clock.advance(30_000);
    expect(a.held()).toBe(true);
    expect(lease?.metadata.labels).toEqual({ x: "y" });
  });

  test("creates the lease again when somebody deleted it", async () => {
    const a = candidate("a");
    await a.acquired;
    lease = undefined;
    await clock.advance(6000);
    expect(a.held()).toBe(true);
    expect(lease).toMatchObject({ spec: { holderIdentity: "a" } });
  });

  test("outlasts failures shorter than the deadline", async () => {
    const a = candidate("a");
    await a.acquired;
    trouble = () => Promise.reject(refuse(500, "InternalError"));
    await clock.advance(7999);
    trouble = undefined;
    await clock.advance(10_000);
    expect(a.held()).toBe(true);
  });

  test("has lost it ten seconds after the last renewal was sent, even if no call ever returns", async () => {
    const a = candidate("a");
    await a.acquired;
    trouble = never;
    await clock.advance(9999);
    expect(a.held()).toBe(true);
    await clock.advance(1);
    expect(a.held()).toBe(false);
    await a.lost;
    trouble = undefined;
    await clock.advance(60_000);
    expect(a.held()).toBe(false);
  });

  test("that was frozen knows at its first look at the clock, and a late answer changes nothing", async () => {
    let frozen = 0;
    const stopped = { ...clock, monotonic: () => clock.monotonic() + frozen, after: clock.after, now: clock.now };
    const a = candidate("a", { clock: stopped });
    await a.acquired;
    let answer = () => {};
    trouble = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    await clock.advance(2000);
    frozen = 3_600_000;
    expect(a.held()).toBe(false);
    answer();
    await a.lost;
    expect(a.held()).toBe(false);
  });

  test("has lost it as soon as it sees another holder", async () => {
    const a = candidate("a");
    await a.acquired;
    if (lease) lease = stored({ ...lease, spec: { ...lease.spec, holderIdentity: "thief" } }, 99);
    await clock.advance(2000);
    await a.lost;
    expect(a.held()).toBe(false);
    await a.release();
    expect(lease?.spec?.holderIdentity).toBe("thief");
  });
});

describe("a candidate", () => {
  test("takes over when the holder was silent for the whole duration, and not a moment earlier", async () => {
    const a = candidate("a");
    await a.acquired;
    const b = candidate("b");
    await clock.advance(10_000);
    trouble = (call) => (JSON.stringify(call.body ?? "").includes('"a"') ? never(call) : undefined);
    let overlap = false;
    for (let second = 0; second < 20; second++) {
      await clock.advance(1000);
      overlap ||= a.held() && b.held();
      if (second < 14) expect(b.held()).toBe(false);
    }
    expect([a.held(), b.held(), overlap]).toEqual([false, true, false]);
    expect(lease?.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
    await a.lost;
  });

  test("counts from when it saw the renewal, whatever the times in it say", async () => {
    const spec = { holderIdentity: "dead", leaseDurationSeconds: 15, renewTime: "1999-01-01T00:00:00.000000Z" };
    lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "mooring", resourceVersion: "7" },
      spec,
    };
    const b = candidate("b");
    await clock.advance(8000);
    lease = stored({ ...lease, metadata: { ...lease.metadata, annotations: { touched: "yes" } } }, 8);
    await clock.advance(6999);
    expect(b.held()).toBe(false);
    await clock.advance(2001);
    expect(b.held()).toBe(true);
  });

  test("takes a released lease at its next look", async () => {
    const a = candidate("a");
    await a.acquired;
    const b = candidate("b");
    await clock.advance(4000);
    await a.release();
    expect(lease?.spec).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
    await clock.advance(2000);
    expect(b.held()).toBe(true);
  });

  test("does not lead by an answer that comes later than the deadline, nor by one that comes after its release", async () => {
    const answers: (() => void)[] = [];
    trouble = (call) =>
      call.method === "GET" ? undefined : new Promise<void>((resolve) => void answers.push(() => resolve()));
    const late = candidate("late");
    await clock.advance(10_000);
    answers.shift()?.();
    await clock.advance(0);
    expect([lease?.spec?.holderIdentity, late.held(), await hasSettled(late.acquired)]).toEqual(["late", false, false]);
    lease = undefined;
    const leaving = candidate("leaving");
    await clock.advance(0);
    const released = leaving.release();
    trouble = undefined;
    for (const answer of answers) answer();
    await released;
    expect([leaving.held(), await hasSettled(leaving.acquired)]).toEqual([false, false]);
  });

  test("spreads its looks by chance", async () => {
    lease = stored({ apiVersion: "", kind: "", metadata: { name: "mooring" }, spec: { holderIdentity: "x" } }, 1);
    candidate("b", { random: () => 0.5 });
    await clock.advance(0);
    calls.length = 0;
    await clock.advance(3199);
    expect(calls).toEqual([]);
    await clock.advance(1);
    expect(calls).toEqual(["b GET"]);
  });
});

describe("release", () => {
  test("ends the holding before the lease is given back, and is no loss", async () => {
    const a = candidate("a");
    await a.acquired;
    let heldMeanwhile: boolean | undefined;
    trouble = async () => {
      heldMeanwhile = a.held();
    };
    await a.release();
    expect(heldMeanwhile).toBe(false);
    expect(await hasSettled(a.lost)).toBe(false);
  });

  test("of a candidate leaves the lease alone", async () => {
    const a = candidate("a");
    await a.acquired;
    const b = candidate("b");
    await clock.advance(0);
    await b.release();
    expect(lease?.spec?.holderIdentity).toBe("a");
    expect(a.held()).toBe(true);
  });

  test("gives back what a write took whose answer never came", async () => {
    trouble = async (call) => {
      if (call.method !== "POST") return;
      lease = stored(copy(call.body), 1);
      await never(call);
    };
    const a = candidate("a");
    await clock.advance(0);
    expect([lease?.spec?.holderIdentity, a.held()]).toEqual(["a", false]);
    await a.release();
    expect(lease?.spec?.holderIdentity).toBe("");
  });

  test("does not fail when the apiserver is gone", async () => {
    const said: string[] = [];
    const a = candidate("a", { log: (message) => said.push(message) });
    await a.acquired;
    trouble = () => Promise.reject(refuse(0, "Network"));
    await a.release();
    expect(said.at(-1)).toBe("lease system/mooring could not be released");
  });
});
