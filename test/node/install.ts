import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../image/build.ts";
import { kinds } from "../../src/kinds/index.ts";
import { CURRENT, type Say } from "./given.ts";
import { operatorPods, SYSTEM, type Tools } from "./tools.ts";

/** The platform as the operator's pods reach it. */
export interface PlatformInCluster {
  url: string;
  token: string;
  /** Its control address, which is allowed only on its own machine. */
  control: string;
}

export const chart = join(root, "deploy/chart");
export const namespaced = ["--namespace", SYSTEM];

/** A separate release: an upgrade of the operator would restart the simulator, which loses its state. */
export const PLATFORM = "platform";
const API = `http://mooring-simulator.${PLATFORM}:8080`;
export const platformValues = {
  replicas: 0,
  crds: { install: false },
  tenantRoles: { create: false },
  admissionPolicy: { create: false },
  simulator: { create: true, speed: 20 },
};
export const operatorValues = {
  endpoints: {
    api: API,
    objectStorage: `http://mooring-simulator.${PLATFORM}:9000`,
    monitoring: `${API}/monitoring/{region}`,
    logging: `${API}/logging/{region}`,
    streaming: `${API}/streaming/{region}`,
  },
  allowEndpoints: [API],
  // All objects of the load are in one namespace.
  limits: { ActivityLogExport: 1000 },
  extraArgs: ["--annotate-after=1s"],
};

/** Installs or upgrades the operator with this image version, and waits until its pods are Ready. */
export const deploy = ({ helmWith }: Tools, tag: string): Promise<string> =>
  helmWith(
    { ...operatorValues, image: { tag } },
    "upgrade",
    "--install",
    "mooring",
    chart,
    ...namespaced,
    ...PATIENTLY,
  );

export const PATIENTLY = ["--wait", "--timeout=10m"];

/** All namespaced kinds, for kubectl. */
export const namespacedKinds = kinds
  .filter(({ scope }) => scope !== "Cluster")
  .map(({ plural }) => plural)
  .join(",");

const SIMULATOR = "deployment/mooring-simulator";
const SAMPLES = ["landscape", "metricpipeline", "logpipeline", "centrallogging", "streaming"];

/** Installs the chart with the restricted profile, and waits for the samples to be Ready. */
export async function installChart(tools: Tools, say: Say): Promise<PlatformInCluster> {
  const { kubectl, helmWith } = tools;
  for (const namespace of [SYSTEM, PLATFORM]) {
    await kubectl("create", "namespace", namespace);
    await kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted");
  }
  await deploy(tools, CURRENT);
  await helmWith(platformValues, "install", "platform", chart, "--namespace", PLATFORM, ...PATIENTLY);
  const pods = await operatorPods(tools);
  if (pods.length !== 2 || pods.some(({ ready }) => !ready)) throw new Error(`pods: ${JSON.stringify(pods)}`);
  say("helm install --wait: two pods of the operator are Ready under the restricted profile");

  return platformWithSamples(tools, say);
}

/** Applies the samples with the token of the installed simulator, and waits until they are Ready. */
export async function platformWithSamples({ kubectl, feed, forward }: Tools, say: Say): Promise<PlatformInCluster> {
  const log = await kubectl("--namespace", PLATFORM, "logs", SIMULATOR);
  const token = log.match(/token +(\S+)/)?.[1];
  if (token === undefined) throw new Error("the simulator's log has no token");
  for (const sample of SAMPLES) {
    const text = readFileSync(join(root, `deploy/samples/${sample}.yaml`), "utf8");
    await feed(text.replaceAll("paste-the-bearer-token-here", token), "apply", "--filename", "-");
  }
  await kubectl("wait", namespacedKinds, "--all", "--for=condition=Ready", "--timeout=180s");
  const count = (await kubectl("get", "mooring", "--output", "name")).trim().split("\n").length;
  say(`${count} objects of the samples ${SAMPLES.join(", ")} are Ready`);
  return { url: API, token, control: await forward(8080, "--namespace", PLATFORM, SIMULATOR) };
}
