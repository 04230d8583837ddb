import { describe, expect, test } from "vitest";
import { copy, electionsForFile, never, refuse, stored } from "./elections.ts";

const { cluster, candidate, hasSettled } = electionsForFile();

/** A Lease that already exists. */
const AGED = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "mooring", namespace: "system", resourceVersion: "7" },
} as const;

describe("a lease nobody holds", () => {
  test("is created by the first to come, with times of six fractional digits", async () => {
    const a = candidate("a");
    expect(a.held()).toBe(false);
    await a.acquired;
    expect(a.held()).toBe(true);
    expect(cluster.lease?.spec).toEqual({
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:00.000000Z",
      leaseTransitions: 0,
    });
  });

  test("goes to exactly one of two who try at the same time", async () => {
    const [a, b] = [candidate("a"), candidate("b")];
    await cluster.clock.advance(60_000);
    expect([a.held(), b.held()]).toEqual([true, false]);
  });
});

test("a lease that an earlier process of the same pod held is taken at once, and others count from that renewal", async () => {
  const spec = { holderIdentity: "mooring-0", leaseDurationSeconds: 15, leaseTransitions: 3 };
  cluster.lease = { ...AGED, spec: { ...spec, renewTime: "2026-01-01T00:00:00.000000Z" } };
  const other = candidate("mooring-1");
  await cluster.clock.advance(12_000);
  const restarted = candidate("mooring-0");
  expect(await hasSettled(restarted.acquired)).toBe(true);
  expect(restarted.held()).toBe(true);
  expect(cluster.lease?.spec).toMatchObject({ ...spec, renewTime: "2026-01-01T00:00:12.000000Z" });
  await cluster.clock.advance(60_000);
  expect([restarted.held(), other.held()]).toEqual([true, false]);
});

test("a candidate that stands by logs once who holds the lease", async () => {
  const said: string[] = [];
  const a = candidate("a");
  await a.acquired;
  candidate("b", { log: (message) => said.push(message) });
  await cluster.clock.advance(60_000);
  expect(said).toEqual(["lease system/mooring is held by a: standing by"]);
  await a.release();
  await cluster.clock.advance(5_000);
  expect(said.slice(1)).toEqual(["lease system/mooring is held by b"]);
});

describe("release", () => {
  test("ends the holding before the lease is given back, and is no loss", async () => {
    const a = candidate("a");
    await a.acquired;
    let heldMeanwhile: boolean | undefined;
    cluster.trouble = async () => {
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
    await cluster.clock.advance(0);
    await b.release();
    expect(cluster.lease?.spec?.holderIdentity).toBe("a");
    expect(a.held()).toBe(true);
  });

  test("gives back what a write took whose answer never came", async () => {
    cluster.trouble = async (call) => {
      if (call.method !== "POST") return;
      cluster.lease = stored(copy(call.body), 1);
      await never(call);
    };
    const a = candidate("a");
    await cluster.clock.advance(0);
    expect([cluster.lease?.spec?.holderIdentity, a.held()]).toEqual(["a", false]);
    await a.release();
    expect(cluster.lease?.spec?.holderIdentity).toBe("");
  });

  test("does not fail when the apiserver is gone", async () => {
    const said: string[] = [];
    const a = candidate("a", { log: (message) => said.push(message) });
    await a.acquired;
    cluster.trouble = () => Promise.reject(refuse(0, "Network"));
    await a.release();
    expect(said.at(-1)).toBe("lease system/mooring could not be released");
  });
});
