import { describe, expect, test } from "vitest";
import { readStatus } from "../../src/engine/status/status.ts";
import { KubeError } from "../../src/kube/client/errors.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { createNamespaces } from "../../src/kube/watch/namespaces.ts";
import type { Connection } from "../../src/platform/calls/transport.ts";
import { fakeApiServer } from "../engine/support/fake-api-server.ts";
import { API, type FakePlatform, fakePlatform } from "../engine/support/fake-platform.ts";
import { clusterAccountOf, objectOf } from "../engine/support/fixtures.ts";
import { credentials, runEngine } from "../engine/support/running-engine.ts";
import { type FakeClock, fakeClock } from "../fake-clock.ts";

const HOME = "mooring-system";
const secret = { ...credentials, metadata: { ...credentials.metadata, namespace: HOME } };
const shared = (spec: object) => clusterAccountOf("shared", { endpoints: { api: API }, ...spec });
const gold = { default: true, namespaces: { selector: { matchLabels: { tier: "gold" } } } };

const space = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, uid: `uid-${name}`, labels },
});
const block = (name: string, namespace: string): KubeObject =>
  objectOf("IPBlock", name, { spec: { location: "de/txl", size: 1 }, metadata: { name, namespace } });

async function run(initial: KubeObject[], options: { clock: FakeClock; namespace?: string; platform?: FakePlatform }) {
  const engine = await runEngine([secret, ...initial], { home: HOME, ...options });
  const condition = (object: KubeObject) => {
    const { conditions, account } = readStatus(engine.api.get(object) ?? object);
    const ready = conditions?.find(({ type }) => type === "Ready");
    return { ready: ready?.status, reason: ready?.reason, account };
  };
  return { ...engine, condition };
}

describe("the engine with a ClusterAccount", () => {
  test("takes its token from the operator's namespace, and makes it and its objects Ready", async () => {
    const clock = fakeClock();
    const [account, mine] = [shared(gold), block("a", "team")];
    const { condition } = await run([account, space("team", { tier: "gold" }), mine], { clock });
    await clock.advance(10_000);
    expect(condition(account)).toMatchObject({ ready: "True", reason: "Available" });
    expect(condition(mine)).toEqual({ ready: "True", reason: "Available", account: "ClusterAccount/shared" });
  });

  test("looks again at the objects of a namespace as soon as its labels change", async () => {
    const clock = fakeClock();
    const mine = block("a", "team");
    const { condition, put } = await run([shared(gold), space("team"), mine], { clock });
    await clock.advance(10_000);
    expect(condition(mine).reason).toBe("AccountNotFound");
    put(space("team", { tier: "gold" }));
    await clock.advance(10_000);
    expect(condition(mine)).toMatchObject({ ready: "True", account: "ClusterAccount/shared" });
    put(space("team", { tier: "silver" }));
    await clock.advance(1000);
    expect(condition(mine)).toMatchObject({ ready: "False", reason: "AccountNotAllowed" });
  });

  test("looks again at those who used it when it is edited, and does not let it go while they have something", async () => {
    const clock = fakeClock();
    const [account, mine] = [shared(gold), block("a", "team")];
    const { condition, put, api } = await run([account, space("team", { tier: "gold" }), mine], { clock });
    await clock.advance(10_000);
    const stored = api.get(account) ?? account;
    put({ ...stored, spec: Object(shared({}).spec), metadata: { ...stored.metadata, generation: 2 } });
    await clock.advance(1000);
    expect(condition(mine)).toMatchObject({ ready: "False", reason: "AccountNotAllowed" });
    const edited = api.get(account) ?? account;
    put({ ...edited, metadata: { ...edited.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
    await clock.advance(10_000);
    expect(condition(account).reason).toBe("InUse");
  });

  test("of one namespace only knows no ClusterAccount", async () => {
    const clock = fakeClock();
    const [account, mine] = [shared(gold), block("a", "team")];
    const { condition } = await run([account, space("team", { tier: "gold" }), mine], { clock, namespace: "team" });
    await clock.advance(10_000);
    expect(condition(mine).reason).toBe("AccountNotFound");
    expect(condition(account).reason).toBeUndefined();
  });
});

test("an operator that may not look at namespaces works all the same, and selects none by their labels", async () => {
  const clock = fakeClock();
  const refuse = async () => {
    throw new KubeError({ status: 403, reason: "Forbidden", message: "no" });
  };
  const client = { ...fakeApiServer().client, request: refuse, stream: refuse };
  const namespaces = createNamespaces({ client, clock, onError: () => {} });
  await namespaces.begin();
  expect(namespaces.labelsOf("team")).toBeUndefined();
  await namespaces.close();
});

describe("namespaces that share a ClusterAccount", () => {
  /** One namespace has twenty objects whose creation gets no answer. Then another one creates objects that work. */
  async function hanging(workers: number) {
    const clock = fakeClock();
    const platform = fakePlatform();
    const hung: unknown[] = [];
    const connect = (id: string): Connection => {
      const connection = platform.connectionOf(id);
      return {
        ...connection,
        send(call) {
          if (call.method !== "POST" || !JSON.stringify(call.body).includes("slow")) return connection.send(call);
          hung.push(call.url);
          return new Promise(() => {});
        },
      };
    };
    const many = (prefix: string, namespace: string, length: number) =>
      Array.from({ length }, (_, index) => block(`${prefix}-${index}`, namespace));
    const open = shared({ default: true, namespaces: { names: ["greedy", "modest", "third"] } });
    const initial = [secret, open, ...many("slow", "greedy", 20)];
    const engine = await runEngine(initial, { clock, platform, connect, workers, home: HOME });
    await clock.advance(5000);
    const alone = hung.length;
    for (const object of many("quick", "modest", 5)) engine.put(object);
    await clock.advance(5000);
    const made = platform.sent("POST").length;
    for (const object of many("slow", "third", 20)) engine.put(object);
    await clock.advance(5000);
    return { alone, made, all: hung.length };
  }

  test("do not keep each other from working: what hangs in one leaves room within the share of the Account", async () => {
    const { alone, made, all } = await hanging(8);
    expect(alone).toBe(2);
    expect(made).toBe(5);
    // Together they get no more than any other Account.
    expect(all).toBe(3);
  });
});
