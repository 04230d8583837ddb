import type { TestProject } from "vitest/node";
import { binaryNames, provideBinaries } from "../../src/cli/control-plane/binaries.ts";
import { progressTo } from "../../src/cli/control-plane/progress.ts";
import { startCluster } from "../../src/cli/control-plane/start.ts";
import { install } from "../../src/cli/demo/install.ts";
import { connect } from "../../src/kube/client/config.ts";
import { audit } from "./audit.ts";

declare module "vitest" {
  export interface ProvidedContext {
    cluster: { kubeconfig: string; server: string; assets: string };
  }
}

/** One control plane with Mooring for all files of this project. vitest calls this only if one of them runs. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const progress = progressTo(process.stderr);
  await provideBinaries(binaryNames, { onProgress: progress.update });
  const { kubeconfig, server, assets, stop } = await startCluster({
    controllerManager: true,
    audit: audit(),
    onProgress: progress.update,
  });
  const admin = await connect({ kubeconfig });
  await install(admin);
  await admin.close();
  progress.end();
  project.provide("cluster", { kubeconfig, server, assets });
  return stop;
}
