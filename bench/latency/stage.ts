import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startCluster } from "../../src/cli/control-plane/start.ts";
import { applyObject, install, writeOperatorKubeconfig } from "../../src/cli/demo/install.ts";
import { connect } from "../../src/kube/client/config.ts";
import type { KubeClient } from "../../src/kube/client/transport.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { startOperator } from "../scale/operators.ts";
import { type Platform, startPlatform } from "../scale/platform.ts";

/** A control plane, a platform at some speed, and the operator as the image runs it. */
export interface Stage {
  readonly client: KubeClient;
  readonly platform: Platform;
  readonly namespace: string;
  readonly speed: number;
  /** Resolves when nothing is under way any more. */
  untilIdle(): Promise<void>;
}

const IDLE_MS = 3_000;

export async function onStage<T>(speed: number, play: (stage: Stage) => Promise<T>): Promise<T> {
  await using cleanup = new AsyncDisposableStack();
  const cluster = await startCluster({ controllerManager: true });
  cleanup.defer(cluster.stop);
  const client = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "bench" });
  cleanup.defer(() => client.close());
  const folder = cleanup.use(temporaryFolder("bench"));
  const platform = await startPlatform(speed);
  cleanup.defer(platform.stop);
  await install(client);
  const namespace = "latency";
  await applyObject(client, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const kubeconfig = join(folder.path, "kubeconfig");
  await writeOperatorKubeconfig(client, cluster.kubeconfig, kubeconfig);
  const operator = await startOperator("mooring", { kubeconfig, platform, workers: 16 });
  cleanup.defer(operator.stop);
  await operator.untilLeading();
  return await play({ client, platform, namespace, speed, untilIdle: () => delay(IDLE_MS) });
}
