import { describe, expect, test } from "vitest";
import { electionsForFile, never, stored } from "./elections.ts";

const { cluster, candidate, hasSettled } = electionsForFile();

describe("a candidate", () => {
  test("takes over when the holder was silent for the whole duration, and not a moment earlier", async () => {
    const a = candidate("a");
    await a.acquired;
    const b = candidate("b");
    await cluster.clock.advance(10_000);
    cluster.trouble = (call) => (JSON.stringify(call.body ?? "").includes('"a"') ? never(call) : undefined);
    let overlap = false;
    for (let second = 0; second < 20; second++) {
      await cluster.clock.advance(1000);
      overlap ||= a.held() && b.held();
      if (second < 14) expect(b.held()).toBe(false);
    }
    expect([a.held(), b.held(), overlap]).toEqual([false, true, false]);
    expect(cluster.lease?.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
    await a.lost;
  });

  test("counts from when it saw the renewal, whatever the times in it say", async () => {
    const spec = { holderIdentity: "dead", leaseDurationSeconds: 15, renewTime: "1999-01-01T00:00:00.000000Z" };
    cluster.lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "mooring", resourceVersion: "7" },
      spec,
    };
    const b = candidate("b");
    await cluster.clock.advance(8000);
    cluster.lease = stored(
      { ...cluster.lease, metadata: { ...cluster.lease.metadata, annotations: { touched: "yes" } } },
      8,
    );
    await cluster.clock.advance(6999);
    expect(b.held()).toBe(false);
    await cluster.clock.advance(2001);
    expect(b.held()).toBe(true);
  });

  test("takes a released lease at its next look", async () => {
    const a = candidate("a");
    await a.acquired;
    const b = candidate("b");
    await cluster.clock.advance(4000);
    await a.release();
    expect(cluster.lease?.spec).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
    await cluster.clock.advance(2000);
    expect(b.held()).toBe(true);
  });

  test("does not lead by an answer that comes later than the deadline, nor by one that comes after its release", async () => {
    const answers: (() => void)[] = [];
    cluster.trouble = (call) =>
      call.method === "GET" ? undefined : new Promise<void>((resolve) => void answers.push(() => resolve()));
    const late = candidate("late");
    await cluster.clock.advance(10_000);
    answers.shift()?.();
    await cluster.clock.advance(0);
    expect([cluster.lease?.spec?.holderIdentity, late.held(), await hasSettled(late.acquired)]).toEqual([
      "late",
      false,
      false,
    ]);
    cluster.lease = undefined;
    const leaving = candidate("leaving");
    await cluster.clock.advance(0);
    const released = leaving.release();
    cluster.trouble = undefined;
    for (const answer of answers) answer();
    await released;
    expect([leaving.held(), await hasSettled(leaving.acquired)]).toEqual([false, false]);
  });

  test("spreads its looks by chance", async () => {
    cluster.lease = stored(
      { apiVersion: "", kind: "", metadata: { name: "mooring" }, spec: { holderIdentity: "x" } },
      1,
    );
    candidate("b", { random: () => 0.5 });
    await cluster.clock.advance(0);
    cluster.calls.length = 0;
    await cluster.clock.advance(3199);
    expect(cluster.calls).toEqual([]);
    await cluster.clock.advance(1);
    expect(cluster.calls).toEqual(["b GET"]);
  });
});
