import { createServer, type RequestListener } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { applyObject } from "../../src/cli/demo/install.ts";
import { readStatus } from "../../src/engine/status/status.ts";
import { pathOf, SECRETS } from "../../src/kube/resource.ts";
import { SIGNING_KEY } from "../../src/operator/signing-key.ts";
import type { OperatorProcess } from "../cluster/chaos/operator.ts";
import type { Platform } from "../cluster/chaos/platform.ts";
import type { Stage } from "../cluster/chaos/stage.ts";
import { centralLogging, datacenter, ipBlock, metricPipeline, server } from "../cluster/objects.ts";
import { signingKey } from "../crash/narrow.ts";
import { listening } from "../kube/scripted-server.ts";
import { manifest } from "../subjects/surroundings.ts";
import {
  byName,
  clusterAccount,
  label,
  labelled,
  messageOf,
  openShared,
  type SharedContract,
  startOperator,
  statusOf,
} from "./shared-account.ts";
import { openTenant } from "./tenant.ts";
import { makeTargets, removeTargets, thefts } from "./thefts.ts";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

let shared: SharedContract;
let kubeconfig: string;
let platform: Platform;
let operator: OperatorProcess;
/** The operator's own namespace, and two tenants. */
let home: Stage;
let gold: Stage;
let other: Stage;
const manifestOf = z.looseObject({ kind: z.string() });

beforeAll(async () => {
  shared = await openShared(cleanup);
  ({ kubeconfig, platform, home, gold, other } = shared);
  operator = await startOperator(shared);
  await home.untilReady("ClusterAccount", "shared");
});

describe("a ClusterAccount", () => {
  it("is used by objects of the namespaces that it admits, with the operator's endpoints and a Secret of its namespace", async () => {
    await gold.apply(ipBlock("mine"));
    await gold.untilReady("IPBlock", "mine");
    expect(await statusOf(gold, "IPBlock", "mine")).toMatchObject({ account: "ClusterAccount/shared" });
    expect(await platform.named("ipblocks", "mine")).toHaveLength(1);
  });

  it("is not revealed to others: not by default, and by name with the same message as one that does not exist", async () => {
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

  describe("between two tenants", () => {
    /** Ids of one tenant's resources. The other tenant knows them all. */
    let ids: Record<string, string>;
    const unknown = "72e73b81-8551-4e74-b398-fc63b39994af";

    beforeAll(async () => {
      await label(other, { tier: "gold" });
      ids = await makeTargets(shared);
    });

    it.each(thefts)("nobody gets %s, in the same words as for one that does not exist", async (_, object, owner) => {
      const words: string[] = [];
      const before = await platform.steering.made();
      for (const id of [ids[owner] ?? "", unknown]) {
        const asked = object(id, ids);
        const { kind } = manifestOf.parse(asked);
        await other.apply(asked);
        await other.untilReason(kind, "thief", "NotYours");
        words.push((await messageOf(other, kind, "thief")).replaceAll(id, "that"));
        await other.remove(kind, "thief");
        await other.untilGone(kind, "thief");
      }
      expect(words[0]).toBe(words[1]);
      expect(await platform.steering.made()).toEqual(before);
    });

    it("nobody deletes anything of another one by an annotation", async () => {
      const claim = { id: ids.Server, parents: { datacenter: ids.Datacenter }, account: "ClusterAccount/shared" };
      const owned = { ...claim, endpoint: platform.url, contract: 31_000_001, owner: `${other.namespace}/web` };
      const annotations = { "mooring.dev/external-id": JSON.stringify(owned) };
      const metadata = { name: "web", annotations, finalizers: ["mooring.dev/finalizer"] };
      await other.apply({ ...server("web", { datacenterRef: { name: "nowhere" } }), metadata });
      await other.remove("Server", "web");
      await other.untilGone("Server", "web");
      expect((await platform.steering.resources("servers")).map(({ id }) => id)).toContain(ids.Server);
    });

    it("nobody turns a switch of the whole contract that it does not name among its kinds", async () => {
      await other.apply(centralLogging("switch", byName("shared")));
      await other.untilReason("CentralLogging", "switch", "AccountNotAllowed");
      await home.apply(clusterAccount("switches", { region: "de/txl", kinds: ["CentralLogging"], ...labelled }));
      await other.apply(centralLogging("allowed", byName("switches")));
      await other.untilReady("CentralLogging", "allowed");
    });

    afterAll(async () => {
      await removeTargets(shared);
      await label(other, { tier: null });
    });
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
  /** The object as a backup without status has it. Its resource stays on the platform. */
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
    // Other objects are signed with the key as well, so an administrator has to declare it lost.
    await applyObject(home.admin, signingKey(home.namespace));
    operator = await startOperator(shared);
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

  /** A server in the platform's place. */
  async function listen(answer: RequestListener): Promise<number> {
    const server = createServer(answer);
    const url = await listening(server);
    cleanup.defer(() => new Promise((resolve) => server.close(() => resolve())));
    return Number(new URL(url).port);
  }

  it("with an endpoint that the operator does not allow sends nobody the Secret that it names", async () => {
    const heard: unknown[] = [];
    const port = await listen((request, response) => {
      heard.push(request.headers.authorization);
      response.end("{}");
    });
    // They may name a Secret in an Account, but cannot read it.
    await using thief = await openTenant(kubeconfig, { secrets: false });
    await applyObject(thief.admin, { ...secret, metadata: { name: "token", namespace: thief.namespace } });
    await expect(thief.apply(secret)).rejects.toThrow("403 Forbidden");
    // One port is open and the other is closed. The messages are the same.
    const words = new Set<string>();
    for (const api of ["http", "https"].flatMap((scheme) => [port, 1].map((at) => `${scheme}://localhost:${at}`))) {
      await thief.apply(account("mine", { endpoints: { api } }));
      await expect.poll(() => messageOf(thief, "Account", "mine")).toContain(`does not allow ${api}:`);
      await thief.untilReason("Account", "mine", "EndpointNotAllowed");
      words.add((await messageOf(thief, "Account", "mine")).replaceAll(api, "that"));
    }
    expect(words.size).toBe(1);
    await thief.apply(ipBlock("waiting", { accountRef: { name: "mine" } }));
    await thief.untilReason("IPBlock", "waiting", "AccountNotReady");
    expect(heard).toEqual([]);
  });

  it("that leads to somebody who lies gets nothing into a Secret but text", async () => {
    let lie = "/in\n[INPUT]\n    Name exec\n#";
    const port = await listen(async ({ method = "", url, headers }, response) => {
      const { authorization = "" } = headers;
      const answer = await fetch(`${platform.url}${url}`, {
        method,
        headers: { authorization, "content-type": "application/json" },
        ...(method === "POST" && { body: JSON.stringify({ properties: { name: "lied-to" } }) }),
      });
      const text = await answer.text();
      const spoilt = text.replace(/("httpEndpoint":"[^"]*)/g, (found) => found + JSON.stringify(lie).slice(1, -1));
      response.writeHead(answer.status, { "content-type": "application/json" }).end(spoilt);
    });
    const endpoints = { monitoring: `http://127.0.0.1:${port}/monitoring/{region}` };
    const own = { ...secret, metadata: { name: "own" }, stringData: { token: platform.token } };
    const lied = account("lied", { endpoints, region: "de/txl", credentialsSecretRef: { name: "own" } });
    await other.apply(own, lied, metricPipeline("lied-to", { accountRef: { name: "lied" } }));
    const path = pathOf(SECRETS, { namespace: other.namespace, name: "lied-to-metricpipeline" });
    const read = () => other.hands.request({ method: "GET", path });
    await other.untilReason("MetricPipeline", "lied-to", "InvalidAnswer");
    await expect(read()).rejects.toThrow("not found");
    lie = ["/in/$", "{file:/etc/passwd}"].join("");
    await expect.poll(() => messageOf(other, "MetricPipeline", "lied-to")).toContain("which agents replace");
    await expect(read()).rejects.toThrow("not found");
    lie = "";
    await other.untilReady("MetricPipeline", "lied-to");
    await read();
  });

  it("without one leads where the operator does", async () => {
    await gold.apply({ ...secret, stringData: { token: platform.token } }, account("own", {}));
    await gold.untilReady("Account", "own");
  });
});
