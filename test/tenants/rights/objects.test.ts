import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { applyObject } from "../../../src/cli/demo/install.ts";
import { gatewayRights } from "../../../src/cli/manifests/gateway-rights.ts";
import { gatewayPolicy } from "../../../src/cli/manifests/policy.ts";
import { resourceOf } from "../../../src/engine/state/object.ts";
import { datacenter } from "../../../src/kinds/compute/datacenter.ts";
import { account } from "../../../src/kinds/identity/account.ts";
import { clusterAccount } from "../../../src/kinds/identity/cluster-account.ts";
import type { Kind } from "../../../src/kinds/kind.ts";
import { isForbidden, KubeError } from "../../../src/kube/client/errors.ts";
import type { KubeCall, KubeClient } from "../../../src/kube/client/transport.ts";
import { CONFIG_MAPS, pathOf, SECRETS } from "../../../src/kube/resource.ts";
import { apply } from "../../../src/kube/write/apply.ts";
import { until } from "../../cluster/chaos/wait.ts";
import { cluster, namespace } from "../../cluster/harness.ts";
import { stolenIdentity } from "../operator.ts";
import { impersonating } from "../tenant.ts";

// Writes that are possible with a stolen identity of the operator or the gateway.
const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());
let admin: KubeClient;
let operator: KubeClient;
let gateway: KubeClient;
let home: string;

const api = "mooring.dev/v1alpha1";
const name = "mine";
const marks = { annotations: { team: "shop" }, labels: { team: "shop" }, finalizers: ["example.com/theirs"] };
const FINALIZER = "mooring.dev/finalizer";

/** The outcome of a write by RBAC and the policies. An administrator could do it, so nothing else is wrong with it. */
async function tried(client: KubeClient, call: KubeCall): Promise<"allowed" | "denied" | "forbidden"> {
  const dry = { ...call, query: { ...call.query, dryRun: "All" } };
  await admin.request(dry);
  try {
    await client.request(dry);
    return "allowed";
  } catch (error) {
    if (error instanceof KubeError && error.status === 422) return "denied";
    if (isForbidden(error)) return "forbidden";
    throw error;
  }
}
const nameOf = (kind: Kind) => (kind === clusterAccount ? home : name);
const merge = (kind: Kind, body: object, subresource?: string) =>
  tried(operator, {
    method: "PATCH",
    path: pathOf(resourceOf(kind), { namespace: home, name: nameOf(kind), subresource }),
    contentType: "application/merge-patch+json",
    body,
  });
const mark = (secret: string) =>
  tried(operator, {
    method: "PATCH",
    path: pathOf(SECRETS, { namespace: home, name: secret }),
    contentType: "application/merge-patch+json",
    body: { metadata: { labels: { "mooring.dev/credentials": "true" }, finalizers: [FINALIZER] } },
  });
const configMap = (
  named: string,
  labels: Record<string, string> = { "app.kubernetes.io/managed-by": "mooring-gateway" },
) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: named, namespace: home, labels },
  data: { "a.b": "2026-01-01 1" },
});
const put = (client: KubeClient, named: string, labels?: Record<string, string>) =>
  tried(client, {
    method: "PUT",
    path: pathOf(CONFIG_MAPS, { namespace: home, name: named }),
    body: configMap(named, labels),
  });
const post = (client: KubeClient, named: string, labels?: Record<string, string>) =>
  tried(client, { method: "POST", path: pathOf(CONFIG_MAPS, { namespace: home }), body: configMap(named, labels) });

const specs = {
  [datacenter.kind]: [{ location: "de/txl" }, { description: "theirs" }],
  [account.kind]: [{ credentialsSecretRef: { name: "token" } }, { credentialsSecretRef: { name: "another" } }],
  [clusterAccount.kind]: [
    { credentialsSecretRef: { name: "token" }, namespaces: { names: ["shop"] } },
    { namespaces: { selector: {} } },
  ],
} as const;
const all = [datacenter, account, clusterAccount];

beforeAll(async () => {
  ({ admin, thief: operator } = await stolenIdentity(cleanup));
  home = await namespace("objects");
  const gatewayOf = { namespace: home, account: "gateway", name: home };
  for (const each of [...gatewayRights(gatewayOf), ...gatewayPolicy(gatewayOf)]) await applyObject(admin, each);
  gateway = await impersonating(cluster().kubeconfig, `system:serviceaccount:${home}:gateway`);
  cleanup.defer(() => gateway.close());
  for (const kind of all) {
    const metadata = { ...marks, name: nameOf(kind), ...(kind !== clusterAccount && { namespace: home }) };
    await applyObject(admin, { apiVersion: api, kind: kind.kind, metadata, spec: specs[kind.kind]?.[0] });
    const path = pathOf(resourceOf(kind), { namespace: home, name: nameOf(kind) });
    const body = { metadata: { finalizers: null } };
    cleanup.defer(async () => {
      await admin.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
      await admin.request({ method: "DELETE", path });
    });
  }
  const base64 = Buffer.from("x").toString("base64");
  for (const [secret, type, data] of [
    ["token", "Opaque", { token: base64 }],
    ["login", "kubernetes.io/basic-auth", { username: base64, password: base64 }],
    ["certificate", "kubernetes.io/tls", { "tls.key": base64, "tls.crt": base64 }],
    ["release", "helm.sh/release.v1", { release: base64, token: base64 }],
  ] as const) {
    await applyObject(admin, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: secret, namespace: home },
      type,
      data,
    });
  }
  for (const named of ["mooring-ca", "mooring-gateway-spending-1"]) {
    await apply(admin, CONFIG_MAPS, configMap(named, {}), { fieldManager: "a-user" });
  }
  await until(async () => ((await post(gateway, "probe")) === "allowed" ? "not in force yet" : undefined), {
    title: "the policy of the gateway",
  });
});

describe("the operator's identity", () => {
  it.each(all.map((kind) => [kind.kind, kind] as const))(
    "changes nothing of a %s but its own marks",
    async (_, kind) => {
      expect(await merge(kind, { spec: specs[kind.kind]?.[1] })).toBe("denied");
      expect(await merge(kind, { metadata: { labels: { team: "ours" } } })).toBe("denied");
      expect(await merge(kind, { metadata: { labels: { more: "ours" } } })).toBe("denied");
      expect(await merge(kind, { metadata: { annotations: { team: null } } })).toBe("denied");
      expect(await merge(kind, { metadata: { annotations: { "mooring.dev/paused": "true" } } })).toBe("denied");
      expect(await merge(kind, { metadata: { finalizers: [] } })).toBe("denied");
      expect(await merge(kind, { metadata: { finalizers: [...marks.finalizers, "example.com/ours"] } })).toBe("denied");
      const owner = { apiVersion: "v1", kind: "ConfigMap", name: "a", uid: "u" };
      expect(await merge(kind, { metadata: { ownerReferences: [owner] } })).toBe("denied");

      const annotations = { "mooring.dev/intent": "{}", "mooring.dev/external-id": "{}" };
      const finalizers = [...marks.finalizers, FINALIZER];
      expect(await merge(kind, { metadata: { annotations, finalizers } })).toBe("allowed");
      expect(await merge(kind, { status: { observedGeneration: 1 } }, "status")).toBe("allowed");
    },
  );

  it("creates and deletes none of Mooring's objects", async () => {
    for (const kind of all) {
      const path = pathOf(resourceOf(kind), { namespace: home, name: nameOf(kind) });
      expect(await tried(operator, { method: "DELETE", path })).toBe("forbidden");
    }
    const body = { apiVersion: api, kind: "Datacenter", metadata: { name: "new" }, spec: { location: "de/txl" } };
    const path = pathOf(resourceOf(datacenter), { namespace: home });
    expect(await tried(operator, { method: "POST", path, body })).toBe("forbidden");
  });

  it("holds no Secret of a type that others rely on", async () => {
    expect([await mark("token"), await mark("login")]).toEqual(["allowed", "allowed"]);
    expect([await mark("certificate"), await mark("release")]).toEqual(["denied", "denied"]);
  });
});

describe("the gateway's identity", () => {
  it("writes no ConfigMap but its own records", async () => {
    expect(await put(gateway, "mooring-gateway-spending-1")).toBe("allowed");
    expect(await post(gateway, "mooring-gateway-spending-15")).toBe("allowed");
    expect(await put(gateway, "mooring-ca")).toBe("forbidden");
    for (const named of ["another", "mooring-gateway-spending-16", "mooring-gateway-spending-x"]) {
      expect(await post(gateway, named)).toBe("denied");
    }
    expect(await post(gateway, "mooring-gateway-spending-15", {})).toBe("denied");
    const path = pathOf(CONFIG_MAPS, { namespace: home, name: "mooring-ca" });
    await expect(gateway.request({ method: "GET", path })).rejects.toSatisfy(isForbidden);
    expect(await tried(gateway, { method: "DELETE", path })).toBe("forbidden");
  });
});
