import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { inject } from "vitest";
import { connect } from "../../src/kube/client/config.ts";
import { isConflict, isNotFound } from "../../src/kube/client/errors.ts";
import type { KubeClient } from "../../src/kube/client/transport.ts";
import { atEnd } from "../ending.ts";
import { type Result, run } from "../processes.ts";

export { startProcess } from "../processes.ts";

export interface TestCluster {
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  readonly server: string;
  readonly assets: string;
  /** Runs kubectl as administrator. Never rejects because of the exit code. */
  kubectl(args: readonly string[], options?: { input?: string }): Promise<Result>;
}

/** The control plane that all files under test/cluster share. */
export function cluster(): TestCluster {
  const { kubeconfig, server, assets } = inject("cluster");
  return { kubeconfig, server, assets, kubectl: kubectl(assets, kubeconfig) };
}

/** kubectl with the user of the kubeconfig. */
export function kubectl(assets: string, kubeconfig: string): TestCluster["kubectl"] {
  return (args, options) => run(join(assets, "kubectl"), ["--kubeconfig", kubeconfig, ...args], options);
}

async function asAdministrator(act: (admin: KubeClient) => Promise<unknown>): Promise<void> {
  const admin = await connect({ kubeconfig: cluster().kubeconfig });
  await act(admin).finally(() => admin.close());
}

/** A new namespace. It is deleted after the last test of the file, without waiting. */
export async function namespace(prefix = "test"): Promise<string> {
  const name = `${prefix}-${randomBytes(4).toString("hex")}`;
  const path = "/api/v1/namespaces";
  await asAdministrator((admin) => admin.request({ method: "POST", path, body: { metadata: { name } } }));
  atEnd(() =>
    asAdministrator(async (admin) => {
      try {
        await admin.request({ method: "DELETE", path: `${path}/${name}` });
      } catch (error) {
        // A test may have deleted it already.
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    }),
  );
  return name;
}
