import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { applyObject, install, installRights, writeOperatorKubeconfig } from "../../../src/cli/demo/install.ts";
import { rights } from "../../../src/cli/manifests/manifests.ts";
import type { Installation } from "../../../src/cli/manifests/rbac.ts";
import { openIntent, resourceOf } from "../../../src/engine/state/object.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import { GROUP, kinds, VERSION } from "../../../src/kinds/index.ts";
import type { Kind } from "../../../src/kinds/kind.ts";
import { connect } from "../../../src/kube/client/config.ts";
import { isConflict, isNotFound } from "../../../src/kube/client/errors.ts";
import type { KubeClient } from "../../../src/kube/client/transport.ts";
import { type KubeObject, pathOf } from "../../../src/kube/resource.ts";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import { type OperatorProcess, type OtherTime, shortTimeouts, startOperator } from "./operator.ts";
import { until } from "./wait.ts";

/** A namespace with its own Lease, for any number of operators. All of them end with it. */
export interface Stage extends AsyncDisposable {
  readonly namespace: string;
  readonly admin: KubeClient;
  /** The client of the acting user: the administrator, unless the stage was opened for another user. */
  readonly hands: KubeClient;
  /** The kubeconfig of the operator's ServiceAccount. */
  readonly kubeconfig: string;
  /** The same kubeconfig for another address of the API server. */
  kubeconfigVia(server: string): Promise<string>;
  /** An operator with short timeouts, for this namespace unless it watches all; `flags` come last and win. */
  operator(options?: OperatorOptions): Promise<OperatorProcess>;
  /** Creates an Account, `main` by default, and its Secret. */
  account(platform: { url: string; token: string }, name?: string): Promise<void>;
  apply(...objects: object[]): Promise<void>;
  /** A JSON merge patch. */
  patch(kind: string, name: string, change: object): Promise<void>;
  /** Deletes without waiting. */
  remove(kind: string, name: string): Promise<void>;
  read(kind: string, name: string): Promise<KubeObject | undefined>;
  list(kind: string): Promise<KubeObject[]>;
  untilReady(kind: string, name: string): Promise<KubeObject>;
  untilReason(kind: string, name: string, reason: string): Promise<void>;
  untilGone(kind: string, name: string): Promise<void>;
}

export interface OperatorOptions {
  kubeconfig?: string;
  everywhere?: boolean;
  flags?: string[];
  time?: OtherTime;
  /** The name of its pod; absent: it is in no pod. */
  pod?: string;
  /** The main file of another version. */
  main?: string;
}

const listed = z.object({ items: z.array(z.looseObject({})) });
const served = z.looseObject({ resources: z.array(z.looseObject({ name: z.string() })) });
const named = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
});
const installed = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});

export async function openStage(
  clusterKubeconfig: string,
  handsOf: (admin: KubeClient, namespace: string) => Promise<KubeClient> = async (admin) => admin,
  shards: readonly string[] = [],
): Promise<Stage> {
  await using opening = new AsyncDisposableStack();
  const admin = await connect({ kubeconfig: clusterKubeconfig });
  opening.defer(() => admin.close());
  const namespace = `chaos-${randomBytes(4).toString("hex")}`;
  const { path: folder } = opening.use(temporaryFolder("chaos"));
  const kubeconfig = join(folder, "kubeconfig");
  // Operators side by side need separate Leases, so every stage is its own installation.
  const installation = { namespace, shards };
  opening.defer(() => uninstall(admin, installation));
  await ((await isInstalled(admin)) ? installRights : install)(admin, installation);
  await writeOperatorKubeconfig(admin, clusterKubeconfig, kubeconfig, { namespace });
  const hands = await handsOf(admin, namespace);
  if (hands !== admin) opening.defer(() => hands.close());

  const kindOf = (name: string): Kind => {
    const kind = kinds.find((each) => each.kind === name);
    if (!kind) throw new Error(`there is no kind ${name}`);
    return kind;
  };
  const pathTo = (kind: string, name?: string) => pathOf(resourceOf(kindOf(kind)), { namespace, name });
  const operators: OperatorProcess[] = [];
  opening.defer(async () => {
    await Promise.all(operators.map((operator) => operator.kill()));
  });

  const read: Stage["read"] = async (kind, name) => {
    try {
      return await hands.request<KubeObject>({ method: "GET", path: pathTo(kind, name) });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  const patch: Stage["patch"] = async (kind, name, change) => {
    await hands.request({
      method: "PATCH",
      path: pathTo(kind, name),
      contentType: "application/merge-patch+json",
      body: change,
    });
  };
  const apply: Stage["apply"] = async (...objects) => {
    for (const object of objects) {
      const { metadata, ...rest } = named.parse(object);
      const isNamespaced = kinds.find(({ kind }) => kind === rest.kind)?.scope !== "Cluster";
      await applyObject(hands, { ...rest, metadata: { ...metadata, ...(isNamespaced && { namespace }) } });
    }
  };
  const closing = opening.move();
  return {
    namespace,
    admin,
    hands,
    kubeconfig,
    async kubeconfigVia(server) {
      const path = join(folder, `kubeconfig-${randomBytes(4).toString("hex")}`);
      const config = z
        .looseObject({ clusters: z.array(z.looseObject({ name: z.string(), cluster: z.looseObject({}) })) })
        .parse(parse(await readFile(kubeconfig, "utf8")));
      const clusters = config.clusters.map(({ name, cluster }) => ({ name, cluster: { ...cluster, server } }));
      await writeFile(path, stringify({ ...config, clusters }), { mode: 0o600 });
      return path;
    },
    async operator({ kubeconfig: other = kubeconfig, everywhere = false, flags = [], time, pod, main } = {}) {
      const place = ["--namespace", namespace, ...(everywhere ? [] : ["--watch-namespace", namespace])];
      const operator = await startOperator(other, [...place, ...shortTimeouts, ...flags], { time, pod, main });
      operators.push(operator);
      return operator;
    },
    account: ({ url, token }, name = "main") =>
      apply(
        { apiVersion: "v1", kind: "Secret", metadata: { name }, stringData: { token } },
        {
          apiVersion: "mooring.dev/v1alpha1",
          kind: "Account",
          metadata: { name },
          spec: { endpoints: { api: url }, credentialsSecretRef: { name } },
        },
      ),
    apply,
    patch,
    async remove(kind, name) {
      try {
        await hands.request({ method: "DELETE", path: pathTo(kind, name) });
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    },
    read,
    async list(kind) {
      const { items } = listed.parse(await hands.request({ method: "GET", path: pathTo(kind) }));
      return items.map((item) => ({ apiVersion: "", kind, ...named.parse(item) }));
    },
    async untilReady(kind, name) {
      let found: KubeObject | undefined;
      await until(
        async () => {
          found = await read(kind, name);
          return unsettled(found);
        },
        { title: `${kind} ${name}` },
      );
      if (!found) throw new Error(`${kind} ${name} is gone`);
      return found;
    },
    async untilReason(kind, name, reason) {
      await until(
        async () => {
          const found = await read(kind, name);
          const ready = found && readStatus(found).conditions?.find(({ type }) => type === "Ready");
          return ready?.reason === reason
            ? undefined
            : `Ready is ${ready?.status} (${ready?.reason}: ${ready?.message})`;
        },
        { title: `${kind} ${name}` },
      );
    },
    async untilGone(kind, name) {
      await until(
        async () => {
          const found = await read(kind, name);
          return found && `it is still there: ${unsettled(found) ?? "and Ready"}`;
        },
        { title: `${kind} ${name}` },
      );
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** The reason why an object is not Ready for its last edit; undefined if it is. */
export function unsettled(object: KubeObject | undefined): string | undefined {
  if (!object) return "it does not exist";
  const { conditions = [], observedGeneration } = readStatus(object);
  const ready = conditions.find(({ type }) => type === "Ready");
  if (observedGeneration !== object.metadata.generation || ready?.status !== "True") {
    return `Ready is ${ready?.status} (${ready?.reason}: ${ready?.message})`;
  }
  return openIntent(object) ? "its intent is open" : undefined;
}

/** Whether the CRDs are installed. Applying them again costs the API server a second. */
async function isInstalled(admin: KubeClient): Promise<boolean> {
  try {
    const { resources } = served.parse(await admin.request({ method: "GET", path: `/apis/${GROUP}/${VERSION}` }));
    return kinds.every(({ plural }) => resources.some(({ name }) => name === plural));
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

const PATHS: Readonly<Record<string, string>> = {
  ClusterRole: "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  ClusterRoleBinding: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
  Role: "/apis/rbac.authorization.k8s.io/v1/namespaces/NAMESPACE/roles",
  RoleBinding: "/apis/rbac.authorization.k8s.io/v1/namespaces/NAMESPACE/rolebindings",
  ValidatingAdmissionPolicy: "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
  ValidatingAdmissionPolicyBinding: "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
};

/** Removes the installation in this namespace, and the namespace with the rest of it. */
async function uninstall(admin: KubeClient, installation: Installation & { namespace: string }): Promise<void> {
  const paths = rights(kinds, installation).flatMap((manifest) => {
    const { kind, metadata } = installed.parse(manifest);
    const folder = PATHS[kind];
    // The roles of tenants are shared by all installations.
    const isOwn = metadata.name.startsWith(`mooring-${installation.namespace}`);
    return folder && isOwn ? `${folder.replace("NAMESPACE", metadata.namespace ?? "")}/${metadata.name}` : [];
  });
  for (const path of [...paths, `/api/v1/namespaces/${installation.namespace}`]) {
    await admin.request({ method: "DELETE", path }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}
