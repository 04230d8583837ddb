import { join } from "node:path";
import { startCluster } from "../../src/cli/control-plane/start.ts";
import { until } from "../cluster/chaos/wait.ts";
import { CURRENT, type Given, NEXT, type Say } from "./given.ts";
import { handOvers } from "./hand-over.ts";
import { deploy, installChart } from "./install.ts";
import { bearLoad, type Rollout } from "./load.ts";
import { ADDRESS, importImage, joinCluster, NODE, settle, startRuntime } from "./machine.ts";
import { installRelease } from "./release.ts";
import { SYSTEM, type Tools, toolsFor } from "./tools.ts";

// The node, in its own namespaces: everything that is started here ends with this process.

const given: Given = JSON.parse(process.argv[2] ?? "");

let passed = 0;
const started = performance.now();
const say: Say = (line) => {
  passed += 1;
  console.log(`ok  ${line}  (${Math.round((performance.now() - started) / 1000)} s)`);
};

async function prove(): Promise<void> {
  settle(given);
  const cluster = await startCluster({ controllerManager: true, address: ADDRESS });
  const { kubeconfig } = cluster;
  const tools = toolsFor({
    kubectl: join(cluster.assets, "kubectl"),
    helm: given.helm,
    kubeconfig,
    home: given.folder,
  });
  await startRuntime(given);
  if (given.image) importImage(given.image, "docker.io/library/mooring", [CURRENT, NEXT]);
  joinCluster(given, kubeconfig);
  const version = () => tools.kubectl("get", "node", NODE, "--output", "jsonpath={.status.nodeInfo.kubeletVersion}");
  const wait = async () => {
    try {
      await tools.kubectl("wait", "node", NODE, "--for=condition=Ready", "--timeout=10s");
      return undefined;
    } catch (error) {
      return String(error);
    }
  };
  await until(wait, { title: "the node", forMs: 180_000 });
  say(`a node runs kubelet ${await version()}`);
  try {
    if (given.release) return await installRelease(tools, { ...given, release: given.release, kubeconfig, say });
    const platform = await installChart(tools, say);
    await handOvers(tools, say);
    await bearLoad(tools, { kubeconfig, platform, objects: given.objects, rollouts, say });
  } catch (error) {
    await explain(tools);
    throw error;
  }
}

/** Another version, and then the first one again. */
const rollouts: Rollout[] = [NEXT, CURRENT].map((tag) => ({ image: `:${tag}`, deploy: (tools) => deploy(tools, tag) }));

/** Prints what helps to find the cause. */
async function explain({ kubectl }: Tools): Promise<void> {
  const queries = [
    ["get", "nodes,pods", "--all-namespaces", "--output", "wide"],
    ["--namespace", SYSTEM, "get", "events"],
    ["--namespace", SYSTEM, "logs", "deployment/mooring", "--tail=30"],
    ["get", "mooring", "--all-namespaces"],
  ];
  for (const args of queries) console.log(await kubectl(...args).catch(String));
}

try {
  await prove();
  console.log(`\n${passed} passed, 0 failed`);
  process.exit(0);
} catch (error) {
  console.log(error instanceof Error ? error.message : error);
  console.log(`\n${passed} passed, 1 failed`);
  process.exit(1);
}
