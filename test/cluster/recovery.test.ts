import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, startCluster } from "../../src/cli/control-plane/start.ts";
import { applyObject, applySamples, installAsShipped, writeOperatorKubeconfig } from "../../src/cli/demo/install.ts";
import { EXTERNAL_ID } from "../../src/engine/objects/names.ts";
import { resourceOf } from "../../src/engine/objects/object.ts";
import { readStatus } from "../../src/engine/schema/status.ts";
import { kinds } from "../../src/kinds/index.ts";
import { hasResource, type Kind } from "../../src/kinds/kind.ts";
import { connect } from "../../src/kube/config.ts";
import { type KubeObject, pathOf } from "../../src/kube/resource.ts";
import type { KubeClient } from "../../src/kube/transport.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { run } from "../processes.ts";
import { type OperatorProcess, onThisMachine, startOperator } from "./chaos-operator.ts";
import { type Platform, startPlatform } from "./chaos-platform.ts";
import { unsettled } from "./chaos-stage.ts";
import { until } from "./chaos-wait.ts";
import { ipBlock } from "./objects.ts";

// The commands are those of docs/operations.md.
const cleanup = new AsyncDisposableStack();
const folder = cleanup.use(temporaryFolder("recovery"));
const backup = `
  fresh='/^    \\(uid\\|resourceVersion\\): /d'
  kubectl get mooring -A -o yaml | sed "$fresh" > objects.yaml
  kubectl get secrets -A -l mooring.dev/credentials -o yaml | sed "$fresh" > credentials.yaml
  kubectl -n mooring-system get secrets --field-selector metadata.name=mooring-signing-key -o yaml | sed "$fresh" > key.yaml`;
const restore = "kubectl create -f key.yaml -f credentials.yaml -f objects.yaml";

interface Place extends Pick<Cluster, "kubeconfig" | "assets"> {
  admin: KubeClient;
}
let platform: Platform;
let endpoints: string[];
let here: Place;
let elsewhere: Place;
let before: Record<string, string | undefined>;

async function open(): Promise<Place> {
  const { kubeconfig, assets, stop } = await startCluster({ controllerManager: true });
  cleanup.defer(stop);
  const admin = await connect({ kubeconfig });
  cleanup.defer(() => admin.close());
  return { kubeconfig, assets, admin };
}

async function shell({ kubeconfig, assets }: Place, script: string) {
  const env = { ...process.env, KUBECONFIG: kubeconfig, PATH: [assets, process.env.PATH].join(delimiter) };
  return run("bash", ["-ec", `set -o pipefail\n${script}`], { cwd: folder.path, env });
}
async function works(place: Place, script: string): Promise<string> {
  const { code, stdout, stderr } = await shell(place, script);
  expect(code, `${script}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

async function operatorOf({ admin, kubeconfig }: Place): Promise<OperatorProcess> {
  const own = join(folder.path, "operator.kubeconfig");
  await writeOperatorKubeconfig(admin, kubeconfig, own);
  const quick = ["--annotate-after", "1s", "--poll", "300ms", "--no-leader-election"];
  return startOperator(own, [...onThisMachine, ...endpoints, ...quick]);
}

async function objectsOf({ admin }: Place): Promise<{ kind: Kind; object: KubeObject }[]> {
  const listed = kinds.map(async (kind) => {
    const { items } = await admin.request<{ items: KubeObject[] }>({ method: "GET", path: pathOf(resourceOf(kind)) });
    return items.map((object) => ({ kind, object }));
  });
  return (await Promise.all(listed)).flat();
}

/** Waits until everything is Ready, and can be found again without its status; the ids of all. */
async function untilSettled(place: Place): Promise<Record<string, string | undefined>> {
  let all: Awaited<ReturnType<typeof objectsOf>> = [];
  const obstacle = async () => {
    all = await objectsOf(place);
    for (const { kind, object } of all) {
      const isKept = !hasResource(kind) || object.metadata.annotations?.[EXTERNAL_ID];
      const missing = unsettled(object) ?? (isKept ? undefined : "its id is not kept");
      if (missing !== undefined) return `${kind.kind} ${object.metadata.name}: ${missing}`;
    }
    return all.length === 0 ? "there are none" : undefined;
  };
  await until(obstacle, { title: "all objects" });
  return Object.fromEntries(
    all.map(({ kind, object }) => [`${kind.kind} ${object.metadata.name}`, readStatus(object).id]),
  );
}

/** What was made on the platform since the last look; a key of a pipeline is renewed, not made. */
const creations = async () =>
  Object.keys((await platform.steering.calls()).byRoute).filter((route) => route.startsWith("POST "));

beforeAll(async () => {
  platform = cleanup.use(await startPlatform({ speed: 200 }));
  endpoints = Object.entries(platform.endpoints).flatMap(([name, url]) => ["--endpoint", `${name}=${url}`]);
  [here, elsewhere] = await Promise.all([open(), open()]);
  await installAsShipped(here.admin);
  await applySamples(here.admin, "demo", platform.token, ["compute", "observability", "streaming"]);
  await works(
    here,
    `kubectl create namespace shop
     kubectl -n mooring-system create secret generic shared-token --from-literal=token=${platform.token}`,
  );
  const spec = { credentialsSecretRef: { name: "shared-token" }, namespaces: { names: ["shop"] }, default: true };
  const { metadata, ...shared } = ipBlock("shared");
  await applyObject(here.admin, {
    apiVersion: "mooring.dev/v1alpha1",
    kind: "ClusterAccount",
    metadata: { name: "shared" },
    spec,
  });
  await applyObject(here.admin, { ...shared, metadata: { ...metadata, namespace: "shop" } });
  const operator = await operatorOf(here);
  before = await untilSettled(here);
  await works(here, backup);
  expect(await operator.stop()).toBe(0);
}, 240_000);
afterAll(() => cleanup.disposeAsync());

describe("a CRD of Mooring", () => {
  const remove = "kubectl delete crd datacenters.mooring.dev --timeout=60s";

  it("is not deleted by anybody, and the answer says what to do", async () => {
    const { code, stderr } = await shell(here, remove);
    expect(code).not.toBe(0);
    expect(stderr).toContain("deletes all of its objects and their resources on the platform");
    expect(stderr).toContain("annotate the CRD with mooring.dev/allow-deletion=true");
    expect((await shell(here, "kubectl delete crds --all --timeout=60s")).code).not.toBe(0);
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    await expect(here.admin.request({ method: "DELETE", path })).rejects.toThrow("allow-deletion");
    expect(Object.keys(await untilSettled(here))).toEqual(Object.keys(before));
  });

  it("of somebody else is none of its business", async () => {
    const crd = await works(here, "kubectl get crd grants.mooring.dev -o yaml");
    const other = crd.replaceAll("mooring.dev", "example.com");
    await works(here, `kubectl create -f - <<'END'\n${other.replace(/^ {2}(uid|resourceVersion): .*\n/gm, "")}\nEND`);
    await works(here, "kubectl delete crd grants.example.com --timeout=60s");
  });
});

describe("a backup without status", { timeout: 240_000 }, () => {
  it("finds everything again where namespaces and CRDs are gone: nothing is made", async () => {
    // Nobody works on them: without their finalizers they go, and what they stand for stays.
    for (const { kind, object } of await objectsOf(here)) {
      await here.admin.request({
        method: "PATCH",
        path: pathOf(resourceOf(kind), object.metadata),
        contentType: "application/merge-patch+json",
        body: { metadata: { finalizers: null } },
      });
    }
    await works(
      here,
      `kubectl get secrets -A -l mooring.dev/credentials -o jsonpath='{range .items[*]}-n {.metadata.namespace} {.metadata.name}{"\\n"}{end}' |
         xargs -L1 kubectl patch secret --type merge -p '{"metadata":{"finalizers":null}}'
       crds=$(kubectl get crds -o name | grep mooring.dev)
       kubectl annotate $crds mooring.dev/allow-deletion=true
       kubectl delete $crds --timeout=60s
       kubectl delete namespace demo shop mooring-system --timeout=60s`,
    );
    await installAsShipped(here.admin);
    await platform.steering.resetCalls();
    await works(here, `kubectl create namespace demo\nkubectl create namespace shop\n${restore}`);
    const operator = await operatorOf(here);
    expect(await untilSettled(here)).toEqual(before);
    expect(await creations()).toEqual([]);
    expect(await operator.stop()).toBe(0);
  });

  it("does so in a new cluster, with the signing key", async () => {
    await installAsShipped(elsewhere.admin);
    await platform.steering.resetCalls();
    await works(elsewhere, `kubectl create namespace demo\nkubectl create namespace shop\n${restore}`);
    const operator = await operatorOf(elsewhere);
    expect(await untilSettled(elsewhere)).toEqual(before);
    expect(await creations()).toEqual([]);
    expect(await operator.stop()).toBe(0);
  });
});
