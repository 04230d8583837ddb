import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { pushRelease } from "../../release/registry/push.ts";
import { startRegistry } from "../release/registry.ts";
import type { Say } from "./given.ts";
import {
  applySamplesInCluster,
  namespaced,
  namespacedKinds,
  operatorValues,
  PATIENTLY,
  PLATFORM,
  platformValues,
} from "./install.ts";
import { operatorPods, SYSTEM, type Tools } from "./tools.ts";

const publishedSchema = z.object({ version: z.string(), image: z.object({ digest: z.string() }) });

/** Pushes a release to a registry on this machine, installs its chart from there, and uninstalls it again. */
export async function installRelease(tools: Tools, folder: string, say: Say): Promise<void> {
  const { kubectl, helmWith } = tools;
  const { version, image } = publishedSchema.parse(JSON.parse(readFileSync(join(folder, "release.json"), "utf8")));
  const { host } = await startRegistry();
  await pushRelease({ from: folder, registry: host, credentials: () => undefined, plainHttp: true }, () => {});
  say(`release ${version} is pushed to a registry`);
  const chart = [`oci://${host}/charts/mooring`, "--version", version, "--plain-http"];
  const repository = `${host}/mooring`;
  for (const namespace of [SYSTEM, PLATFORM]) {
    await kubectl("create", "namespace", namespace);
    await kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted");
  }
  const values = { ...operatorValues, image: { repository } };
  await helmWith(values, "install", "mooring", ...chart, ...namespaced, ...PATIENTLY);
  const pods = await operatorPods(tools);
  const wanted = `${repository}@${image.digest}`;
  if (pods.length !== 2 || pods.some((pod) => !pod.ready || pod.image !== wanted))
    throw new Error(JSON.stringify(pods));
  say(`helm install ${chart[0]}: two pods are Ready with the image pinned by digest, pulled from there`);
  const simulated = { ...platformValues, image: { repository } };
  await helmWith(simulated, "install", "platform", ...chart, "--namespace", PLATFORM, ...PATIENTLY);
  await applySamplesInCluster(tools, say);
  await uninstall(tools);
  say("after helm uninstall and deletion of the CRDs nothing of Mooring is left");
}

async function uninstall({ kubectl, helm }: Tools): Promise<void> {
  await kubectl("delete", namespacedKinds, "--all", "--timeout=300s");
  await helm("uninstall", "mooring", ...namespaced, "--wait");
  await helm("uninstall", "platform", "--namespace", PLATFORM, "--wait");
  const crds = (await kubectl("get", "crds", "--output", "name"))
    .split("\n")
    .filter((name) => name.includes("mooring.dev"));
  await kubectl("delete", ...crds, "--timeout=120s");
  await kubectl("delete", "namespace", SYSTEM, PLATFORM, "--timeout=300s");
  const kinds =
    "clusterroles,clusterrolebindings,crds,validatingadmissionpolicies,validatingadmissionpolicybindings,namespaces";
  const left = (await kubectl("get", kinds, "--output", "name")).split("\n").filter((name) => name.includes("mooring"));
  if (left.length > 0) throw new Error(`left behind: ${left.join(", ")}`);
}
