import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { startCluster } from "../../src/cli/control-plane/start.ts";
import { readStatus } from "../../src/engine/status/status.ts";
import { type KubeObject, pathOf, SECRETS } from "../../src/kube/resource.ts";
import { SIGNING_KEY } from "../../src/operator/signing-key.ts";
import { hashBody } from "../../src/runtime/hash.ts";
import { audit } from "../cluster/audit.ts";
import { type Platform, startPlatform } from "../cluster/chaos/platform.ts";
import { openStage, type Stage } from "../cluster/chaos/stage.ts";
import { cluster } from "../cluster/harness.ts";
import { centralLogging, datacenter, ipBlock, lan, metricPipeline, server } from "../cluster/objects.ts";
import { accountSpec, manifest } from "../subjects/surroundings.ts";
import { forge, openTenant } from "./tenant.ts";

// One operator for all namespaces, so it needs a control plane of its own. B is the victim. Tenants have the shipped
// roles; attackers may also write any status in their own namespace.
const cleanup = new AsyncDisposableStack();
const quick = ["--annotate-after", "1s", "--log-level", "debug"];
let kubeconfig: string;
let platform: Platform;
let a: Stage;
let b: Stage;

beforeAll(async () => {
  const control = await startCluster({ audit: audit() });
  cleanup.defer(control.stop);
  kubeconfig = control.kubeconfig;
  platform = cleanup.use(await startPlatform({ speed: 200 }));
  const home = cleanup.use(await openStage(kubeconfig));
  await home.operator({ everywhere: true, flags: quick });
  a = cleanup.use(await openTenant(kubeconfig, { forges: true }));
  b = cleanup.use(await openTenant(kubeconfig, { forges: true }));
  await open(b);
});
afterAll(() => cleanup.disposeAsync());

/** Creates an Account of the contract for a tenant. */
async function open(stage: Stage): Promise<void> {
  const spec = { ...accountSpec({ api: platform.url, nth: 0 }), credentialsSecretRef: { name: "main" } };
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "main" },
    stringData: { token: platform.token },
  };
  await stage.apply(secret, manifest("Account", "main", spec));
  await stage.untilReady("Account", "main");
}

const idOf = (object: KubeObject | undefined): string => (object && readStatus(object).id) ?? "";
/** The claims in B's objects, as far as A can know them. */
const claimed = (id: string, more: object = {}) => ({
  id,
  parents: {},
  account: `${b.namespace}/main`,
  contract: 31_000_001,
  endpoint: platform.url,
  ...more,
});
/** An object of A whose annotation claims this resource. */
const claiming = ({ metadata, ...rest }: { metadata: { name: string } }, claim: object) => {
  const owner = `${a.namespace}/${metadata.name}`;
  const annotations = { "mooring.dev/external-id": JSON.stringify({ ...claim, owner }) };
  return { ...rest, metadata: { ...metadata, annotations } };
};

/** B's datacenter on the platform. */
async function prize(name: string): Promise<{ id: string; current: () => Promise<unknown> }> {
  await b.apply(datacenter(name));
  const id = idOf(await b.untilReady("Datacenter", name));
  return { id, current: async () => (await platform.steering.resources("datacenters")).find((each) => each.id === id) };
}

describe("a status that a tenant writes", () => {
  it("renames and deletes nothing of another tenant, with his own finalizer or without", async () => {
    const { id, current } = await prize("renamed");
    const before = await current();
    await a.apply({
      ...datacenter("thief", { description: "taken" }),
      metadata: { name: "thief", finalizers: ["mooring.dev/finalizer"] },
    });
    await forge(a, "Datacenter", "thief", claimed(id, { nonce: "n" }));
    await a.untilReason("Datacenter", "thief", "AccountNotFound");
    await a.remove("Datacenter", "thief");
    await a.untilGone("Datacenter", "thief");
    expect(await current()).toEqual(before);
  });

  it("rotates no key of another tenant, and brings none into a Secret", async () => {
    await b.apply(metricPipeline("pipe"));
    const id = idOf(await b.untilReady("MetricPipeline", "pipe"));
    const secretOf = async (stage: Stage, name: string) => {
      const path = pathOf(SECRETS, { namespace: stage.namespace, name });
      return secret.parse(await stage.hands.request({ method: "GET", path })).data;
    };
    const before = await secretOf(b, "pipe-metricpipeline");
    const { metadata, ...rest } = metricPipeline("thief");
    await a.apply({ ...rest, metadata: { ...metadata, annotations: { "mooring.dev/rotate-at": "now" } } });
    const endpoint = `${platform.url}/monitoring/de-txl`;
    const key = { version: 1, issuedAt: "2020-01-01T00:00:00Z", fingerprint: "f" };
    await forge(a, "MetricPipeline", "thief", claimed(id, { endpoint, nonce: "n", key }));
    await a.untilReason("MetricPipeline", "thief", "AccountNotFound");
    await expect(secretOf(a, "thief-metricpipeline")).rejects.toThrow("not found");
    expect(await secretOf(b, "pipe-metricpipeline")).toEqual(before);
    const [url, apikey] = ["endpoint", "key"].map((name) => Buffer.from(before[name] ?? "", "base64").toString());
    const headers = { apikey: apikey ?? "", "content-type": "text/plain" };
    expect((await fetch(url ?? "", { method: "POST", headers, body: "alive 1\n" })).status).toBe(204);
  });

  it("gives an object of the same Account nothing either: it gets a resource of its own", async () => {
    const { id, current } = await prize("mine");
    const before = await current();
    const { metadata, ...rest } = datacenter("copycat", { description: "taken" });
    await b.apply({ ...rest, metadata: { ...metadata, annotations: { "mooring.dev/paused": "true" } } });
    await untilPaused(b, "copycat");
    await forge(b, "Datacenter", "copycat", { id, account: `${b.namespace}/main`, parents: {}, nonce: "n" });
    await b.patch("Datacenter", "copycat", { metadata: { annotations: { "mooring.dev/paused": null } } });
    expect(idOf(await b.untilReady("Datacenter", "copycat"))).not.toBe(id);
    expect(await current()).toEqual(before);
  });

  it("that Mooring wrote and somebody changed is restored from the annotation: nothing is created twice", async () => {
    const { id } = await prize("tampered");
    await expect
      .poll(async () => (await b.read("Datacenter", "tampered"))?.metadata.annotations?.["mooring.dev/external-id"])
      .toBeDefined();
    await forge(b, "Datacenter", "tampered", { id: "11111111-2222-4333-8444-555555555555", advice: ["send money"] });
    const status = async () => (await b.read("Datacenter", "tampered"))?.status;
    await expect.poll(status).toMatchObject({ id });
    await expect.poll(status).not.toHaveProperty("advice");
    await b.untilReady("Datacenter", "tampered");
    expect(await platform.named("datacenters", "tampered")).toHaveLength(1);
  });
});

describe("an old signature", () => {
  it("gives back nothing that was handed over to another tenant, and both objects report it", async () => {
    await using c = await openTenant(kubeconfig, { forges: true });
    await open(c);
    const { id, saved, status } = await backup(c, "given");
    await b.apply(datacenter("received", { name: "given", externalId: id }));
    await b.untilReady("Datacenter", "received");
    const current = async () => (await platform.steering.resources("datacenters")).find((each) => each.id === id);
    const before = await current();
    const annotations = { ...saved.metadata.annotations, "mooring.dev/paused": "true" };
    // A paused object is not overwritten, and a reference to it still does not follow the forged id.
    await c.apply(
      { ...saved, metadata: { ...saved.metadata, annotations } },
      lan("inside", { datacenterRef: { name: "given" } }),
    );
    await untilPaused(c, "given");
    await forge(c, "Datacenter", "given", status);
    await c.untilReason("Lan", "inside", "ReferenceNotReady");
    const spec = { ...Object(saved.spec), description: "taken", deletionPolicy: "Delete" };
    await c.apply({ ...saved, spec, metadata: { ...saved.metadata, annotations: saved.metadata.annotations } });
    await c.patch("Datacenter", "given", { metadata: { annotations: { "mooring.dev/paused": null } } });
    await c.untilReason("Datacenter", "given", "NotAdoptable");
    const reported = () => b.admin.request({ method: "GET", path: `/api/v1/namespaces/${b.namespace}/events` });
    await expect
      .poll(async () => JSON.stringify(await reported()))
      .toContain("is also claimed by an object of another");
    expect(await platform.named("datacenters", "given")).toHaveLength(1);
    for (const [kind, name] of [
      ["Lan", "inside"],
      ["Datacenter", "given"],
    ] as const) {
      await c.remove(kind, name);
      await c.untilGone(kind, name);
    }
    expect(await current()).toEqual(before);
  });
});

describe("a status of an earlier object", () => {
  it("is that of no other object: one that has its name later gets a resource of its own", async () => {
    const { id, status } = await backup(b, "again");
    const { metadata, ...rest } = datacenter("again", { deletionPolicy: "Retain" });
    await b.apply({ ...rest, metadata: { ...metadata, annotations: { "mooring.dev/paused": "true" } } });
    await untilPaused(b, "again");
    await forge(b, "Datacenter", "again", status);
    await b.patch("Datacenter", "again", { metadata: { annotations: { "mooring.dev/paused": null } } });
    // The forged status also says Ready, until the operator has read it.
    await expect.poll(async () => idOf(await b.read("Datacenter", "again"))).not.toBe(id);
    expect(idOf(await b.untilReady("Datacenter", "again"))).not.toBe(id);
  });
});

async function untilPaused(stage: Stage, name: string): Promise<void> {
  const conditions = async () => {
    const found = await stage.read("Datacenter", name);
    return (found && readStatus(found).conditions) ?? [];
  };
  await expect.poll(conditions).toContainEqual(expect.objectContaining({ type: "Paused", status: "True" }));
}

/** The object and its status as a backup has them. Its resource stays on the platform. */
async function backup(stage: Stage, name: string) {
  await stage.apply(datacenter(name, { deletionPolicy: "Retain" }));
  const id = idOf(await stage.untilReady("Datacenter", name));
  const read = () => stage.read("Datacenter", name);
  await expect.poll(async () => (await read())?.metadata.annotations?.["mooring.dev/external-id"]).toBeDefined();
  const { apiVersion, kind, metadata, spec, status } = (await read()) ?? { ...datacenter(name), status: {} };
  await stage.remove("Datacenter", name);
  await stage.untilGone("Datacenter", name);
  const { annotations = {} } = metadata;
  return { id, saved: { apiVersion, kind, spec, metadata: { name, annotations } }, status: Object(status) };
}

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

  it("block no deletion of another tenant, and are not revealed", async () => {
    const { id, current } = await prize("held");
    const claim = { ...claimed("x"), parents: { datacenter: id }, account: `${a.namespace}/main` };
    await a.apply(claiming(server("blocker"), claim));
    await b.remove("Datacenter", "held");
    await b.untilGone("Datacenter", "held");
    await expect.poll(current).toBeUndefined();
  });

  it("take neither the only place of its kind nor what another tenant takes over", async () => {
    const [handmade] = [await platform.steering.call("POST", "/cloudapi/v6/datacenters", { properties: wanted })];
    const { id } = found.parse(handmade);
    const logging = claimed("central", { endpoint: `${platform.url}/logging/de-txl` });
    await a.apply(claiming(centralLogging("switch"), logging), claiming(datacenter("mine"), claimed(id)));
    await a.untilReason("CentralLogging", "switch", "AccountNotFound");
    await a.untilReason("Datacenter", "mine", "AccountNotFound");
    await b.apply(centralLogging("switch"), datacenter("taken", { ...wanted, externalId: id }));
    await b.untilReady("CentralLogging", "switch");
    expect(idOf(await b.untilReady("Datacenter", "taken"))).toBe(id);
  });

  it("keep no Account of another tenant from going", async () => {
    await using c = await openTenant(kubeconfig);
    await open(c);
    await a.apply(claiming(ipBlock("user"), claimed("x", { account: `${c.namespace}/main` })));
    await a.untilReason("IPBlock", "user", "AccountNotFound");
    await c.remove("Account", "main");
    await c.untilGone("Account", "main");
  });
});
const wanted = { name: "by-hand", location: "de/txl" };
const found = z.looseObject({ id: z.string() });
const secret = z.object({ data: z.record(z.string(), z.string()) });

describe("a backup that is restored without status", () => {
  it("finds its resource by the annotation where the signing key is there", async () => {
    const { id, saved } = await backup(b, "restored");
    await b.apply(saved);
    expect(idOf(await b.untilReady("Datacenter", "restored"))).toBe(id);
    expect(await platform.named("datacenters", "restored")).toHaveLength(1);
  });

  it("waits for a person where it is not, and finds it by externalId", async () => {
    // Not for an operator of all namespaces.
    await using elsewhere = await openStage(cluster().kubeconfig);
    const first = await elsewhere.operator({ flags: quick });
    await elsewhere.account(platform);
    const { id, saved } = await backup(elsewhere, "moved");
    await first.kill();
    const path = pathOf(SECRETS, { namespace: elsewhere.namespace, name: SIGNING_KEY });
    await elsewhere.admin.request({ method: "DELETE", path });
    // Nothing is signed with the key any more, so the next operator creates a new one.
    await (await elsewhere.operator({ flags: quick })).untilLeading();
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
