import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { API, fakePlatform } from "../support/fake-platform.ts";
import { clusterAccountOf, objectOf, readyCondition } from "../support/fixtures.ts";
import { DC, type Life, live, readyOf } from "../support/lives.ts";
import { stage } from "../support/stage.ts";

const SHARED = "ClusterAccount/shared";
const of = (kind: string, namespace: string, spec: object, more: Partial<KubeObject> = {}) =>
  objectOf(kind, "a", {
    spec: { accountRef: { kind: "ClusterAccount", name: "shared" }, ...spec },
    metadata: { name: "a", namespace },
    ...more,
  });

/** The platform has a datacenter and an IP block. An object of this namespace owns them, through this Account. */
async function reached(
  object: KubeObject,
  { by = "", through = SHARED, adoption = "None" as "None" | "Any", managementPolicy = "Manage" } = {},
) {
  const platform = fakePlatform();
  platform.make("b", { properties: { name: "b", location: "de/txl", size: 1 } }, { path: "/ipblocks" });
  const [block = ""] = platform.items.keys();
  const owner = (kind: string, id: string) =>
    objectOf(kind, "owner", {
      spec: { location: "de/txl", size: 1, managementPolicy },
      metadata: { name: "owner", namespace: by },
      status: { id, account: through },
    });
  const owners = by === "" ? [] : [owner("Datacenter", DC), owner("IPBlock", block)];
  const spec = { ...Object(object.spec), ...(Object(object.spec).externalId === "" && { externalId: block }) };
  const asked = { ...object, spec };
  const shared = clusterAccountOf("shared", { default: true, namespaces: { selector: {} } });
  const all = stage([shared, asked, ...owners], { platform });
  const handle = all.accounts.get(SHARED);
  if (handle) all.accounts.put({ ...handle, adoption });
  const life: Life = { all, key: `${object.kind}/team/a`, object: asked, beforeEach: platform.beforeEach };
  await live(life, 30);
  return { reason: readyOf(life)?.reason, message: readyOf(life)?.message, calls: platform.calls };
}

const lan = of("Lan", "team", { datacenterId: DC });
const adopter = of("IPBlock", "team", { location: "de/txl", size: 1, externalId: "" });
const observer = of("IPBlock", "team", { externalId: "", managementPolicy: "Observe" });

describe("through a ClusterAccount without adoption", () => {
  test.each([
    ["a parent by id", lan],
    ["an adoption", adopter],
    ["an observation", observer],
  ])("%s leads nowhere when nobody of the namespace has it, in the same words whoever has", async (_, object) => {
    const [nobody, others, elsewhere, observed] = [
      await reached(object),
      await reached(object, { by: "other" }),
      await reached(object, { by: "team", through: "team/own" }),
      await reached(object, { by: "team", managementPolicy: "Observe" }),
    ];
    expect(nobody).toMatchObject({ reason: "NotYours", calls: [] });
    expect(nobody.message).toMatch(/^(datacenterId|externalId): no object of namespace team owns /);
    expect(others).toMatchObject({ reason: "NotYours", calls: [], message: nobody.message });
    expect(elsewhere).toMatchObject({ reason: "NotYours", calls: [], message: nobody.message });
    expect(observed).toMatchObject({ reason: "NotYours", calls: [], message: nobody.message });
  });

  test.each([
    ["at another address", { account: SHARED, endpoint: "http://elsewhere.example" }],
    ["through another Account at another address", { account: "team/own", endpoint: "http://elsewhere.example" }],
  ])("a claim that was made %s owns nothing here, and is not signed anew", async (_, where) => {
    const platform = fakePlatform();
    const claim = objectOf("Datacenter", "stolen", {
      spec: { location: "de/txl", accountRef: { kind: "ClusterAccount", name: "shared" }, deletionPolicy: "Retain" },
      metadata: { name: "stolen", namespace: "team" },
      status: { id: DC, ...where },
    });
    const all = stage([claim, lan], { platform });
    const life = (key: string, object: KubeObject): Life => ({ all, key, object, beforeEach: platform.beforeEach });
    const stolen = life("Datacenter/team/stolen", claim);
    await live(stolen, 5);
    expect(readyOf(stolen)?.reason).toBe("AccountMoved");
    const asking = life("Lan/team/a", lan);
    await live(asking, 5);
    expect(readyOf(asking)?.reason).toBe("NotYours");
    expect(platform.calls).toEqual([]);
  });

  test("a resource that was observed while that was allowed is no longer shown or read", async () => {
    const platform = fakePlatform();
    const id = platform.make("b", { properties: { name: "b", location: "de/txl", size: 1 } }, { path: "/ipblocks" });
    const status = { id, account: SHARED };
    const object = of("IPBlock", "team", { externalId: id, managementPolicy: "Observe" }, { status });
    const all = stage([object], { platform });
    const life: Life = { all, key: "IPBlock/team/a", object, beforeEach: platform.beforeEach };
    await live(life, 5);
    expect(readyOf(life)?.reason).toBe("NotYours");
  });

  test.each([
    ["team", undefined],
    ["other", "NotYours"],
  ])("a user of a cluster that an object of %s has by now is kept up only by its namespace", (by, reason) => {
    const cluster = objectOf("KafkaCluster", "stream", {
      spec: {},
      metadata: { name: "stream", namespace: by },
      status: { id: DC, account: SHARED, endpoint: API },
    });
    // The object is gone, and its cluster was retained.
    const user = of("KafkaUser", "team", { clusterRef: { name: "gone" } });
    const status = { id: "u1", parents: { cluster: DC }, account: SHARED, endpoint: API };
    const { view } = stage([{ ...user, status }, cluster]).contextOf("KafkaUser/team/a");
    expect(view.account.obstacle?.reason).toBe(reason);
  });

  test("a resource of the namespace itself is reached by its id", async () => {
    expect(await reached(lan, { by: "team" })).toMatchObject({ reason: "Available" });
    expect(await reached(observer, { by: "team" })).toMatchObject({ reason: "Observed" });
  });
});

describe("the number of a LAN as externalId", () => {
  const OTHER = "82e73b81-8551-4e74-b398-fc63b39994af";
  const claimed = (kind: string, name: string, namespace: string, spec: object, status: object) => {
    const conditions = [readyCondition()];
    return objectOf(kind, name, {
      spec,
      metadata: { name, namespace, uid: `${kind}-${name}` },
      status: { account: SHARED, conditions, ...status },
    });
  };
  const grant = objectOf("Grant", "team", {
    spec: { namespaces: { names: ["team"] }, kinds: ["Datacenter"] },
    metadata: { name: "team", namespace: "other" },
  });
  const theirs = claimed("Datacenter", "dc", "other", { location: "de/txl" }, { id: OTHER });
  const mine = claimed("Datacenter", "dc", "team", { location: "de/txl" }, { id: DC });
  const first = claimed(
    "Lan",
    "first",
    "team",
    {},
    { id: "1", parents: { datacenter: DC }, born: "2026-01-01T00:00:00Z" },
  );

  test.each([
    ["of its own datacenter leads to what it owns there", { name: "dc" }, undefined],
    ["of one that is lent leads to nothing of the same number", { namespace: "other", name: "dc" }, "NotYours"],
  ])("%s", (_, datacenterRef, reason) => {
    const asked = of("Lan", "team", { datacenterRef, externalId: "1", managementPolicy: "Observe" });
    const { contextOf } = stage([grant, theirs, mine, first, asked]);
    expect(contextOf("Lan/team/a").view.spec.obstacle?.reason).toBe(reason);
  });
});

describe("with adoption: Any", () => {
  test.each([
    ["a parent by id", lan, "Available"],
    ["an adoption", adopter, "Available"],
    ["an observation", observer, "Observed"],
  ])("%s leads to all of the contract", async (_, object, reason) => {
    expect((await reached(object, { adoption: "Any" })).reason).toBe(reason);
  });
});
