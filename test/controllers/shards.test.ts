import { describe, expect, test } from "vitest";
import { SHARD } from "../../src/engine/state/names.ts";
import type { ObjectKey } from "../../src/engine/state/object.ts";
import { createShards } from "../../src/engine/state/shards.ts";
import { readStatus } from "../../src/engine/status/status.ts";
import type { KubeCall } from "../../src/kube/client/transport.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { type FakeApiServer, fakeApiServer } from "../engine/support/fake-api-server.ts";
import { API, fakePlatform } from "../engine/support/fake-platform.ts";
import { clusterAccountOf, objectOf } from "../engine/support/fixtures.ts";
import { credentials, runEngine } from "../engine/support/running-engine.ts";
import { fakeClock } from "../fake-clock.ts";

const HOME = "mooring-system";
const secret = { ...credentials, metadata: { ...credentials.metadata, namespace: HOME } };
const shared = clusterAccountOf("shared", {
  endpoints: { api: API },
  default: true,
  namespaces: { names: ["shop", "orders"] },
});
const space = (name: string, shard?: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, uid: `uid-${name}`, labels: shard === undefined ? {} : { [SHARD]: shard } },
});
const block = (namespace: string, more: object = {}): KubeObject =>
  objectOf("IPBlock", "a", {
    spec: { location: "de/txl", size: 1, ...more },
    metadata: { name: "a", namespace, uid: `uid-${namespace}-a` },
  });

/** The operator without a shard and that of shard a, on one API server and one platform. */
async function runBoth(initial: KubeObject[]) {
  const clock = fakeClock();
  const platform = fakePlatform();
  platform.setClock(() => clock.now());
  const all = [secret, shared, ...initial];
  const api = fakeApiServer(...all);
  const reported = new Map<ObjectKey, KubeObject | undefined>();
  const start = async (shard?: string) => {
    /** Writes of this operator, to either side. */
    const writes: string[] = [];
    const client = {
      ...api.client,
      request<T>(call: KubeCall): Promise<T> {
        if (call.method !== "GET") writes.push(`${call.method} ${call.path.replace(/^.*v1(alpha1)?\//, "")}`);
        return api.client.request<T>(call);
      },
    };
    const own: FakeApiServer = Object.create(api, { client: { value: client } });
    const connect = (id: string) => {
      const connection = platform.connectionOf(id);
      return {
        ...connection,
        send(call: Parameters<typeof connection.send>[0]) {
          if (call.method !== "GET") writes.push(`${call.method} ${new URL(call.url).pathname}`);
          return connection.send(call);
        },
      };
    };
    const observed = {
      observeObject: (key: ObjectKey, object?: KubeObject) => void reported.set(`${shard ?? ""} ${key}`, object),
    };
    const options = {
      clock,
      platform,
      connect,
      api: own,
      home: HOME,
      shows: true,
      ...observed,
      ...(shard && { shard }),
    };
    return { ...(await runEngine(all, options)), writes };
  };
  const [home, a] = [await start(), await start("a")];
  const idOf = (object: KubeObject) => readStatus(api.get(object) ?? object).id;
  const isReported = (shard: string, key: ObjectKey) => reported.get(`${shard} ${key}`) !== undefined;
  return { clock, platform, api, home, a, idOf, isReported };
}

describe("a shard", () => {
  const labels = new Map([["orders", { [SHARD]: "a" }]]);
  const namespaces = (known = [space("orders", "a")]) => ({
    labelsOf: (name: string) => labels.get(name),
    values: () => known.values(),
  });

  test.each([
    [undefined, { "Server/shop/web": true, "Server/orders/web": false, "ClusterAccount/shared": true }],
    ["a", { "Server/shop/web": false, "Server/orders/web": true, "ClusterAccount/shared": false }],
    ["b", { "Server/shop/web": false, "Server/orders/web": false, "ClusterAccount/shared": false }],
  ])("serves the namespaces that name it: %s", (name, expected) => {
    const { serves } = createShards(name, namespaces());
    expect(Object.fromEntries(Object.keys(expected).map((key) => [key, serves(key)]))).toEqual(expected);
  });

  test("is not alone when it has a name, or a namespace names one", () => {
    expect(createShards("a", namespaces([])).divided()).toBe(true);
    expect(createShards(undefined, namespaces([])).divided()).toBe(false);
    expect(createShards(undefined, namespaces()).divided()).toBe(true);
  });
});

describe("two shards", () => {
  test("each create what is in their namespaces, and only the one without a name writes to a ClusterAccount", async () => {
    const [here, there] = [block("shop"), block("orders")];
    const both = await runBoth([space("shop"), space("orders", "a"), here, there]);
    await both.clock.advance(10_000);
    expect(both.idOf(here)).toBeDefined();
    expect(both.idOf(there)).toBeDefined();
    expect(both.platform.items.size).toBe(2);
    const namespacesOf = (writes: string[]) => [
      ...new Set(writes.map((each) => each.split("/").slice(0, 2).join("/"))),
    ];
    expect(namespacesOf(both.home.writes).sort()).toEqual([
      "PATCH clusteraccounts/shared",
      "PATCH namespaces/mooring-system",
      "PATCH namespaces/shop",
      "POST /cloudapi",
    ]);
    expect(namespacesOf(both.a.writes).sort()).toEqual(["PATCH namespaces/orders", "POST /cloudapi"]);
    expect(both.isReported("", "IPBlock/orders/a")).toBe(false);
    expect(both.isReported("a", "IPBlock/orders/a")).toBe(true);
  });

  test("hand over the objects of a namespace with its label, and nothing is made again", async () => {
    const there = block("orders");
    const both = await runBoth([space("orders", "a"), there]);
    await both.clock.advance(10_000);
    const id = both.idOf(there);
    expect(id).toBeDefined();
    both.home.put(space("orders"));
    await both.clock.advance(1000);
    const before = both.a.writes.length;
    const stored = both.api.get(there) ?? there;
    both.home.put({
      ...stored,
      spec: block("orders", { name: "new" }).spec,
      metadata: { ...stored.metadata, generation: 2 },
    });
    await both.clock.advance(10_000);
    expect(both.a.writes.slice(before)).toEqual([]);
    expect(both.home.writes).toContain(`PATCH /cloudapi/v6/ipblocks/${id}`);
    expect(both.platform.sent("POST")).toHaveLength(1);
    expect([both.isReported("", "IPBlock/orders/a"), both.isReported("a", "IPBlock/orders/a")]).toEqual([true, false]);
  });

  test("pay for what only they know: what an object made that is dropped after the move", async () => {
    const there = block("orders");
    const both = await runBoth([space("orders", "a"), there]);
    await both.clock.advance(3000);
    const id = both.idOf(there);
    expect(both.platform.items.size).toBe(1);
    both.home.put(space("orders"));
    await both.clock.advance(1000);
    both.home.remove(there);
    await both.clock.advance(10_000);
    expect(both.platform.items.size).toBe(0);
    expect(both.a.writes).toContain(`DELETE /cloudapi/v6/ipblocks/${id}`);
    expect(both.platform.sent("DELETE")).toHaveLength(1);
  });

  test("leave the list of what they no longer have to the other", async () => {
    const both = await runBoth([space("orders", "a"), block("orders")]);
    await both.clock.advance(10_000);
    both.home.put(space("orders", "nobody"));
    await both.clock.advance(1000);
    const lists = () => both.platform.sent("GET").filter(({ url }) => url.includes("/ipblocks")).length;
    const before = lists();
    await both.clock.advance(1_200_000);
    expect(lists()).toBe(before);
  });

  test("end a step that was under way when the namespace was moved", async () => {
    const there = block("orders");
    const both = await runBoth([space("orders", "a"), there]);
    both.platform.beforeEach(({ method }) => {
      if (method === "POST") both.home.put(space("orders"));
    });
    await both.clock.advance(120_000);
    expect(both.idOf(there)).toBeDefined();
    expect(both.platform.sent("POST")).toHaveLength(1);
    expect(both.platform.items.size).toBe(1);
  });
});
