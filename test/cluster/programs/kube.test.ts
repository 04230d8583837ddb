import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { connect } from "../../../src/kube/client/config.ts";
import { isConflict, isNotFound } from "../../../src/kube/client/errors.ts";
import type { KubeClient } from "../../../src/kube/client/transport.ts";
import { elect } from "../../../src/kube/lease/lease.ts";
import { type KubeObject, keyOf, pathOf, type Resource } from "../../../src/kube/resource.ts";
import { createStore } from "../../../src/kube/watch/store.ts";
import { type Watcher, watch } from "../../../src/kube/watch/watch.ts";
import { apply, replaceStatus } from "../../../src/kube/write/apply.ts";
import { createEventRecorder } from "../../../src/kube/write/events.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { cluster, namespace } from "../harness.ts";

const BOATS: Resource = { group: "harbour.test", version: "v1", kind: "Boat", plural: "boats", namespaced: true };

const CRD = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "boats.harbour.test" },
  spec: {
    group: BOATS.group,
    scope: "Namespaced",
    names: { kind: BOATS.kind, plural: BOATS.plural },
    versions: [
      {
        name: BOATS.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

let client: KubeClient;
let home: string;
let watcher: Watcher | undefined;

beforeAll(async () => {
  const { kubectl, kubeconfig } = cluster();
  const installed = await kubectl(["apply", "-f", "-"], { input: JSON.stringify(CRD) });
  expect(installed.stderr).toBe("");
  await kubectl(["wait", "--for=condition=Established", "crd/boats.harbour.test", "--timeout=30s"]);
  client = await connect({ kubeconfig });
  home = await namespace("kube");
});

afterEach(async () => {
  await watcher?.stop();
  watcher = undefined;
});

afterAll(async () => {
  await client.close();
  await cluster().kubectl(["delete", "crd", "boats.harbour.test", "--wait=false"]);
});

const boat = (name: string, metadata: object = {}, rest: object = {}): KubeObject => ({
  apiVersion: "harbour.test/v1",
  kind: "Boat",
  metadata: { name, namespace: home, ...metadata },
  ...rest,
});

const remove = (name: string) => client.request({ method: "DELETE", path: pathOf(BOATS, { namespace: home, name }) });

describe("a new status", () => {
  test("takes the place of the whole one, whoever wrote it", async () => {
    const made = await apply(client, BOATS, boat("c", {}, { spec: { sails: 1 } }));
    const first = await replaceStatus(client, BOATS, made, { afloat: true });
    expect(first).toMatchObject({ metadata: { uid: made.metadata.uid }, spec: { sails: 1 }, status: { afloat: true } });
    expect(first.metadata).not.toHaveProperty("managedFields");
    const path = pathOf(BOATS, { namespace: home, name: "c", subresource: "status" });
    const theirs = { method: "PATCH", path, contentType: "application/merge-patch+json" } as const;
    const touched = await client.request<KubeObject>({ ...theirs, body: { status: { crew: 3 } } });
    expect(touched.status).toEqual({ afloat: true, crew: 3 });
    expect((await replaceStatus(client, BOATS, touched, { afloat: false })).status).toEqual({ afloat: false });
  });

  test("is refused when somebody wrote first, and for a successor of the same name", async () => {
    const made = await apply(client, BOATS, boat("d", {}, { spec: { sails: 1 } }));
    await apply(client, BOATS, boat("d", {}, { spec: { sails: 2 } }));
    await expect(replaceStatus(client, BOATS, made, { afloat: true })).rejects.toSatisfy(isConflict);
    await remove("d");
    const next = await apply(client, BOATS, boat("d"));
    await expect(replaceStatus(client, BOATS, made, { afloat: true })).rejects.toSatisfy(isConflict);
    const path = pathOf(BOATS, { namespace: home, name: "d" });
    expect(await client.request<KubeObject>({ method: "GET", path })).toMatchObject({
      metadata: { resourceVersion: next.metadata.resourceVersion },
    });
  });
});

describe("server-side apply", () => {
  test("creates, changes only on its preconditions, and never brings a deleted object back", async () => {
    const made = await apply(client, BOATS, boat("a", {}, { spec: { sails: 1 } }));
    const { uid, resourceVersion } = made.metadata;
    expect(made.metadata).not.toHaveProperty("managedFields");
    const changed = await apply(client, BOATS, boat("a", { uid, resourceVersion }, { spec: { sails: 2 } }));
    expect(changed).toMatchObject({ metadata: { uid, generation: 2 }, spec: { sails: 2 } });
    const stale = apply(client, BOATS, boat("a", { uid, resourceVersion }, { spec: { sails: 3 } }));
    await expect(stale).rejects.toSatisfy(isConflict);
    const foreign = { uid: "00000000-0000-0000-0000-000000000000" };
    await expect(apply(client, BOATS, boat("a", foreign))).rejects.toSatisfy(isConflict);
    await remove("a");
    await expect(apply(client, BOATS, boat("a", { uid }))).rejects.toSatisfy(isConflict);
    await expect(apply(client, BOATS, boat("a", { uid, resourceVersion }))).rejects.toSatisfy(isConflict);
    await expect(replaceStatus(client, BOATS, changed, { afloat: true })).rejects.toSatisfy(isNotFound);
  });

  test("of the same thing again changes nothing", async () => {
    const made = await apply(client, BOATS, boat("b", {}, { spec: { sails: 1 } }));
    const again = await apply(client, BOATS, boat("b", {}, { spec: { sails: 1 } }));
    expect(again.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  test("of a bad Secret fails without its content in the message", async () => {
    const secrets: Resource = { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true };
    const bad = { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: home }, data: "hunter2" };
    const refused = apply(client, secrets, bad);
    await expect(refused).rejects.toThrow(/secrets\/s: \d+ /);
    await expect(refused).rejects.not.toThrow("hunter2");
  });
});

describe("the watch", () => {
  test("streams the list and sees every change, own writes without an echo", async () => {
    await apply(client, BOATS, boat("listed", {}, { spec: { sails: 1 } }));
    const store = createStore();
    const errors: unknown[] = [];
    const started = watch({
      client,
      resource: BOATS,
      namespace: home,
      store,
      clock: systemClock,
      onError: (error) => errors.push(error),
    });
    watcher = started;
    await started.synced;
    expect(store.get(`${home}/listed`)).toMatchObject({ kind: "Boat", spec: { sails: 1 } });

    const heard: string[] = [];
    const gone = Promise.withResolvers<void>();
    store.subscribe(({ key, before, after }) => {
      heard.push(`${before ? (after ? "changed" : "gone") : "new"} ${key.split("/")[1]}`);
      if (key.endsWith("/last") && !after) gone.resolve();
    });
    const own = await apply(client, BOATS, boat("own"));
    store.put(own);
    expect(store.get(keyOf(own))).toEqual(own);
    await apply(client, BOATS, boat("own", {}, { spec: { sails: 2 } }));
    await apply(client, BOATS, boat("last"));
    await remove("last");
    await gone.promise;
    expect(heard).toEqual(["new own", "changed own", "new last", "gone last"]);
    expect(errors).toEqual([]);
  });
});

test("a lease is taken, kept, given back and taken by the next", async () => {
  const candidate = (identity: string) =>
    elect({ client, namespace: home, name: "helm", identity, clock: systemClock, retryMs: 200 });
  const one = candidate("one");
  await one.acquired;
  const two = candidate("two");
  expect([one.held(), two.held()]).toEqual([true, false]);
  await one.release();
  await two.acquired;
  const { stdout } = await cluster().kubectl(["get", "lease", "helm", "-n", home, "-o", "json"]);
  expect(JSON.parse(stdout).spec).toMatchObject({
    holderIdentity: "two",
    leaseDurationSeconds: 15,
    leaseTransitions: 1,
    renewTime: expect.stringMatching(/\.\d{6}Z$/),
  });
  await two.release();
});

test("kubectl describe shows the events, repeats counted", async () => {
  const regarding = await apply(client, BOATS, boat("eventful"));
  const errors: unknown[] = [];
  const recorder = createEventRecorder({
    client,
    component: "mooring",
    instance: "mooring-0",
    clock: systemClock,
    log: { debug() {}, warn: (fields) => errors.push(Reflect.get(fields, "err")) },
  });
  recorder.record(regarding, "Normal", "Launched", "it floats");
  await recorder.flush();
  recorder.record(regarding, "Normal", "Launched", "it floats");
  recorder.record(regarding, "Warning", "Leaking", "a little");
  recorder.record({ ...regarding, metadata: { ...regarding.metadata, namespace: "nowhere" } }, "Normal", "Lost", "x");
  await recorder.close();
  const { stdout } = await cluster().kubectl(["describe", "boat", "eventful", "-n", home]);
  expect(stdout).toMatch(/Normal\s+Launched\s+.*\(x2 over .*\)\s+mooring\s+it floats/);
  expect(stdout).toMatch(/Warning\s+Leaking\s+.*\s+mooring\s+a little/);
  expect(errors).toEqual([]);
});

test("a pod connects by its service account", async () => {
  const { kubectl, kubeconfig, server } = cluster();
  const folder = await mkdtemp(join(tmpdir(), "service-account-"));
  await kubectl(["create", "serviceaccount", "sailor", "-n", home]);
  const token = await kubectl(["create", "token", "sailor", "-n", home]);
  const [{ cluster: entry }] = parse(await readFile(kubeconfig, "utf8")).clusters;
  const ca = entry["certificate-authority"]
    ? await readFile(entry["certificate-authority"])
    : Buffer.from(entry["certificate-authority-data"], "base64");
  await writeFile(join(folder, "ca.crt"), ca);
  await writeFile(join(folder, "token"), token.stdout);
  await writeFile(join(folder, "namespace"), home);
  const { hostname, port } = new URL(server);
  const sailor = await connect({
    env: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
    serviceAccount: folder,
  });
  const review = await sailor.request({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
  });
  expect(review).toMatchObject({ status: { userInfo: { username: `system:serviceaccount:${home}:sailor` } } });
  expect(sailor.namespace).toBe(home);
  await sailor.close();
  await rm(folder, { recursive: true });
});
