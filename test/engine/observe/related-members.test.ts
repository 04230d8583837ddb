import { describe, expect, test } from "vitest";
import { readFacts, readStatus } from "../../../src/engine/status/status.ts";
import { Forbidden, NotFound, type PlatformError } from "../../../src/platform/answers/errors.ts";
import { group, groupItem } from "../../kinds/compute/scaling-group/groups.ts";
import { fakeApiServer } from "../support/fake-api-server.ts";
import { API, fakePlatform } from "../support/fake-platform.ts";
import { objectOf } from "../support/fixtures.ts";
import { stage } from "../support/stage.ts";

const DC = "72e73b81-8551-4e74-b398-fc63b39994af";
const SERVERS = `/datacenters/${DC}/servers`;
const RESYNC = 331_000;
const wanted = (more: object = {}) => group({ datacenterRef: undefined, datacenterId: DC, ...more });
const output = { configMapName: "addresses" };

type Api = ReturnType<typeof fakeApiServer>;

/** Groups that exist and are claimed, with these servers as replicas. `life` is one process of an operator. */
function open(specs: Record<string, object>, before?: { api: Api; platform: ReturnType<typeof fakePlatform> }) {
  const platform = before?.platform ?? fakePlatform();
  const machine = (id: string, ip: string) => {
    const nics = { items: [{ id: `n-${id}`, properties: { name: "private", ips: [ip] } }] };
    platform.make(id, { properties: { name: id } }, { path: SERVERS, targets: [id], entities: { nics } });
  };
  const replicas = (name: string, ...ids: string[]) => {
    const items = ids.map((id) => ({ id: `r-${id}`, properties: { name: id, datacenterServer: { id } } }));
    const found = platform.items.get(name);
    if (found) found.entities = { servers: { items } };
  };
  const objects = Object.entries(specs).map(([name, spec]) => {
    const claim = { id: name, parents: { datacenter: DC }, account: "shop/main", endpoint: API, contract: 1 };
    return objectOf("ScalingGroup", name, { spec: wanted(spec), status: claim });
  });
  for (const { metadata } of before ? [] : objects) {
    const { name } = metadata;
    const { properties } = groupItem(group(), { properties: { name, datacenter: { id: DC } } });
    platform.make(name, { properties }, { path: "/groups", targets: [name], entities: {} });
  }
  const api = before?.api ?? fakeApiServer(...objects);
  const life = stage(objects, { api, platform });
  const configMap = objectOf("ConfigMap", "addresses");
  const outputOf = () => Object(api.get(configMap)?.data);
  /** Passes over all objects for this long, like those of the queue. */
  async function settle(ms = 0): Promise<void> {
    for (let spent = 0; spent <= ms; spent += 1000) {
      for (const { metadata } of objects) await life.passes(`ScalingGroup/shop/${metadata.name}`);
      await life.clock.advance(spent === ms ? 0 : 1000);
      life.sync();
      for (const { metadata } of objects) await life.passes(`ScalingGroup/shop/${metadata.name}`);
    }
  }
  const lists = () => platform.calls.filter(({ url }) => new URL(url).pathname.endsWith("/servers")).length;
  const current = (name: string) => {
    const object = api.get(objectOf("ScalingGroup", name));
    if (!object) throw new Error(`there is no group ${name}`);
    return object;
  };
  const isReady = (name: string) =>
    readStatus(current(name)).conditions?.find(({ type }) => type === "Ready")?.status === "True";
  const shown = (name: string) => readFacts(current(name)).servers;
  return { ...life, platform, api, machine, replicas, outputOf, settle, lists, isReady, shown };
}

describe("members of another collection that an output shows", () => {
  test("are those that the resource names, in its order, and no others", async () => {
    const { machine, replicas, settle, outputOf, shown, isReady } = open({ web: { output } });
    machine("s1", "10.0.0.1");
    machine("s2", "10.0.0.2");
    machine("stranger", "10.0.0.9");
    replicas("web", "s2", "s1");
    await settle(2000);
    expect(outputOf()).toMatchObject({ SERVER_IDS: "s2,s1", IPS: "10.0.0.2,10.0.0.1" });
    expect(shown("web")).toMatchObject([{ nics: [{ ips: ["10.0.0.2"] }] }, { nics: [{ ips: ["10.0.0.1"] }] }]);
    expect(JSON.stringify([outputOf(), shown("web")])).not.toContain("10.0.0.9");
    expect(isReady("web")).toBe(true);
  });

  test("cost one list per datacenter and resync, and none where no output is asked for", async () => {
    const some = open({ web: { output }, api: { output: { secretName: "api" } }, idle: {} });
    for (const name of ["web", "api", "idle"]) some.machine(`s-${name}`, "10.0.0.1");
    for (const name of ["web", "api", "idle"]) some.replicas(name, `s-${name}`);
    await some.settle(2000);
    expect(some.lists()).toBe(1);
    await some.clock.advance(RESYNC);
    expect(some.lists()).toBe(2);
    expect(some.shown("idle")).toEqual([{ name: "s-idle", serverId: "s-idle" }]);
    const none = open({ idle: {} });
    none.replicas("idle", "s1");
    await none.settle(2000);
    await none.clock.advance(RESYNC);
    expect(none.isReady("idle")).toBe(true);
    expect(none.lists()).toBe(0);
  });

  test("are no longer read, nor shown, when spec asks for no output any more", async () => {
    const { machine, replicas, settle, shown, lists, clock, api } = open({ web: { output } });
    machine("s1", "10.0.0.1");
    replicas("web", "s1");
    await settle(2000);
    const object = api.get(objectOf("ScalingGroup", "web"));
    if (object) api.put({ ...object, spec: wanted() });
    await settle(2000);
    expect(shown("web")).toEqual([{ name: "s1", serverId: "s1" }]);
    const before = lists();
    await clock.advance(RESYNC);
    expect(lists()).toBe(before);
  });

  test("are looked for soon when the resource names another one", async () => {
    const { machine, replicas, settle, outputOf, lists } = open({ web: { output } });
    machine("s1", "10.0.0.1");
    replicas("web", "s1");
    await settle(2000);
    machine("s2", "10.0.0.2");
    replicas("web", "s1", "s2");
    await settle(20_000);
    expect(outputOf()).toMatchObject({ REPLICAS: "2", IPS: "10.0.0.1,10.0.0.2" });
    replicas("web", "s2");
    const before = lists();
    await settle(20_000);
    expect(outputOf()).toMatchObject({ REPLICAS: "1", IPS: "10.0.0.2" });
    expect(lists()).toBe(before);
  });

  test("that cannot be seen yet keep nothing waiting", async () => {
    const { machine, replicas, settle, outputOf, isReady } = open({ web: { output } });
    machine("s1", "10.0.0.1");
    replicas("web", "s1", "s2");
    await settle(2000);
    expect(outputOf()).toMatchObject({ SERVER_IDS: "s1,s2", IPS: "10.0.0.1" });
    expect(isReady("web")).toBe(true);
    machine("s2", "10.0.0.2");
    await settle(5000);
    expect(outputOf()).toMatchObject({ IPS: "10.0.0.1,10.0.0.2" });
  });

  test.each([
    ["is gone", NotFound, 404],
    ["may not be read", Forbidden, 403],
  ])("stay as they were last seen when the operator starts while their datacenter %s", async (_, Problem, status) => {
    const first = open({ web: { output } });
    first.machine("s1", "10.0.0.1");
    first.replicas("web", "s1");
    await first.settle(2000);
    const before = first.outputOf();
    first.platform.beforeEach(({ url, method }) => {
      const problem: PlatformError = new Problem({ call: `${method} ${url}`, status });
      if (url.includes("/servers")) throw problem;
    });
    const { settle, outputOf, isReady, lists } = open({ web: { output } }, first);
    const spent = lists();
    await settle(2000);
    expect(lists()).toBeGreaterThan(spent);
    expect(isReady("web")).toBe(true);
    expect(outputOf()).toEqual(before);
    first.replicas("web", "s1", "s2");
    await settle(20_000);
    expect(outputOf()).toMatchObject({ SERVER_IDS: "s1,s2", IPS: "10.0.0.1" });
    expect(isReady("web")).toBe(true);
  });
});
