import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { pushRelease } from "../../release/registry/push.ts";
import { platformAt } from "../cluster/chaos/platform.ts";
import { startRegistry } from "../release/registry.ts";
import type { Say } from "./given.ts";
import {
  namespaced,
  operatorValues,
  PATIENTLY,
  PLATFORM,
  type PlatformInCluster,
  platformValues,
  platformWithSamples,
} from "./install.ts";
import { bearLoad, permanent, type Rollout } from "./load.ts";
import { operatorPods, SYSTEM, type Tools } from "./tools.ts";

const publishedSchema = z.object({ version: z.string(), image: z.object({ digest: z.string() }) });

interface Installation {
  release: string;
  next: string | undefined;
  kubeconfig: string;
  objects: number;
  say: Say;
}

/**
 * Pushes a release to a registry on this machine, installs its chart from there, upgrades to the next one and back
 * under load, and uninstalls it again.
 */
export async function installRelease(tools: Tools, installation: Installation): Promise<void> {
  const { release, next, kubeconfig, objects, say } = installation;
  const { kubectl, helmWith } = tools;
  const { host } = await startRegistry();
  const repository = `${host}/mooring`;
  const first = await publish(release, host, say);
  const values = { ...operatorValues, image: { repository } };
  const rollout = ({ chart, digest }: Published): Rollout => ({
    image: `${repository}@${digest}`,
    deploy: ({ helmWith }) =>
      helmWith(values, "upgrade", "--install", "mooring", ...chart, ...namespaced, ...PATIENTLY),
  });
  for (const namespace of [SYSTEM, PLATFORM]) {
    await kubectl("create", "namespace", namespace);
    await kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted");
  }
  const { image, deploy } = rollout(first);
  await deploy(tools);
  const pods = await operatorPods(tools);
  if (pods.length !== 2 || pods.some((pod) => !pod.ready || pod.image !== image)) throw new Error(JSON.stringify(pods));
  say(`helm install ${first.chart[0]}: two pods are Ready with the image pinned by digest, pulled from there`);
  const simulated = { ...platformValues, image: { repository } };
  await helmWith(simulated, "install", "platform", ...first.chart, "--namespace", PLATFORM, ...PATIENTLY);
  const platform = await platformWithSamples(tools, say);
  if (next) {
    const rollouts = [rollout(await publish(next, host, say)), rollout(first)];
    await bearLoad(tools, { kubeconfig, platform, objects, rollouts, say });
  }
  await uninstall(tools, platform);
  say("after uninstallation as documented, nothing of Mooring is left in the cluster or on the platform");
}

interface Published {
  /** The chart, for Helm. */
  chart: string[];
  digest: string;
}

async function publish(folder: string, host: string, say: Say): Promise<Published> {
  const { version, image } = publishedSchema.parse(JSON.parse(readFileSync(join(folder, "release.json"), "utf8")));
  await pushRelease({ from: folder, registry: host, credentials: () => undefined, plainHttp: true }, () => {});
  say(`release ${version} is pushed to a registry`);
  return { chart: [`oci://${host}/charts/mooring`, "--version", version, "--plain-http"], digest: image.digest };
}

/** Removes everything as docs/uninstall.md says. */
async function uninstall({ kubectl, helm }: Tools, { url, token, control }: PlatformInCluster): Promise<void> {
  await kubectl("delete", "mooring", "--all", "--all-namespaces", "--timeout=300s");
  await helm("uninstall", "mooring", ...namespaced, "--wait");
  const made = Object.keys(await platformAt(url, token, control).steering.made());
  const resources = made.filter((each) => !permanent.includes(each));
  if (resources.length > 0) throw new Error(`left behind on the platform: ${resources.join(", ")}`);
  await helm("uninstall", "platform", "--namespace", PLATFORM, "--wait");
  const crds = (await kubectl("get", "crds", "--output", "name"))
    .split("\n")
    .filter((name) => name.includes("mooring.dev"));
  await kubectl("delete", ...crds, "--timeout=120s");
  await kubectl("delete", "namespace", SYSTEM, PLATFORM, "--timeout=300s");
  await kubectl("--namespace", "kube-system", "delete", "lease", "mooring-installation");
  // Events expire by themselves.
  const types = await kubectl("api-resources", "--verbs=list", "--output", "name");
  const kinds = types.split("\n").filter((type) => type !== "" && !type.startsWith("events"));
  const everything = await kubectl("get", kinds.join(","), "--all-namespaces", "--output", "name");
  const left = everything.split("\n").filter((name) => name.includes("mooring"));
  if (left.length > 0) throw new Error(`left behind: ${left.join(", ")}`);
}
