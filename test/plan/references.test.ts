import { expect, test } from "vitest";
import { kinds } from "../../src/kinds/index.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import type { Candidate } from "../../src/plan/outcome.ts";
import { planAll } from "../../src/plan/planner.ts";
import { createStage } from "../../src/plan/stage.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { fakePlatform } from "../engine/support/fake-platform.ts";
import { datacenterSpec, handleOf, objectOf, readyCondition, serverSpec } from "../engine/support/fixtures.ts";

type Sight = Parameters<typeof planAll>[2];

/** The plan of these objects; `live` are in the cluster and in no file. */
async function planned(candidates: Omit<Candidate, "kind">[], live: KubeObject[] = [], sight?: Sight) {
  const { signal } = new AbortController();
  const platform = fakePlatform();
  for (const { status } of [...live, ...candidates.flatMap((each) => each.live ?? [])]) {
    const { id, parents } = Object(status);
    const path = parents?.datacenter ? "/datacenters/dc/servers" : "/datacenters";
    if (id) platform.make(id, { properties: { ...datacenterSpec, name: id } }, { path, targets: [id] });
  }
  await using stage = createStage({ kinds, clock: systemClock, signal, labelsOf: () => ({}) });
  for (const object of [objectOf("Account", "main"), ...live]) stage.put(object);
  stage.account(handleOf("shop/main", { connection: platform.connectionOf("shop/main") }));
  const all = candidates.map((each): Candidate => {
    const kind = kinds.find(({ kind }) => kind === (each.desired ?? each.live)?.kind);
    if (!kind) throw new Error("there is no such kind");
    return { kind, ...each };
  });
  return await planAll(stage, all, sight);
}

const created = (desired: KubeObject) => ({ live: undefined, desired });
const dc = objectOf("Datacenter", "dc", { spec: datacenterSpec });
const web = objectOf("Server", "web", {
  spec: { ...serverSpec("dc"), nics: [{ name: "a", lanRef: { name: "privat" } }] },
});
const data = objectOf("Volume", "data", {
  spec: {
    datacenterRef: { name: "dc" },
    size: 10,
    type: "HDD",
    licenceType: "LINUX",
    attachTo: { serverRef: { name: "web" } },
  },
});
const missing = expect.stringMatching(/^ReferenceNotFound: .*lanRef: Lan privat not found in namespace shop$/);

test("an object whose reference is neither in the cluster nor in the files waits, although the plan creates another one", async () => {
  const items = await planned([dc, web].map(created));
  expect(items).toMatchObject([{ action: "create" }, { action: "wait", writes: false, message: missing }]);
});

test("an object that refers to one that waits is not created either", async () => {
  const items = await planned([dc, web, data].map(created));
  const message = expect.stringMatching(/^ReferenceNotReady: .*Server web/);
  expect(items[2]).toMatchObject({ kind: "Volume", action: "wait", writes: false, message });
});

test("an object whose reference the caller may not read is unknown", async () => {
  const sight = { accounts: () => true, object: (key: string) => key !== "Lan/shop/privat" };
  const [, item] = await planned([dc, web].map(created), [], sight);
  const message = "whether Lan privat exists is not known: you may not read lans in namespace shop";
  expect(item).toMatchObject({ action: "unknown", writes: false, message });
});

const owned = (id: string, more: object = {}) => ({
  id,
  account: "shop/main",
  parents: {},
  conditions: [readyCondition()],
  internal: { nonce: "n" },
  ...more,
});

test("a replacement waits for a missing reference, and follows one that the plan creates, with the spec before", async () => {
  const home = objectOf("Datacenter", "dc", { spec: datacenterSpec, status: owned("dc") });
  const internal = { nonce: "n", fixed: { type: "another" } };
  const status = owned("srv", { parents: { datacenter: "dc" }, internal });
  const spec = { ...serverSpec("dc"), type: "ENTERPRISE" };
  const live = objectOf("Server", "web", { spec, status });
  const metadata = { name: "web", annotations: { "mooring.dev/allow-data-loss": "true" } };
  const desired = objectOf("Server", "web", {
    metadata,
    spec: { ...Object(web.spec), replacePolicy: "WhenNeeded" },
    status,
  });
  const [waiting] = await planned([{ live, desired }], [home]);
  expect(waiting).toMatchObject({ action: "wait", writes: false, message: missing });
  const lan = objectOf("Lan", "privat", { spec: { datacenterRef: { name: "dc" } } });
  const [, item] = await planned([created(lan), { live, desired }], [home]);
  expect(item).toMatchObject({ action: "replace", before: { type: "ENTERPRISE" }, spec: { type: "VCPU" } });
  expect(item?.after).toEqual(["Lan/shop/privat"]);
});

test("a deletion names the objects in no file that use the resource", async () => {
  const home = objectOf("Datacenter", "dc", { spec: datacenterSpec, status: owned("dc") });
  const parents = { datacenter: "dc" };
  const user = objectOf("Server", "user", { spec: serverSpec("dc"), status: owned("srv", { parents }) });
  const [item] = await planned([{ live: home, desired: undefined }], [user]);
  const message = expect.stringMatching(/^NotEmpty: .*Server\/shop\/user/);
  expect(item).toMatchObject({ action: "blocked", writes: false, message });
  const both = await planned([home, user].map((live) => ({ live, desired: undefined })));
  expect(both).toMatchObject([{ action: "delete", after: ["Server/shop/user"] }, { action: "delete" }]);
});

test("an Account that objects in no file use is not deleted, and the plan names them", async () => {
  const main = objectOf("Account", "main");
  const home = objectOf("Datacenter", "dc", { spec: datacenterSpec, status: owned("dc") });
  const message = "InUse: still used by Datacenter/shop/dc";
  expect(await planned([{ live: main, desired: undefined }], [home])).toMatchObject([{ action: "blocked", message }]);
  const both = await planned([main, home].map((live) => ({ live, desired: undefined })));
  expect(both).toMatchObject([{ action: "delete" }, { action: "delete" }]);
});

const asking = { ...readyCondition("False"), reason: "AlreadyExists" };
test.each([
  ["blocked", {}],
  ["create", { "mooring.dev/recreate": "older" }],
])(
  "an object whose creation was answered with an older resource is planned as the operator decides: %s",
  async (action, annotations) => {
    const status = { account: "shop/main", conditions: [asking], internal: { nonce: "n", refused: "older" } };
    const live = objectOf("Datacenter", "dc", { spec: datacenterSpec, status });
    const desired = { ...live, metadata: { ...live.metadata, annotations } };
    expect(await planned([{ live, desired }])).toMatchObject([{ action, writes: action === "create" }]);
  },
);
