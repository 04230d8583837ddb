import { expect, test } from "vitest";
import { kinds } from "../../src/kinds/index.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { planAll } from "../../src/plan/planner.ts";
import { createStage } from "../../src/plan/stage.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { fakePlatform } from "../engine/support/fake-platform.ts";
import { handleOf, objectOf } from "../engine/support/fixtures.ts";

const DC = "72e73b81-8551-4e74-b398-fc63b39994af";
const ips = { location: "de/txl", size: 1 };

interface Case {
  kind: string;
  /** Where the resource is, and how it is there. */
  path: string;
  properties: object;
  entities?: object;
  spec: object;
  isGone?: boolean;
  /** The status of the object, if it has adopted the resource before. */
  status?: object;
  /** The status of an object that owns the resource, and its namespace. */
  owner?: { namespace?: string; parents?: object; born?: string };
}

/** The plan for an object that adopts an existing resource. */
async function planned(
  { kind: name, path, properties, entities, spec, owner, isGone, status }: Case,
  ...others: KubeObject[]
) {
  const platform = fakePlatform();
  const id = platform.make("found", { properties }, { path, ...(entities && { entities }) });
  if (isGone) platform.removeByHand(id);
  const { signal } = new AbortController();
  await using stage = createStage({ kinds, clock: systemClock, signal, labelsOf: () => ({}) });
  const put = (...all: KubeObject[]) => all.forEach(stage.put);
  put(objectOf("Account", "main"), ...others);
  if (owner) {
    const { namespace = "shop", parents = {}, born } = owner;
    const status = { id, account: "shop/main", parents, internal: { nonce: "n", ...(born && { born }) } };
    put(objectOf(name, "theirs", { metadata: { name: "theirs", namespace }, spec, status }));
  }
  stage.account(handleOf("shop/main", { connection: platform.connectionOf("shop/main") }));
  const kind = kinds.find((each) => each.kind === name);
  if (!kind) throw new Error(`there is no kind ${name}`);
  const desired = objectOf(name, "mine", {
    spec: { ...spec, externalId: id },
    ...(status && { status: { id, ...status } }),
  });
  const [item] = await planAll(stage, [{ kind, live: status && desired, desired }]);
  return item;
}

const ipBlock: Case = {
  kind: "IPBlock",
  path: "/ipblocks",
  properties: { ...ips, name: "old" },
  spec: { ...ips, name: "ips" },
};
const lan: Case = {
  kind: "Lan",
  path: `/datacenters/${DC}/lans`,
  properties: { name: "old", public: false },
  spec: { datacenterId: DC, name: "old" },
};
const server: Case = {
  kind: "Server",
  path: `/datacenters/${DC}/servers`,
  properties: { name: "web", type: "VCPU", cores: 2, ram: 2048, availabilityZone: "ZONE_1" },
  spec: { datacenterId: DC, type: "VCPU", cores: 2, ram: 2048 },
};

test("a resource that nobody owns is adopted, and the plan shows what will be changed", async () => {
  const fields = [{ field: "name", from: "old", to: "ips", platform: true }];
  expect(await planned(ipBlock)).toMatchObject({ action: "adopt", writes: true, fields });
});

test.each([
  ["IPBlock", { ...ipBlock, spec: ips }],
  ["Lan", lan],
  ["Server", server],
])("an adopted %s without a name in spec keeps its name", async (_, given) => {
  expect(await planned(given)).toMatchObject({ action: "adopt", writes: false, fields: [] });
});

test.each([
  ["in the namespace", ipBlock, { namespace: "shop" }],
  ["in another namespace", ipBlock, { namespace: "other" }],
  ["with a number and its creation date", lan, { parents: { datacenter: DC }, born: "2026-01-01T00:00:00Z" }],
])("a resource that another object owns is not adopted: %s", async (_, given, owner) => {
  const message = expect.stringMatching(/^NotAdoptable: .* belongs to \w+\/\w+\/theirs/);
  expect(await planned({ ...given, owner })).toMatchObject({ action: "blocked", writes: false, message });
});

test("a Server is not adopted with a boot volume that a Volume has", async () => {
  const volume = { id: "root-1", properties: { name: "root", size: 10, type: "HDD" } };
  const spec = { ...server.spec, bootVolume: { size: 10, type: "HDD" } };
  const found = {
    properties: { ...server.properties, bootVolume: { id: "root-1" } },
    entities: { volumes: { items: [volume] } },
  };
  const claim = { id: "root-1", account: "shop/main", parents: { datacenter: DC }, internal: { nonce: "n" } };
  const root = objectOf("Volume", "root", { spec: { datacenterId: DC }, status: claim });
  const item = await planned({ ...server, ...found, spec }, root);
  expect(item).toMatchObject({ action: "blocked", writes: false });
  expect(item?.message).toMatch(/^NotAdoptable: .* its bootVolume is Volume root-1, which another object has/);
});

test("a resource with other values of immutable fields is not adopted, and the plan names them", async () => {
  const item = await planned({ ...server, spec: { ...server.spec, type: "CUBE", availabilityZone: "ZONE_2" } });
  expect(item).toMatchObject({ action: "blocked", writes: false });
  expect(item?.message).toMatch(/^NotAdoptable: .*type is VCPU on the platform and CUBE in spec; availabilityZone is/);
});

test("a zone that an adopted Server never had is no replacement, and nothing allows it", async () => {
  const internal = { adoptedAt: "2026-01-01T00:00:00Z", fixed: {} };
  const status = { account: "shop/main", parents: { datacenter: DC }, internal };
  const item = await planned({ ...server, spec: { ...server.spec, availabilityZone: "ZONE_2" }, status });
  expect(item).toMatchObject({ action: "blocked", message: expect.stringMatching(/^ImmutableFieldChanged: .*ZONE_1/) });
  expect(item).not.toHaveProperty("replacement");
});

test("a resource with members that spec does not name is not adopted, and the plan names them", async () => {
  const log = (tag: string) => ({ source: "docker", tag, protocol: "http" });
  const item = await planned({
    kind: "LogPipeline",
    path: "/pipelines",
    properties: { name: "logs", logs: [log("app"), log("old")] },
    spec: { logs: [log("app")] },
  });
  expect(item).toMatchObject({ action: "blocked", writes: false });
  expect(item?.message).toMatch(
    /^NotAdoptable: .*logs\[old\] is on the platform and not in spec, which would remove it/,
  );
});

test("a resource that is not there is not adopted", async () => {
  const item = await planned({ ...ipBlock, isGone: true });
  expect(item).toMatchObject({ action: "blocked", message: expect.stringContaining("there is no IPBlock") });
});
