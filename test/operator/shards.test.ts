import { describe, expect, test } from "vitest";
import { SHARD } from "../../src/engine/state/names.ts";
import { KubeError } from "../../src/kube/client/errors.ts";
import type { KubeCall, KubeClient } from "../../src/kube/client/transport.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { readConfig } from "../../src/operator/config.ts";
import { leaseOf } from "../../src/operator/lease-name.ts";
import { watchShards } from "../../src/operator/unserved.ts";
import { fakeClock } from "../fake-clock.ts";

const shardOf = (...flags: string[]) => {
  const config = readConfig(flags, {});
  return config === "help" ? expect.unreachable() : config.shard;
};

describe("--shard", () => {
  test.each(["a", "eu-1", "0", "a".repeat(40)])("takes %s", (name) => {
    expect(shardOf("--shard", name)).toBe(name);
  });

  test.each(["", "A", "-a", "a-", "a.b", "a/b", "a".repeat(41)])("refuses %j", (name) => {
    expect(() => shardOf(`--shard=${name}`)).toThrow(/^--shard: ".*" is not a name of lower-case letters, digits/);
  });

  test("is refused together with --watch-namespace", () => {
    expect(() => shardOf("--shard", "a", "--watch-namespace", "shop")).toThrow(
      "--shard: cannot be combined with --watch-namespace: an operator of one namespace works on all of it; remove one of the two",
    );
  });

  test("has a Lease of its own", () => {
    expect([leaseOf(), leaseOf("a")]).toEqual(["mooring", "mooring-a"]);
  });
});

describe("a namespace whose label names a shard", () => {
  const space = (name: string, shard: string): KubeObject => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels: { [SHARD]: shard } },
  });

  /** Reads the Leases every thirty seconds; the test sets the answers. */
  function watched(namespaces: KubeObject[], lease: (name: string) => object) {
    const clock = fakeClock();
    const events: string[] = [];
    const errors: unknown[] = [];
    let unserved: Record<string, number> = {};
    const client: Pick<KubeClient, "request"> = {
      async request<T>({ path }: KubeCall): Promise<T> {
        return JSON.parse(JSON.stringify(lease(path.slice(path.lastIndexOf("/") + 1))));
      },
    };
    const stopping = new AbortController();
    const watching = watchShards({
      client: { server: "", stream: () => expect.unreachable(), close: async () => {}, ...client },
      clock,
      namespace: "mooring-system",
      namespaces: () => namespaces,
      events: { record: ({ metadata }, type, reason) => void events.push(`${metadata.namespace} ${type} ${reason}`) },
      observe: (found) => {
        unserved = Object.fromEntries(found);
      },
      onError: (error) => void errors.push(error),
      signal: stopping.signal,
    });
    return {
      clock,
      events,
      errors,
      namespaces,
      unserved: () => unserved,
      async [Symbol.asyncDispose]() {
        stopping.abort();
        await watching;
      },
    };
  }
  const refused = (status: number, reason: string) => (): object => {
    throw new KubeError({ status, reason, message: reason });
  };

  test.each([
    ["there is no Lease", refused(404, "NotFound")],
    ["nobody holds it", () => ({ spec: { holderIdentity: "", renewTime: "1" } })],
  ])("is told when %s, again after ten minutes, and no longer when the label is gone", async (_, lease) => {
    await using all = watched([space("shop", "a"), space("orders", "a")], lease);
    // Other operators may be starting as well.
    await all.clock.advance(14_999);
    expect(all.events).toEqual([]);
    await all.clock.advance(1);
    const once = ["shop Warning ShardNotRunning", "orders Warning ShardNotRunning"];
    expect(all.events).toEqual(once);
    expect(all.unserved()).toEqual({ a: 2 });
    await all.clock.advance(599_000);
    expect(all.events).toEqual(once);
    await all.clock.advance(60_000);
    expect(all.events).toEqual([...once, ...once]);
    all.namespaces.length = 0;
    await all.clock.advance(30_000);
    expect(all.unserved()).toEqual({});
  });

  test("is told when the holder has stopped to renew", async () => {
    let renewals = 0;
    let alive = true;
    const lease = () => ({ spec: { holderIdentity: "pod", renewTime: String(alive ? ++renewals : renewals) } });
    await using all = watched([space("shop", "a")], lease);
    await all.clock.advance(300_000);
    expect(all.events).toEqual([]);
    alive = false;
    await all.clock.advance(60_000);
    expect(all.events).toEqual(["shop Warning ShardNotRunning"]);
    alive = true;
    await all.clock.advance(30_000);
    expect(all.unserved()).toEqual({});
  });

  test("is not told while the API server does not answer", async () => {
    await using all = watched([space("shop", "a")], refused(503, "Unavailable"));
    await all.clock.advance(60_000);
    expect(all.events).toEqual([]);
    expect(all.errors.length).toBeGreaterThan(1);
  });
});
