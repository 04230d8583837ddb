import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { startCluster } from "../../src/cli/control-plane/start.ts";
import { readStatus } from "../../src/engine/schema/status.ts";
import { SECRETS } from "../../src/kube/owned-secret.ts";
import { pathOf } from "../../src/kube/resource.ts";
import { SIGNING_KEY } from "../../src/operator/signing-key.ts";
import type { OperatorProcess } from "../cluster/chaos-operator.ts";
import { type Platform, startPlatform } from "../cluster/chaos-platform.ts";
import { openStage, type Stage } from "../cluster/chaos-stage.ts";
import { until } from "../cluster/chaos-wait.ts";
import { datacenter, ipBlock } from "../cluster/objects.ts";
import { manifest } from "../subjects/surroundings.ts";
import { formerDatacenter, formerIPBlock } from "./former-version.ts";

// One operator for all namespaces, and so a control plane of its own: nobody else's objects are to be among them.
const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

let platform: Platform;
let operator: OperatorProcess;
/** The operator's own namespace, and two tenants. */
let home: Stage;
let gold: Stage;
let other: Stage;
const byName = (name: string) => ({ accountRef: { kind: "ClusterAccount", name } });
const clusterAccount = (name: string, spec: object) =>
  manifest("ClusterAccount", name, { credentialsSecretRef: { name: "shared" }, ...spec });
const labelled = { namespaces: { selector: { matchLabels: { tier: "gold" } } } };

/** Somebody who may gives a namespace labels, or takes them away. */
const label = ({ namespace, admin }: Stage, labels: Record<string, string | null>) =>
  admin.request({
    method: "PATCH",
    path: `/api/v1/namespaces/${namespace}`,
    contentType: "application/merge-patch+json",
    body: { metadata: { labels } },
  });
async function statusOf(stage: Stage, kind: string, name: string) {
  const object = await stage.read(kind, name);
  return object && readStatus(object);
}
const messageOf = async (stage: Stage, kind: string, name: string) =>
  (await statusOf(stage, kind, name))?.conditions?.find(({ type }) => type === "Ready")?.message ?? "";

/** Somebody has taken the annotations out of this one. */
const DOUBTFUL = "doubtful";
/** What objects of a former version own; they used its default Account, which was in another namespace. */
const former: Record<string, string> = {};
async function leaveFormerObjects(): Promise<void> {
  const { steering, url: endpoint } = platform;
  const contracts = z.object({ items: z.array(z.object({ properties: z.object({ contractNumber: z.int() }) })) });
  const [first] = contracts.parse(await steering.call("GET", "/cloudapi/v6/contracts?depth=1")).items;
  const make = async (collection: string, name: string, properties: object) => {
    const body = { properties: { name, location: "de/txl", ...properties } };
    const { id } = z.object({ id: z.string() }).parse(await steering.call("POST", `/cloudapi/v6/${collection}`, body));
    former[name] = id;
    const contract = first?.properties.contractNumber ?? 0;
    return { namespace: gold.namespace, name, id, account: `${home.namespace}/main`, contract, endpoint };
  };
  const doubtful = formerIPBlock(await make("ipblocks", DOUBTFUL, { size: 1 }));
  const objects = [
    formerDatacenter(await make("datacenters", "former-dc", {})),
    formerIPBlock(await make("ipblocks", "former-ip", { size: 1 })),
    { ...doubtful, metadata: { ...doubtful.metadata, annotations: {} } },
  ];
  for (const { status, ...object } of objects) {
    await gold.apply(object);
    const plural = `${object.kind.toLowerCase()}s`;
    await gold.admin.request({
      method: "PATCH",
      path: `/apis/${object.apiVersion}/namespaces/${gold.namespace}/${plural}/${object.metadata.name}/status`,
      contentType: "application/merge-patch+json",
      body: { status },
    });
  }
  // Times in Kubernetes have no fractions: the operator's key is to be younger than these.
  const next = Math.floor(Date.now() / 1000) + 1;
  await until(() => (Date.now() / 1000 < next ? "it is the same second" : undefined), { title: "time", everyMs: 50 });
}

beforeAll(async () => {
  const control = await startCluster();
  cleanup.defer(control.stop);
  platform = cleanup.use(await startPlatform({ speed: 200 }));
  home = cleanup.use(await openStage(control.kubeconfig));
  gold = cleanup.use(await openStage(control.kubeconfig));
  other = cleanup.use(await openStage(control.kubeconfig));
  await label(gold, { tier: "gold" });
  await home.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "shared" },
    stringData: { token: platform.token },
  });
  await leaveFormerObjects();
  await home.apply(clusterAccount("shared", { default: true, ...labelled }));
  operator = await startOperator();
  await home.untilReady("ClusterAccount", "shared");
});

const startOperator = () =>
  home.operator({
    everywhere: true,
    flags: ["--resync", "2s", "--annotate-after", "1s", "--endpoint", `api=${platform.url}`],
  });

describe("an upgrade from a version that did not sign", () => {
  it.each([
    ["Datacenter", "former-dc", "datacenters"],
    ["IPBlock", "former-ip", "ipblocks"],
  ])(
    "signs what it made with its default Account, and goes on through the default ClusterAccount: %s",
    async (kind, name, collection) => {
      await gold.untilReady(kind, name);
      await expect
        .poll(async () => (await gold.read(kind, name))?.metadata.annotations?.["mooring.dev/external-id"])
        .toContain('"signature"');
      const status = await statusOf(gold, kind, name);
      expect(status).toMatchObject({ id: former[name], account: "ClusterAccount/shared" });
      expect(status?.signature).toBeDefined();
      expect(await platform.named(collection, name)).toEqual([expect.objectContaining({ id: former[name] })]);
      await gold.remove(kind, name);
      await gold.untilGone(kind, name);
      expect(await platform.named(collection, name)).toEqual([]);
    },
  );

  it("does not believe a status that no annotation confirms: the object gets a resource of its own", async () => {
    await expect.poll(() => platform.named("ipblocks", DOUBTFUL)).toHaveLength(2);
    await gold.untilReady("IPBlock", DOUBTFUL);
    expect((await statusOf(gold, "IPBlock", DOUBTFUL))?.id).not.toBe(former[DOUBTFUL]);
    await gold.remove("IPBlock", DOUBTFUL);
    await gold.untilGone("IPBlock", DOUBTFUL);
    expect(await platform.named("ipblocks", DOUBTFUL)).toEqual([expect.objectContaining({ id: former[DOUBTFUL] })]);
  });
});

describe("a ClusterAccount", () => {
  it("is used by objects of the namespaces that it admits, with the operator's endpoints and a Secret of its namespace", async () => {
    await gold.apply(ipBlock("mine"));
    await gold.untilReady("IPBlock", "mine");
    expect(await statusOf(gold, "IPBlock", "mine")).toMatchObject({ account: "ClusterAccount/shared" });
    expect(await platform.named("ipblocks", "mine")).toHaveLength(1);
  });

  it("is told of to nobody else: not by default, and by name in the same words as one that does not exist", async () => {
    await other.apply(ipBlock("unnamed"), ipBlock("named", byName("shared")), ipBlock("nobody", byName("none")));
    await other.untilReason("IPBlock", "unnamed", "AccountNotFound");
    await other.untilReason("IPBlock", "named", "AccountNotAllowed");
    await other.untilReason("IPBlock", "nobody", "AccountNotAllowed");
    const words = await messageOf(other, "IPBlock", "nobody");
    expect(await messageOf(other, "IPBlock", "named")).toBe(words.replace("none", "shared"));
    for (const name of ["unnamed", "named", "nobody"]) {
      await other.remove("IPBlock", name);
      await other.untilGone("IPBlock", name);
    }
  });

  it("whose admission a label gives and takes keeps what was made, and deletes it only for who is admitted", async () => {
    await label(other, { tier: "gold" });
    await other.apply(datacenter("dc"), ipBlock("block"));
    await other.untilReady("Datacenter", "dc");
    await other.untilReady("IPBlock", "block");
    const before = await statusOf(other, "Datacenter", "dc");
    await label(other, { tier: null });
    await other.untilReason("Datacenter", "dc", "AccountNotAllowed");
    expect(await statusOf(other, "Datacenter", "dc")).toMatchObject({ id: before?.id, account: before?.account });
    await other.remove("IPBlock", "block");
    await expect.poll(() => messageOf(other, "IPBlock", "block")).toContain("set deletionPolicy: Retain");
    expect(await platform.named("ipblocks", "block")).toHaveLength(1);

    await label(other, { tier: "gold" });
    await other.untilGone("IPBlock", "block");
    expect(await platform.named("ipblocks", "block")).toEqual([]);
    await other.untilReady("Datacenter", "dc");
    expect((await statusOf(other, "Datacenter", "dc"))?.id).toBe(before?.id);
    expect(await platform.named("datacenters", "dc")).toHaveLength(1);
    await other.remove("Datacenter", "dc");
    await other.untilGone("Datacenter", "dc");
    await label(other, { tier: null });
  });

  it("stays until nothing needs it", async () => {
    await home.remove("ClusterAccount", "shared");
    await home.untilReason("ClusterAccount", "shared", "InUse");
    await gold.remove("IPBlock", "mine");
    await gold.untilGone("IPBlock", "mine");
    await home.untilGone("ClusterAccount", "shared");
    expect(await platform.named("ipblocks", "mine")).toEqual([]);
  });
});

describe("a backup of what was made through a ClusterAccount", () => {
  /** The object as a backup without status has it; its resource stays where it is. */
  async function backup(name: string): Promise<{ id: string | undefined; saved: object }> {
    await gold.apply(ipBlock(name, { deletionPolicy: "Retain" }));
    const { id } = readStatus(await gold.untilReady("IPBlock", name));
    const read = () => gold.read("IPBlock", name);
    await expect.poll(async () => (await read())?.metadata.annotations?.["mooring.dev/external-id"]).toBeDefined();
    const { apiVersion, kind, metadata, spec } = (await read()) ?? ipBlock(name);
    await gold.remove("IPBlock", name);
    await gold.untilGone("IPBlock", name);
    return { id, saved: { apiVersion, kind, spec, metadata: { name, annotations: metadata.annotations ?? {} } } };
  }
  const restored = async (name: string) => readStatus(await gold.untilReady("IPBlock", name)).id;

  it("finds its resource by the annotation where the signing key is there, whatever the adoption", async () => {
    await home.apply(clusterAccount("shared", { default: true, ...labelled }));
    const { id, saved } = await backup("with-key");
    await gold.apply(saved);
    expect(await restored("with-key")).toBe(id);
    expect(await platform.named("ipblocks", "with-key")).toHaveLength(1);
  });

  it("finds it by externalId where the key is lost, as soon as the ClusterAccount says adoption: Any", async () => {
    const { id, saved } = await backup("without-key");
    await operator.stop();
    const path = pathOf(SECRETS, { namespace: home.namespace, name: SIGNING_KEY });
    await home.admin.request({ method: "DELETE", path });
    operator = await startOperator();
    await gold.apply(saved);
    await gold.untilReason("IPBlock", "without-key", "SigningKeyUnknown");
    await gold.remove("IPBlock", "without-key");
    await gold.untilGone("IPBlock", "without-key");
    await gold.apply(ipBlock("without-key", { externalId: id }));
    await gold.untilReason("IPBlock", "without-key", "NotYours");
    await home.patch("ClusterAccount", "shared", { spec: { adoption: "Any" } });
    expect(await restored("without-key")).toBe(id);
    expect(await platform.named("ipblocks", "without-key")).toHaveLength(1);
  });
});

describe("an Account of a tenant", () => {
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "token" },
    stringData: { token: "database password" },
  };
  const account = (name: string, spec: object) =>
    manifest("Account", name, { credentialsSecretRef: { name: "token" }, ...spec });

  it("with an endpoint that the operator does not allow sends nobody the Secret that it names", async () => {
    const heard: (string | undefined)[] = [];
    const attacker = createServer((request, response) => {
      heard.push(request.headers.authorization);
      response.end("{}");
    });
    await new Promise<void>((resolve) => attacker.listen(0, "127.0.0.1", resolve));
    cleanup.defer(() => new Promise((resolve) => attacker.close(() => resolve())));
    const address = attacker.address();
    const port = typeof address === "object" ? address?.port : 0;
    await other.apply(secret, account("mine", { endpoints: { api: `http://localhost:${port}` } }));
    await other.untilReason("Account", "mine", "EndpointNotAllowed");
    expect(await messageOf(other, "Account", "mine")).toContain("spec.endpoints.api");
    await other.apply(ipBlock("waiting", { accountRef: { name: "mine" } }));
    await other.untilReason("IPBlock", "waiting", "AccountNotReady");
    expect(heard).toEqual([]);
  });

  it("without one leads where the operator does", async () => {
    await gold.apply({ ...secret, stringData: { token: platform.token } }, account("own", {}));
    await gold.untilReady("Account", "own");
  });
});
