import { describe, expect, test } from "vitest";
import { electionsForFile, never, refuse, stored } from "./elections.ts";

const { cluster, candidate } = electionsForFile();

describe("the holder", () => {
  test("renews every two seconds with a single call", async () => {
    const a = candidate("a");
    await a.acquired;
    cluster.calls.length = 0;
    await cluster.clock.advance(20_000);
    expect(cluster.calls).toEqual(Array(10).fill("a PUT"));
    expect(cluster.lease?.spec).toMatchObject({
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:20.000000Z",
    });
  });

  test("survives a conflict with somebody who only touched the labels, and keeps those", async () => {
    const a = candidate("a");
    await a.acquired;
    if (cluster.lease)
      cluster.lease = stored({ ...cluster.lease, metadata: { ...cluster.lease.metadata, labels: { x: "y" } } }, 50);
    await cluster.clock.advance(30_000);
    expect(a.held()).toBe(true);
    expect(cluster.lease?.metadata.labels).toEqual({ x: "y" });
  });

  test("creates the lease again when somebody deleted it", async () => {
    const a = candidate("a");
    await a.acquired;
    cluster.lease = undefined;
    await cluster.clock.advance(6000);
    expect(a.held()).toBe(true);
    expect(cluster.lease).toMatchObject({ spec: { holderIdentity: "a" } });
  });

  test("outlasts failures shorter than the deadline", async () => {
    const a = candidate("a");
    await a.acquired;
    cluster.trouble = () => Promise.reject(refuse(500, "InternalError"));
    await cluster.clock.advance(7999);
    cluster.trouble = undefined;
    await cluster.clock.advance(10_000);
    expect(a.held()).toBe(true);
  });

  test("has lost it ten seconds after the last renewal was sent, even if no call ever returns", async () => {
    const a = candidate("a");
    await a.acquired;
    cluster.trouble = never;
    await cluster.clock.advance(9999);
    expect(a.held()).toBe(true);
    await cluster.clock.advance(1);
    expect(a.held()).toBe(false);
    await a.lost;
    cluster.trouble = undefined;
    await cluster.clock.advance(60_000);
    expect(a.held()).toBe(false);
  });

  test("that was frozen knows when it first reads the clock, and a late answer changes nothing", async () => {
    let frozen = 0;
    const stopped = {
      ...cluster.clock,
      monotonic: () => cluster.clock.monotonic() + frozen,
      after: cluster.clock.after,
      now: cluster.clock.now,
    };
    const a = candidate("a", { clock: stopped });
    await a.acquired;
    let answer = () => {};
    cluster.trouble = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    await cluster.clock.advance(2000);
    frozen = 3_600_000;
    expect(a.held()).toBe(false);
    answer();
    await a.lost;
    expect(a.held()).toBe(false);
  });

  test("has lost it as soon as it sees another holder", async () => {
    const a = candidate("a");
    await a.acquired;
    if (cluster.lease)
      cluster.lease = stored({ ...cluster.lease, spec: { ...cluster.lease.spec, holderIdentity: "thief" } }, 99);
    await cluster.clock.advance(2000);
    await a.lost;
    expect(a.held()).toBe(false);
    await a.release();
    expect(cluster.lease?.spec?.holderIdentity).toBe("thief");
  });
});
