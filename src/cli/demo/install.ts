import { readFile, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { yamlText } from "../../diagnostics/manifest-text.ts";
import { resourceOf } from "../../engine/state/object.ts";
import { kinds } from "../../kinds/index.ts";
import type { Kind } from "../../kinds/kind.ts";
import type { KubeClient } from "../../kube/client/transport.ts";
import { type KubeObject, pathOf, type Resource } from "../../kube/resource.ts";
import { apply } from "../../kube/write/apply.ts";
import { customResourceDefinition } from "../manifests/crd.ts";
import { rights } from "../manifests/manifests.ts";
import { crdPolicy } from "../manifests/policy.ts";
import { type Installation, namespaceOf } from "../manifests/rbac.ts";

const builtIn: Record<string, Omit<Resource, "kind">> = {
  CustomResourceDefinition: {
    group: "apiextensions.k8s.io",
    version: "v1",
    plural: "customresourcedefinitions",
    namespaced: false,
  },
  Namespace: { group: "", version: "v1", plural: "namespaces", namespaced: false },
  Secret: { group: "", version: "v1", plural: "secrets", namespaced: true },
  Service: { group: "", version: "v1", plural: "services", namespaced: true },
  ServiceAccount: { group: "", version: "v1", plural: "serviceaccounts", namespaced: true },
  ...inGroup("apps", [["Deployment", "deployments", true]]),
  ...inGroup("networking.k8s.io", [["NetworkPolicy", "networkpolicies", true]]),
  ...inGroup("policy", [["PodDisruptionBudget", "poddisruptionbudgets", true]]),
  ...inGroup("rbac.authorization.k8s.io", [
    ["ClusterRole", "clusterroles", false],
    ["ClusterRoleBinding", "clusterrolebindings", false],
    ["Role", "roles", true],
    ["RoleBinding", "rolebindings", true],
  ]),
  ...inGroup("admissionregistration.k8s.io", [
    ["ValidatingAdmissionPolicy", "validatingadmissionpolicies", false],
    ["ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", false],
  ]),
};

function inGroup(group: string, all: [kind: string, plural: string, namespaced: boolean][]): typeof builtIn {
  return Object.fromEntries(
    all.map(([kind, plural, namespaced]) => [kind, { group, version: "v1", plural, namespaced }]),
  );
}

const kubeObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});

/** Applies an object, as `kubectl apply --server-side` does. */
export async function applyObject(client: KubeClient, document: unknown, fieldManager = "mooring-demo"): Promise<void> {
  const object: KubeObject = kubeObject.parse(document);
  const own = kinds.find(({ kind }) => kind === object.kind);
  const known = builtIn[object.kind];
  const resource = own ? resourceOf(own) : known && { ...known, kind: object.kind };
  if (!resource) throw new Error(`the demo cannot apply a ${object.kind}`);
  await apply(client, resource, object, { fieldManager });
}

/** Installs the operator's CRDs with their policy, its ServiceAccount, RBAC and admission policies. */
export async function install(client: KubeClient, installation: Installation = {}): Promise<void> {
  for (const manifest of [...kinds.map(customResourceDefinition), ...crdPolicy()]) await applyObject(client, manifest);
  await installRights(client, installation);
  for (const kind of kinds) await untilServed(client, pathOf(resourceOf(kind)));
}

/** Installs the ServiceAccount, RBAC and admission policies, without the CRDs. */
export async function installRights(client: KubeClient, installation: Installation = {}): Promise<void> {
  for (const manifest of rights(kinds, installation)) await applyObject(client, manifest);
}

/**
 * Installs the same manifests as an installation without Helm. The cluster has no node: the operator runs beside it.
 */
export async function installAsShipped(client: KubeClient): Promise<void> {
  const path = fileURLToPath(new URL("../../../deploy/kustomize/install.yaml", import.meta.url));
  for (const document of parseAllDocuments(await readFile(path, "utf8"))) {
    const object = kubeObject.parse(document.toJS());
    await applyObject(client, object.kind === "Deployment" ? withoutPods(object) : object);
  }
  for (const kind of kinds) await untilServed(client, pathOf(resourceOf(kind)));
}

const withoutPods = (deployment: KubeObject): KubeObject => ({
  ...deployment,
  spec: { ...deploymentSpec.parse(deployment.spec), replicas: 0 },
});
const deploymentSpec = z.looseObject({ replicas: z.int() });

/** The API server needs a moment before it serves a new CRD. */
async function untilServed(client: KubeClient, path: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await client.request({ method: "GET", path, query: { limit: "1" } });
      return;
    } catch (error) {
      if (attempt === 100) throw error;
      await delay(100);
    }
  }
}

const tokenAnswer = z.object({ status: z.object({ token: z.string() }) });
const WEEK_SECONDS = 7 * 24 * 3600;

/** A kubeconfig with the operator's ServiceAccount. */
export async function writeOperatorKubeconfig(
  client: KubeClient,
  adminKubeconfig: string,
  path: string,
  installation: Installation = {},
): Promise<void> {
  const answer = await client.request({
    method: "POST",
    path: `/api/v1/namespaces/${namespaceOf(installation)}/serviceaccounts/mooring/token`,
    body: {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { expirationSeconds: WEEK_SECONDS },
    },
  });
  const { token } = tokenAnswer.parse(answer).status;
  await writeKubeconfig(path, adminKubeconfig, { user: { name: "mooring", user: { token } } });
}

const adminConfig = z.object({
  clusters: z.tuple([z.looseObject({ name: z.string() })]),
  users: z.tuple([z.looseObject({ name: z.string() })]),
});

/** A kubeconfig for the same cluster with another user or namespace. */
export async function writeKubeconfig(
  path: string,
  adminKubeconfig: string,
  { user, namespace }: { user?: { name: string; user: object }; namespace?: string },
): Promise<void> {
  const { clusters, users } = adminConfig.parse(parse(await readFile(adminKubeconfig, "utf8")));
  const chosenUser = user ?? users[0];
  const context = { cluster: clusters[0].name, user: chosenUser.name, ...(namespace !== undefined && { namespace }) };
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    clusters,
    users: [chosenUser],
    contexts: [{ name: "mooring", context }],
    "current-context": "mooring",
  };
  await writeFile(path, yamlText(kubeconfig), { mode: 0o600 });
}

/** The parts of the demo, with their samples. */
export const parts = {
  compute: ["landscape.yaml"],
  observability: ["metricpipeline.yaml", "logpipeline.yaml", "centrallogging.yaml"],
  streaming: ["demo/streaming.yaml"],
  access: ["demo/access.yaml"],
} as const;
export type Part = keyof typeof parts;

const readSample = (name: string): Promise<string> =>
  readFile(fileURLToPath(new URL(`../../../deploy/samples/${name}`, import.meta.url)), "utf8");

/** The samples of these parts. With all parts, also the samples of kinds that no part has. */
export async function samplesOf(chosen: readonly Part[]): Promise<string[]> {
  const names: string[] = chosen.flatMap((part) => parts[part]);
  if (chosen.length < Object.keys(parts).length) return names;
  const others = await kindsBeyond(names);
  return [...names, ...others.map(sampleOf)];
}

export const sampleOf = ({ kind }: Kind): string => `${kind.toLowerCase()}.yaml`;

/** Kinds without an object in these samples. */
export async function kindsBeyond(names: readonly string[]): Promise<Kind[]> {
  const shown = (await Promise.all(names.map(readSample))).join("\n");
  return kinds.filter(({ kind }) => !new RegExp(`^kind: ${kind}$`, "m").test(shown));
}

/** The platform credentials for the Secrets of samples. */
export interface Keys {
  token: string;
  s3?: { accessKey: string; secretKey: string };
}

const texts = z.record(z.string(), z.string());

/** Applies samples with the credentials of this platform, into the given namespace unless they name one. */
export async function applySamples(
  client: KubeClient,
  namespace: string,
  { token, s3 }: Keys,
  chosen: readonly Part[],
): Promise<void> {
  const values: Record<string, string> = {
    "paste-the-bearer-token-here": token,
    ...(s3 && { "paste-the-access-key-here": s3.accessKey, "paste-the-secret-key-here": s3.secretKey }),
  };
  await applyObject(client, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  for (const name of await samplesOf(chosen)) {
    for (const document of parseAllDocuments(await readSample(name))) {
      const object = kubeObject.parse(document.toJS());
      const isClusterScoped = kinds.some(({ kind, scope }) => kind === object.kind && scope === "Cluster");
      if (!isClusterScoped) object.metadata.namespace ??= namespace;
      if (object.kind === "Secret") {
        const given = Object.entries(texts.parse(object.stringData));
        object.stringData = Object.fromEntries(given.map(([key, text]) => [key, values[text] ?? text]));
      }
      await applyObject(client, object);
    }
  }
}
