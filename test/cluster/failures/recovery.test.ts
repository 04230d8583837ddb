import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCluster } from "../../../src/cli/control-plane/start.ts";
import {
  applySamples,
  install,
  kindsBeyond,
  type Part,
  sampleOf,
  samplesOf,
  writeOperatorKubeconfig,
} from "../../../src/cli/demo/install.ts";
import { EXTERNAL_ID } from "../../../src/engine/state/names.ts";
import { resourceOf } from "../../../src/engine/state/object.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { hasResource } from "../../../src/kinds/kind.ts";
import { connect } from "../../../src/kube/client/config.ts";
import type { KubeClient } from "../../../src/kube/client/transport.ts";
import { type KubeObject, pathOf } from "../../../src/kube/resource.ts";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import { root, run } from "../../processes.ts";
import { onThisMachine, startOperator } from "../chaos/operator.ts";
import { type OwnPlatform, startPlatform } from "../chaos/platform.ts";
import { openStage, unsettled } from "../chaos/stage.ts";
import { until } from "../chaos/wait.ts";
import { cluster } from "../harness.ts";

// The commands of docs/operations.md for one namespace. The objects are saved from the shared cluster and restored into
// a new one that has only the CRDs.
const cleanup = new AsyncDisposableStack();
const folder = cleanup.use(temporaryFolder("recovery"));
const local = kinds.filter(({ scope }) => scope !== "Cluster");
let platform: OwnPlatform;
let kubeconfig: string;
let admin: KubeClient;
let namespace: string;
let flags: string[];

async function shell(on: string, script: string) {
  const env = { ...process.env, KUBECONFIG: on, PATH: [cluster().assets, process.env.PATH].join(delimiter) };
  return run("bash", ["-ec", `set -o pipefail\n${script}`], { cwd: folder.path, env });
}
async function works(on: string, script: string): Promise<string> {
  const { code, stdout, stderr } = await shell(on, script);
  expect(code, `${script}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

/** Waits until all objects are Ready and can be found without their status. Returns their ids. */
async function untilSettled(client: KubeClient): Promise<Record<string, string | undefined>> {
  let ids: Record<string, string | undefined> = {};
  const obstacle = async () => {
    ids = {};
    for (const kind of local) {
      const path = pathOf(resourceOf(kind), { namespace });
      for (const object of (await client.request<{ items: KubeObject[] }>({ method: "GET", path })).items) {
        const name = `${kind.kind} ${object.metadata.name}`;
        const isKept = !hasResource(kind) || object.metadata.annotations?.[EXTERNAL_ID];
        const missing = unsettled(object) ?? (isKept ? undefined : "its id is not kept");
        if (missing !== undefined) return `${name}: ${missing}`;
        ids[name] = readStatus(object).id;
      }
    }
    return undefined;
  };
  await until(obstacle, { title: "all objects" });
  return ids;
}

/** Creations since the platform's counters were reset. */
const creations = async () =>
  Object.keys((await platform.steering.calls()).byRoute).filter((route) => /^POST |\/generate$/.test(route));

beforeAll(async () => {
  platform = cleanup.use(await startPlatform({ speed: 200 }));
  const control = await startCluster();
  cleanup.defer(control.stop);
  kubeconfig = control.kubeconfig;
  admin = await connect({ kubeconfig });
  cleanup.defer(() => admin.close());
  const lost = cleanup.use(await openStage(cluster().kubeconfig));
  namespace = lost.namespace;
  const endpoints = Object.entries(platform.endpoints).flatMap(([name, url]) => ["--endpoint", `${name}=${url}`]);
  flags = [...onThisMachine, ...endpoints, "--annotate-after", "1s", "--poll", "300ms", "--no-leader-election"];
  await install(admin, { namespace });
}, 240_000);
afterAll(() => cleanup.disposeAsync());

describe("a backup without status", { timeout: 240_000 }, () => {
  it("finds everything again in a new cluster, with the signing key: nothing is made", async () => {
    const lost = cluster().kubeconfig;
    const former = await connect({ kubeconfig: lost });
    cleanup.defer(() => former.close());
    const parts: Part[] = ["compute", "observability", "streaming"];
    await applySamples(former, namespace, platform, parts);
    // These have no resource to find: an export starts again.
    const without = ["Grant", "ActivityLogExport"];
    const wanted = local.filter(({ kind }) => !without.includes(kind));
    const others = (await kindsBeyond(await samplesOf(parts))).filter((kind) => wanted.includes(kind));
    const files = others.map((kind) => `-f ${root}deploy/samples/${sampleOf(kind)}`).join(" ");
    await works(lost, `kubectl -n ${namespace} apply ${files}`);
    const first = await operatorOf(former, lost);
    const before = await untilSettled(former);
    const kindsThere = new Set(Object.keys(before).map((name) => name.split(" ")[0]));
    expect(kindsThere).toEqual(new Set(wanted.map(({ kind }) => kind)));
    expect(await creations()).toContain("POST /cloudapi/v6/datacenters");
    await works(
      lost,
      `fresh='/^    uid: /d; /^    resourceVersion: /d'
       kubectl -n ${namespace} get mooring,clusteraccounts -o yaml | sed "$fresh" > objects.yaml
       kubectl -n ${namespace} get secrets -l mooring.dev/credentials -o yaml | sed "$fresh" > credentials.yaml
       kubectl -n ${namespace} get secrets --field-selector metadata.name=mooring-signing-key -o yaml | sed "$fresh" > key.yaml`,
    );
    await first.kill();

    await platform.steering.resetCalls();
    await works(kubeconfig, "kubectl create -f key.yaml -f credentials.yaml -f objects.yaml");
    await operatorOf(admin, kubeconfig);
    expect(await untilSettled(admin)).toEqual(before);
    expect(await creations()).toEqual([]);
    // The platform shows a key only once, so the Secret gets a new key, on request.
    const rotate = "annotate metricpipelines,logpipelines --all mooring.dev/rotate-at=after-restore";
    await works(kubeconfig, `kubectl -n ${namespace} ${rotate}`);
    const secrets = async () => works(kubeconfig, `kubectl -n ${namespace} get secrets -o name`);
    for (const name of ["web-metrics", "web-logs-logpipeline", "stream-kafkauser"]) {
      await expect.poll(secrets).toContain(`secret/${name}`);
    }
  });
});

async function operatorOf(client: KubeClient, of: string) {
  const own = join(folder.path, "operator.kubeconfig");
  await writeOperatorKubeconfig(client, of, own, { namespace });
  const operator = await startOperator(own, ["--namespace", namespace, "--watch-namespace", namespace, ...flags]);
  cleanup.defer(operator.kill);
  return operator;
}

describe("a CRD of Mooring", () => {
  const remove = "kubectl delete crd ipblocks.mooring.dev --timeout=60s";

  it("is not deleted by anybody, and the answer says what to do", async () => {
    const { code, stderr } = await shell(kubeconfig, remove);
    expect(code).not.toBe(0);
    expect(stderr).toContain("deletes all of its objects and their resources on the platform");
    expect(stderr).toContain("annotate the CRD with mooring.dev/allow-deletion=true");
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    await expect(admin.request({ method: "DELETE", path })).rejects.toThrow("allow-deletion");
    expect(await works(kubeconfig, "kubectl get crds -o name")).toContain("ipblocks.mooring.dev");
  });

  it("goes where it says that it may, with its objects and what they stand for", async () => {
    const [block] = await platform.steering.resources("ipblocks");
    expect(block).toBeDefined();
    await works(
      kubeconfig,
      `kubectl -n ${namespace} delete server,flowlog,scalinggroup,snapshot,volume --all --timeout=60s`,
    );
    await works(kubeconfig, `kubectl annotate crd ipblocks.mooring.dev mooring.dev/allow-deletion=yes\n${remove}`);
    expect(await platform.steering.resources("ipblocks")).toEqual([]);
  });

  it("of somebody else is none of its business", async () => {
    const crd = await works(kubeconfig, "kubectl get crd grants.mooring.dev -o yaml");
    const other = crd.replaceAll("mooring.dev", "example.com").replace(/^ {2}(uid|resourceVersion): .*\n/gm, "");
    await works(
      kubeconfig,
      `kubectl create -f - <<'END'\n${other}\nEND\nkubectl delete crd grants.example.com --timeout=60s`,
    );
  });
});
