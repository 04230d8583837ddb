import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { resourceOf } from "../../../src/engine/state/object.ts";
import { datacenter } from "../../../src/kinds/compute/datacenter.ts";
import { isForbidden, KubeError } from "../../../src/kube/client/errors.ts";
import type { KubeCall, KubeClient } from "../../../src/kube/client/transport.ts";
import { CONFIG_MAPS, type KubeObject, pathOf, SECRETS } from "../../../src/kube/resource.ts";
import { apply } from "../../../src/kube/write/apply.ts";
import { until } from "../../cluster/chaos/wait.ts";
import { namespace } from "../../cluster/harness.ts";
import { stolenIdentity } from "../operator.ts";

const OWN = "mooring-system";
const cleanup = new AsyncDisposableStack();
let admin: KubeClient;
let thief: KubeClient;
let home: string;

const owner = {
  apiVersion: "mooring.dev/v1alpha1",
  kind: "Datacenter",
  name: "d",
  uid: "of-nobody",
  controller: true,
};
const ours = { "app.kubernetes.io/managed-by": "mooring" };
const published = { labels: ours, ownerReferences: [owner] };
const OUTPUT = "mooring.dev/output";
const output = { labels: { ...ours, [OUTPUT]: "true" }, ownerReferences: [owner] };
const token = { "kubernetes.io/service-account.name": "default" };
const base64 = (text: string) => Buffer.from(text).toString("base64");
const theirs = { labels: { team: "shop" }, annotations: { note: "theirs" }, finalizers: ["example.com/theirs"] };
const MARK = "mooring.dev/credentials";

const secret = (name: string, metadata: object, more: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  type: "Opaque",
  metadata: { name, ...metadata },
  ...more,
});

const configMap = (name: string, metadata: object): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data: { a: "b" },
});

/** The outcome of a write by RBAC and the policies. An administrator could do it, so nothing else is wrong with it. */
async function tried(call: KubeCall): Promise<"allowed" | "denied" | "forbidden"> {
  const dry = { ...call, query: { dryRun: "All" } };
  await admin.request(dry);
  try {
    await thief.request(dry);
    return "allowed";
  } catch (error) {
    if (error instanceof KubeError && error.status === 422) return "denied";
    if (isForbidden(error)) return "forbidden";
    throw error;
  }
}

const create = (body: object, where = home) =>
  tried({ method: "POST", path: pathOf(SECRETS, { namespace: where }), body });
const merge = (name: string, body: object) =>
  tried({
    method: "PATCH",
    path: pathOf(SECRETS, { namespace: home, name }),
    contentType: "application/merge-patch+json",
    body,
  });
const lease = (name: string, where: string) =>
  tried({
    method: "POST",
    path: `/apis/coordination.k8s.io/v1/namespaces/${where}/leases`,
    body: { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name }, spec: { holderIdentity: "me" } },
  });

beforeAll(async () => {
  ({ admin, thief } = await stolenIdentity(cleanup));
  home = await namespace("rights");
  const { apiVersion, kind, name } = owner;
  const object = { apiVersion, kind, metadata: { name, namespace: home }, spec: { location: "de/txl" } };
  const made = await apply(admin, resourceOf(datacenter), object, { fieldManager: "a-user" });
  // The garbage collector would delete an object without an owner.
  owner.uid = made.metadata.uid ?? "";
  const data = { password: base64("theirs") };
  for (const [name, metadata] of [
    ["theirs", theirs],
    ["pipeline", published],
    ["told", output],
    ["relabelled", { ownerReferences: published.ownerReferences }],
    ["owned", { ...output, ownerReferences: [{ ...owner, controller: false }] }],
  ] as const) {
    const object = secret(name, { ...metadata, namespace: home }, { data });
    await apply(admin, SECRETS, object, { fieldManager: "a-user" });
    const map = configMap(name, { ...metadata, namespace: home });
    await apply(admin, CONFIG_MAPS, map, { fieldManager: "a-user" });
  }
  const unheeded = async () => ((await create(secret("probe", {}))) === "allowed" ? "not in force yet" : undefined);
  await until(unheeded, { title: "the policy" });
});
afterAll(async () => {
  const body = { metadata: { finalizers: null } };
  for (const resource of [SECRETS, CONFIG_MAPS]) {
    const path = pathOf(resource, { namespace: home, name: "theirs" });
    await admin.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
  }
  await cleanup.disposeAsync();
});

describe("the operator's identity creates no Secret", () => {
  it.each([
    ["with the token of a ServiceAccount", { annotations: token }, { type: "kubernetes.io/service-account-token" }],
    [
      "with the token of a ServiceAccount that looks like Mooring's",
      { ...published, annotations: token },
      { type: "kubernetes.io/service-account-token" },
    ],
    ["for joining nodes", published, { type: "bootstrap.kubernetes.io/token" }],
    ["without Mooring's label", { ownerReferences: [owner] }, {}],
    ["without an owner", { labels: ours }, {}],
    ["of an owner of another group", { ...published, ownerReferences: [{ ...owner, apiVersion: "apps/v1" }] }, {}],
    [
      "of an owner whose group begins like Mooring's",
      { ...published, ownerReferences: [{ ...owner, apiVersion: "mooring.dev.example.com/v1" }] },
      {},
    ],
    ["of an owner that does not control it", { ...published, ownerReferences: [{ ...owner, controller: false }] }, {}],
  ])("%s", async (_, metadata, more) => {
    expect(await create(secret("new", metadata, more))).toBe("denied");
    expect(await create(secret("new", metadata, more), "kube-system")).toBe("denied");
  });

  it("but one for an object of Mooring, the key that claims are signed with and the tokens of Accounts, in its own namespace", async () => {
    expect(await create(secret("new", published, { stringData: { key: "k" } }))).toBe("allowed");
    expect(await create(secret("another", { labels: ours }), OWN)).toBe("denied");
    for (const name of ["mooring-signing-key", "mooring-token-0123456789abcdef"]) {
      expect(await create(secret(name, { labels: ours }))).toBe("denied");
      const path = pathOf(SECRETS, { namespace: OWN, name });
      const body = secret(name, { labels: ours, namespace: OWN });
      const contentType = "application/apply-patch+yaml";
      const query = { fieldManager: "mooring", force: "true", dryRun: "All" };
      await thief.request({ method: "PATCH", path, contentType, query, body });
    }
  });
});

describe("the operator's identity changes nothing of a Secret that a user created", () => {
  it.each([
    ["its data", { data: { password: base64("ours") } }],
    ["its data in plain text", { stringData: { password: "ours" } }],
    ["a key more", { data: { more: base64("ours") } }],
    ["a key less", { data: { password: null } }],
    ["whose it is", { metadata: { ownerReferences: [owner] } }],
    ["whose it is, with the label and new data", { metadata: published, data: { password: base64("ours") } }],
    ["its annotations", { metadata: { annotations: { note: "ours" } } }],
    ["its labels", { metadata: { labels: { team: "ours" } } }],
    ["a label less", { metadata: { labels: { team: null } } }],
    ["a label more", { metadata: { labels: ours } }],
    ["that it is kept", { metadata: { finalizers: [] } }],
    ["by whom it is kept", { metadata: { finalizers: [...theirs.finalizers, "example.com/ours"] } }],
    ["that it can be changed", { immutable: true }],
  ])("%s", async (_, change) => {
    expect(await merge("theirs", change)).toBe("denied");
  });

  it("but Mooring's own label and finalizer, both ways", async () => {
    const path = pathOf(SECRETS, { namespace: home, name: "theirs" });
    const finalizers = [...theirs.finalizers, "mooring.dev/finalizer"];
    const marked = { metadata: { labels: { [MARK]: "true" }, finalizers } };
    expect(await merge("theirs", marked)).toBe("allowed");
    await admin.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body: marked });
    const bare = { metadata: { labels: { [MARK]: null }, finalizers: theirs.finalizers } };
    expect(await merge("theirs", bare)).toBe("allowed");
    expect(await merge("theirs", { ...bare, data: { password: base64("ours") } })).toBe("denied");
  });

  it("and of a Secret of Mooring its data, but not whose it is", async () => {
    expect(await merge("pipeline", { data: { password: base64("new") } })).toBe("allowed");
    const other = { ...owner, name: "another" };
    expect(await merge("pipeline", { metadata: { ownerReferences: [other] } })).toBe("denied");
    expect(await merge("pipeline", { metadata: { labels: { "app.kubernetes.io/managed-by": null } } })).toBe("denied");
  });
});

describe("the operator's identity", () => {
  it("puts Mooring's label back on a Secret of Mooring that has lost it, and writes it only with that", async () => {
    const data = { password: base64("new") };
    expect(await merge("relabelled", { metadata: { labels: ours }, data })).toBe("allowed");
    expect(await merge("relabelled", { data })).toBe("denied");
    const path = pathOf(SECRETS, { namespace: home, name: "relabelled" });
    expect(await tried({ method: "DELETE", path })).toBe("denied");
  });

  it("takes away no Secret but an output, and makes none of another one", async () => {
    const path = pathOf(SECRETS, { namespace: home });
    expect(await tried({ method: "DELETE", path: `${path}/theirs` })).toBe("denied");
    expect(await tried({ method: "DELETE", path: `${path}/pipeline` })).toBe("denied");
    expect(await tried({ method: "DELETE", path: `${path}/told` })).toBe("allowed");
    expect(await tried({ method: "DELETE", path })).toBe("forbidden");
    expect(await merge("pipeline", { metadata: { labels: { [OUTPUT]: "true" } } })).toBe("denied");
    expect(await merge("theirs", { metadata: output })).toBe("denied");
  });

  it("takes away the token of an Account, and nothing that only has such a name", async () => {
    const remove = (name: string, where: string) =>
      tried({ method: "DELETE", path: pathOf(SECRETS, { namespace: where, name }) });
    for (const [name, where, labels, verdict] of [
      ["mooring-token-0123456789abcdef", OWN, ours, "allowed"],
      ["mooring-token-of-somebody", OWN, {}, "denied"],
      ["mooring-token-0123456789abcdef", home, ours, "denied"],
    ] as const) {
      await apply(admin, SECRETS, secret(name, { labels, namespace: where }), { fieldManager: "a-user" });
      const removed = await remove(name, where);
      await admin.request({ method: "DELETE", path: pathOf(SECRETS, { namespace: where, name }) });
      expect([name, where, removed]).toEqual([name, where, verdict]);
    }
  });

  it("writes and takes away no ConfigMap but an output", async () => {
    const all = pathOf(CONFIG_MAPS, { namespace: home });
    const create = (metadata: object) => tried({ method: "POST", path: all, body: configMap("new", metadata) });
    const replace = (name: string, metadata: object) =>
      tried({ method: "PUT", path: `${all}/${name}`, body: configMap(name, metadata) });
    expect([await create({}), await create(published), await create({ labels: output.labels })]).toEqual(
      Array.from({ length: 3 }, () => "denied"),
    );
    expect(await create(output)).toBe("allowed");
    expect(await replace("theirs", output)).toBe("denied");
    expect(await replace("told", output)).toBe("allowed");
    expect(await replace("told", { ...output, ownerReferences: [{ ...owner, name: "another" }] })).toBe("denied");
    expect(await replace("told", published)).toBe("denied");
    const remove = (name: string) => tried({ method: "DELETE", path: `${all}/${name}` });
    expect([await remove("theirs"), await remove("pipeline"), await remove("told")]).toEqual([
      "denied",
      "denied",
      "allowed",
    ]);
    expect(await tried({ method: "DELETE", path: all })).toBe("forbidden");
  });

  it("puts Mooring's labels back on a ConfigMap of Mooring that has lost them, and writes it only with those", async () => {
    const all = pathOf(CONFIG_MAPS, { namespace: home });
    const replace = (name: string, metadata: object) =>
      tried({ method: "PUT", path: `${all}/${name}`, body: configMap(name, metadata) });
    const { ownerReferences } = published;
    expect([await replace("relabelled", output), await replace("pipeline", output)]).toEqual(["allowed", "allowed"]);
    expect([await replace("relabelled", { ownerReferences }), await replace("pipeline", published)]).toEqual([
      "denied",
      "denied",
    ]);
    expect(await tried({ method: "DELETE", path: `${all}/relabelled` })).toBe("denied");
    const notControlled = { ...output, ownerReferences: [{ ...owner, controller: false }] };
    expect([await replace("owned", output), await replace("owned", notControlled)]).toEqual(["denied", "denied"]);
  });

  it("makes no Lease but its own", async () => {
    expect(await lease("another", OWN)).toBe("denied");
    expect(await lease("mooring", home)).toBe("forbidden");
    expect(await lease("mooring", "kube-node-lease")).toBe("forbidden");
  });
});
