import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCluster } from "../../src/cli/control-plane/start.ts";
import { resourceOf } from "../../src/engine/objects/objects.ts";
import { readStatus } from "../../src/engine/schema/status.ts";
import { hashBody } from "../../src/hash.ts";
import { datacenter as kind } from "../../src/kinds/compute/datacenter.ts";
import { SECRETS } from "../../src/kube/owned-secret.ts";
import { type KubeObject, pathOf } from "../../src/kube/resource.ts";
import { SIGNING_KEY } from "../../src/operator/signing-key.ts";
import { type Platform, startPlatform } from "../cluster/chaos-platform.ts";
import { openStage, type Stage } from "../cluster/chaos-stage.ts";
import { datacenter, server } from "../cluster/objects.ts";

// One operator for all namespaces, and so a control plane of its own. B is the victim; tenants may write anything into
// objects of their own namespace, status included, as `resources: ["*"]` lets them.
const cleanup = new AsyncDisposableStack();
const quick = ["--annotate-after", "1s", "--log-level", "debug"];
let kubeconfig: string;
let platform: Platform;
let b: Stage;

beforeAll(async () => {
  const control = await startCluster();
  cleanup.defer(control.stop);
  kubeconfig = control.kubeconfig;
  platform = cleanup.use(await startPlatform({ speed: 200 }));
  b = cleanup.use(await openStage(kubeconfig));
  await b.operator({ everywhere: true, flags: quick });
  await b.account(platform);
  await b.untilReady("Account", "main");
});
afterAll(() => cleanup.disposeAsync());

const idOf = (object: KubeObject | undefined): string => (object && readStatus(object).id) ?? "";

/** Writes into the status of an object, whoever owns it. */
async function forge({ admin, namespace }: Stage, name: string, status: object): Promise<void> {
  const path = pathOf(resourceOf(kind), { namespace, name, subresource: "status" });
  await admin.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body: { status } });
}

/** B's datacenter as the platform has it. */
async function prize(name: string): Promise<{ id: string; look: () => Promise<unknown> }> {
  await b.apply(datacenter(name));
  const id = idOf(await b.untilReady("Datacenter", name));
  return { id, look: async () => (await platform.steering.resources("datacenters")).find((each) => each.id === id) };
}

describe("a status that a tenant writes", () => {
  it("renames and deletes nothing of another tenant, with his own finalizer or without", async () => {
    const { id, look } = await prize("renamed");
    const before = await look();
    await using a = await openStage(kubeconfig);
    await a.apply({
      ...datacenter("thief", { description: "taken" }),
      metadata: { name: "thief", finalizers: ["mooring.dev/finalizer"] },
    });
    const account = `${b.namespace}/main`;
    await forge(a, "thief", { id, account, parents: {}, contract: 31_000_001, endpoint: platform.url, nonce: "n" });
    await a.untilReason("Datacenter", "thief", "AccountNotFound");
    await a.remove("Datacenter", "thief");
    await a.untilGone("Datacenter", "thief");
    expect(await look()).toEqual(before);
  });

  it("gives an object of the same Account nothing either: it gets a resource of its own", async () => {
    const { id, look } = await prize("mine");
    const before = await look();
    const { metadata, ...rest } = datacenter("copycat", { description: "taken" });
    await b.apply({ ...rest, metadata: { ...metadata, annotations: { "mooring.dev/paused": "true" } } });
    const conditions = async () => {
      const found = await b.read("Datacenter", "copycat");
      return (found && readStatus(found).conditions) ?? [];
    };
    await expect.poll(conditions).toContainEqual(expect.objectContaining({ type: "Paused", status: "True" }));
    await forge(b, "copycat", { id, account: `${b.namespace}/main`, parents: {}, nonce: "n" });
    await b.patch("Datacenter", "copycat", { metadata: { annotations: { "mooring.dev/paused": null } } });
    expect(idOf(await b.untilReady("Datacenter", "copycat"))).not.toBe(id);
    expect(await look()).toEqual(before);
  });

  it("that Mooring had written and somebody changed is put right from the annotation: nothing is made twice", async () => {
    const { id } = await prize("tampered");
    await expect
      .poll(async () => (await b.read("Datacenter", "tampered"))?.metadata.annotations?.["mooring.dev/external-id"])
      .toBeDefined();
    await forge(b, "tampered", { id: "11111111-2222-4333-8444-555555555555", advice: ["send money"] });
    const status = async () => (await b.read("Datacenter", "tampered"))?.status;
    await expect.poll(status).toMatchObject({ id });
    await expect.poll(status).not.toHaveProperty("advice");
    await b.untilReady("Datacenter", "tampered");
    expect(await platform.named("datacenters", "tampered")).toHaveLength(1);
  });
});

describe("annotations that a tenant writes", () => {
  it("claim nothing that was made by hand, however well its body is guessed", async () => {
    const body = { properties: { name: "handmade", location: "de/txl", description: "by a person" } };
    await platform.steering.call("POST", "/cloudapi/v6/datacenters", body);
    const [before] = await platform.named("datacenters", "handmade");
    const intent = {
      nonce: "guessed",
      at: new Date(Date.now() - 5000).toISOString(),
      hash: hashBody(body),
      parents: {},
      account: `${b.namespace}/main`,
      endpoint: platform.url,
    };
    const { metadata, ...rest } = datacenter("squatter", {
      name: "handmade",
      location: "de/txl",
      description: "by a person",
    });
    const annotations = { "mooring.dev/intent": JSON.stringify(intent) };
    await b.apply({ ...rest, metadata: { ...metadata, annotations } });
    expect(idOf(await b.untilReady("Datacenter", "squatter"))).not.toBe(before?.id);
  });

  it("stand in the way of no deletion of another tenant, and are not told of", async () => {
    const { id, look } = await prize("held");
    await using a = await openStage(kubeconfig);
    const claim = { id: "x", parents: { datacenter: id }, account: `${a.namespace}/main`, endpoint: platform.url };
    const { metadata, ...rest } = server("blocker");
    const annotations = { "mooring.dev/external-id": JSON.stringify({ ...claim, owner: `${a.namespace}/blocker` }) };
    await a.apply({ ...rest, metadata: { ...metadata, annotations } });
    await b.remove("Datacenter", "held");
    await b.untilGone("Datacenter", "held");
    await expect.poll(look).toBeUndefined();
  });
});

describe("a backup that is restored without status", () => {
  /** The object as a backup has it; its resource stays where it is. */
  async function backup(stage: Stage, name: string): Promise<{ id: string; saved: object }> {
    await stage.apply(datacenter(name, { deletionPolicy: "Retain" }));
    const id = idOf(await stage.untilReady("Datacenter", name));
    const read = () => stage.read("Datacenter", name);
    await expect.poll(async () => (await read())?.metadata.annotations?.["mooring.dev/external-id"]).toBeDefined();
    const { apiVersion, kind, metadata, spec } = (await read()) ?? datacenter(name);
    await stage.remove("Datacenter", name);
    await stage.untilGone("Datacenter", name);
    const { annotations = {} } = metadata;
    return { id, saved: { apiVersion, kind, spec, metadata: { name, annotations } } };
  }

  it("finds its resource by the annotation where the signing key is there", async () => {
    const { id, saved } = await backup(b, "restored");
    await b.apply(saved);
    expect(idOf(await b.untilReady("Datacenter", "restored"))).toBe(id);
    expect(await platform.named("datacenters", "restored")).toHaveLength(1);
  });

  it("waits for a person where it is not, and finds it by externalId", async () => {
    const control = await startCluster();
    await using _ = { [Symbol.asyncDispose]: control.stop };
    await using elsewhere = await openStage(control.kubeconfig);
    const first = await elsewhere.operator({ flags: quick });
    await elsewhere.account(platform);
    const { id, saved } = await backup(elsewhere, "moved");
    await first.kill();
    const path = pathOf(SECRETS, { namespace: elsewhere.namespace, name: SIGNING_KEY });
    await elsewhere.admin.request({ method: "DELETE", path });
    await elsewhere.operator({ flags: quick });
    await elsewhere.apply(saved);
    await elsewhere.untilReason("Datacenter", "moved", "SigningKeyUnknown");
    expect(await platform.named("datacenters", "moved")).toHaveLength(1);
    await elsewhere.remove("Datacenter", "moved");
    await elsewhere.untilGone("Datacenter", "moved");
    await elsewhere.apply(datacenter("moved", { deletionPolicy: "Retain", externalId: id }));
    expect(idOf(await elsewhere.untilReady("Datacenter", "moved"))).toBe(id);
    expect(await platform.named("datacenters", "moved")).toHaveLength(1);
  });
});
