import { describe, expect, test } from "vitest";
import { labelOf as labelWantedBy } from "../../src/controllers/labels.ts";
import { PAUSED, SHARD } from "../../src/engine/state/names.ts";
import { readWhole } from "../../src/engine/status/status.ts";
import { datacenter } from "../../src/kinds/compute/datacenter.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { Forbidden, Retry } from "../../src/platform/answers/errors.ts";
import type { PlatformCall } from "../../src/platform/calls/call.ts";
import { CLUSTER_LABEL, unlabelled } from "../../src/platform/products/labels.ts";
import { API } from "../engine/support/fake-platform.ts";
import { clusterAccountOf, datacenterSpec, objectOf, readyCondition } from "../engine/support/fixtures.ts";
import { restingDatacenters } from "../engine/support/resting.ts";
import { accountOf, credentials, runEngine } from "../engine/support/running-engine.ts";
import { SETTINGS } from "../engine/support/stage.ts";
import { fakeClock } from "../fake-clock.ts";

const MINUTE = 60_000;

/** A platform with labels, and an operator of cluster "blue" with these objects. */
async function world(objects: readonly KubeObject[], options: { platform?: World; cluster?: string } = {}) {
  const clock = fakeClock();
  const { platform } = options.platform ?? restingDatacenters(0);
  platform.setClock(() => clock.now());
  const labels = new Map<string, string>();
  const sent: string[] = [];
  const lines: string[] = [];
  let fate: (call: PlatformCall) => void = () => {};
  let answer: (call: PlatformCall) => void = () => {};
  function connect(id: string) {
    const connection = platform.connectionOf(id);
    async function send(call: PlatformCall) {
      const path = new URL(call.url).pathname.replace("/cloudapi/v6", "");
      if (!path.endsWith("/labels")) return connection.send(call);
      call.guard?.();
      sent.push(`${call.method} ${path}`);
      fate(call);
      const [collection = "", resourceId = ""] = path.split("/").slice(1);
      const holder = `${collection.replace(/s$/, "")}/${resourceId}`;
      const { value = "" } = Object(Reflect.get(Object(call.body), "properties"));
      if (call.method === "POST") labels.set(holder, value);
      answer(call);
      const items = [...labels].map(([each, value]) => {
        const [resourceType = "", resourceId = ""] = each.split("/");
        return {
          id: `urn:label:${resourceType}:${resourceId}:${CLUSTER_LABEL}`,
          properties: { key: CLUSTER_LABEL, value, resourceType, resourceId },
        };
      });
      const foreign = { id: "urn:label:server:s1:of/others", properties: { key: "of/others" } };
      return { status: 200, headers: {}, body: { items: [foreign, ...items] } };
    }
    return { ...connection, send };
  }
  const log = (_: object, message: string) => void lines.push(message);
  const engine = await runEngine([credentials, accountOf("main"), ...objects], {
    clock,
    platform,
    connect,
    random: () => 0.9,
    clusterName: options.cluster ?? "blue",
    settings: { ...SETTINGS, retryMs: MINUTE },
    log: { debug: () => {}, info: log, warn: log, error: log },
  });
  return {
    ...engine,
    clock,
    labels,
    lines: () => lines.filter((line) => line.startsWith("cluster label")),
    posts: () => sent.filter((call) => call.startsWith("POST")),
    lists: () => sent.filter((call) => call.startsWith("GET")),
    whenCalled(next: typeof fate) {
      fate = next;
    },
    whenDone(next: typeof answer) {
      answer = next;
    },
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= 10_000) await clock.advance(Math.min(left, 10_000));
    },
  };
}
type World = ReturnType<typeof restingDatacenters>;

const edited = (object: KubeObject, { metadata, status, spec }: Partial<KubeObject>): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
  spec: { ...Object(object.spec), ...Object(spec) },
  status: { ...Object(object.status), ...Object(status) },
});
const labelOf = (object: KubeObject | undefined) => `POST /datacenters/${Object(object?.status).id}/labels`;

describe("the label of the cluster", () => {
  test("is written once to each resource that objects have created, also by a process before this one", async () => {
    const resting = restingDatacenters(3);
    await using there = await world(resting.objects, { platform: resting });
    await there.pass(MINUTE);
    expect(there.posts().sort()).toEqual(resting.objects.map(labelOf).sort());
    expect(new Set(there.labels.values())).toEqual(new Set(["blue"]));
    const before = there.lists().length;
    await there.pass(10 * SETTINGS.resyncMs);
    expect(there.posts()).toHaveLength(3);
    expect(there.lists().length - before).toBeGreaterThanOrEqual(8);
    expect(there.lists().length - before).toBeLessThanOrEqual(11);
  });

  test("follows soon after a creation", async () => {
    const resting = restingDatacenters(0);
    await using there = await world([], { platform: resting });
    await there.pass(MINUTE);
    expect(there.lists()).toEqual([]);
    there.put(objectOf("Datacenter", "new", { spec: datacenterSpec }));
    await there.pass(2 * MINUTE);
    const [id] = resting.platform.items.keys();
    expect(there.posts()).toEqual([`POST /datacenters/${id}/labels`]);
    expect(there.lists()).toHaveLength(1);
  });

  test("costs one call for each creation, and none for a change", async () => {
    const resting = restingDatacenters(1);
    await using there = await world(resting.objects, { platform: resting });
    await there.pass(MINUTE);
    expect(there.lists()).toHaveLength(1);
    for (const name of ["a", "b", "c"]) {
      there.put(objectOf("Datacenter", name, { spec: datacenterSpec }));
      await there.pass(MINUTE);
    }
    const [first] = resting.objects;
    if (first) there.put(edited(first, { metadata: { ...first.metadata, generation: 2 }, spec: { name: "renamed" } }));
    await there.pass(MINUTE / 2);
    expect(resting.platform.writes().some((call) => call.startsWith("PATCH"))).toBe(true);
    expect(there.posts()).toHaveLength(4);
    expect(there.lists()).toHaveLength(1);
  });

  test.each<[string, Partial<KubeObject>]>([
    ["adopted", { status: { adoptedAt: "2026-01-01T00:00:00.000Z" } }],
    ["observed", { spec: { managementPolicy: "Observe" }, status: { onlyObserved: true } }],
    ["paused", { metadata: { name: "d0", annotations: { [PAUSED]: "true" } } }],
    ["made by another user", { status: { userId: "u2" } }],
    ["made in another contract", { status: { contract: 2 } }],
  ])("is never written to a resource that is %s", async (_, change) => {
    const resting = restingDatacenters(1);
    const objects = resting.objects.map((object) => edited(object, change));
    await using there = await world(objects, { platform: resting });
    await there.pass(3 * SETTINGS.resyncMs);
    expect([...there.posts(), ...there.lists()]).toEqual([]);
    expect(resting.platform.writes()).toEqual([]);
  });

  test("is not written by another shard, nor without a name of the cluster", async () => {
    const resting = restingDatacenters(1);
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels: { [SHARD]: "a" } } };
    // Both shards use the ClusterAccount.
    const home = { ...credentials, metadata: { ...credentials.metadata, namespace: "mooring-system" } };
    const shared = clusterAccountOf("shared", { endpoints: { api: API }, namespaces: { names: ["shop"] } });
    const through = { status: { account: "ClusterAccount/shared" } };
    const objects = resting.objects.map((object) => edited(object, through));
    await using shard = await world([home, shared, namespace, ...objects], { platform: resting });
    await using whole = await world([home, shared, ...objects], { platform: resting });
    await whole.pass(MINUTE);
    expect(whole.posts()).toHaveLength(1);
    await using nameless = await world(resting.objects, { platform: resting, cluster: "" });
    await shard.pass(2 * SETTINGS.resyncMs);
    await nameless.pass(2 * SETTINGS.resyncMs);
    expect([...shard.posts(), ...nameless.posts(), ...shard.lists(), ...nameless.lists()]).toEqual([]);
  });

  test("of another cluster stays", async () => {
    const resting = restingDatacenters(1);
    await using there = await world(resting.objects, { platform: resting });
    const holder = `datacenter/${Object(resting.objects[0]?.status).id}`;
    there.labels.set(holder, "green");
    await there.pass(2 * SETTINGS.resyncMs);
    expect(there.posts()).toEqual([]);
    expect(there.labels.get(holder)).toBe("green");
  });

  test("whose answer was lost is not sent again", async () => {
    const resting = restingDatacenters(1);
    await using there = await world(resting.objects, { platform: resting });
    there.whenDone(({ method }) => {
      if (method === "POST") throw new Retry({ call: "POST", status: 0 }, "unknown");
    });
    await there.pass(SETTINGS.resyncMs + 10_000);
    there.whenDone(() => {});
    // Its label is written before the next list is due, but not before the platform has shown what the lost call did.
    there.put(objectOf("Datacenter", "next", { spec: datacenterSpec }));
    await there.pass(4 * SETTINGS.resyncMs);
    expect(there.posts()).toHaveLength(2);
    expect(there.posts().filter((call) => call === labelOf(resting.objects[0]))).toHaveLength(1);
  });

  test("that is refused is tried ever more rarely, with one line, and holds up neither objects nor other labels", async () => {
    const resting = restingDatacenters(2);
    const [poor, other] = resting.objects;
    await using there = await world(resting.objects, { platform: resting });
    let isFree = false;
    there.whenCalled(({ method, url }) => {
      const isRefused = !isFree && method === "POST" && labelOf(poor).endsWith(new URL(url).pathname.slice(12));
      if (isRefused) throw new Forbidden({ call: "POST", status: 403, detail: "no" });
    });
    await there.pass(240 * MINUTE);
    const tries = there.posts().filter((call) => call === labelOf(poor)).length;
    expect(tries).toBeGreaterThan(3);
    // The pause grows to 32 minutes.
    expect(tries).toBeLessThanOrEqual(15);
    expect(there.posts().filter((call) => call === labelOf(other))).toHaveLength(1);
    expect(there.lines()).toEqual(["cluster label not written"]);
    expect(poor && Object(there.api.get(poor)?.status).conditions).toMatchObject([{ type: "Ready", status: "True" }]);
    isFree = true;
    await there.pass(40 * MINUTE);
    expect(there.labels.size).toBe(2);
    expect(there.lines()).toEqual(["cluster label not written", "cluster labels are written again"]);
  });
});

test("the resources that were refused last are the last of the next run", () => {
  const wanted = ["a", "b", "c"].map((holder) => ({ holder }));
  const order = unlabelled(wanted, new Set(["b"]), new Map([["a", 1]]));
  expect(order.map(({ holder }) => holder)).toEqual(["c", "a"]);
});

test("an Account shows the name, by default the uid of namespace kube-system", async () => {
  const system = { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system", uid: "uid-of-cluster" } };
  const clock = fakeClock();
  const objects = [credentials, accountOf("main"), system];
  const nameIn = async (options: { clusterName?: string }) => {
    await using there = await runEngine(objects, { clock, ...options });
    await clock.advance(5000);
    const account = there.api.get(accountOf("main"));
    return account && readWhole(account).clusterName;
  };
  expect(await nameIn({})).toBe("uid-of-cluster");
  expect(await nameIn({ clusterName: "blue" })).toBe("blue");
  expect(await nameIn({ clusterName: "" })).toBeUndefined();
});

test.each([
  ["IPBlock", "/ipblocks", {}, true],
  ["Snapshot", "/snapshots", {}, true],
  ["Lan", "/datacenters/dc/lans", { datacenter: "dc" }, false],
])(
  "a resource of kind %s in %s is labelled, unless a labelled one holds it",
  async (kind, path, parents, isLabelled) => {
    const resting = restingDatacenters(0);
    const claim = { id: "1", parents, account: "shop/main", endpoint: API, contract: 1, userId: "u1" };
    const metadata = { name: "a", annotations: { "mooring.dev/reconcile-at": "1" } };
    const object = objectOf(kind, "a", { spec: {}, metadata, status: { ...claim, conditions: [readyCondition()] } });
    await using there = await world([object], { platform: resting });
    await there.pass(MINUTE);
    expect(there.posts()).toEqual(isLabelled ? [`POST ${path}/1/labels`] : []);
  },
);

test("a resource gets no label before a read has confirmed that the answer to its creation named it", () => {
  const wanted = (status: object) => {
    const object = objectOf("Datacenter", "a", {
      spec: datacenterSpec,
      status: { id: "dc", account: "shop/main", ...status },
    });
    return labelWantedBy({ kind: datacenter, object })?.holder;
  };
  expect(wanted({})).toBe("datacenter/dc");
  expect(wanted({ notBefore: "2026-01-01T00:00:00.000Z" })).toBeUndefined();
});
