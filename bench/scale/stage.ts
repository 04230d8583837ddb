import { dirname, join } from "node:path";
import { startCluster } from "../../src/cli/control-plane/start.ts";
import { applyObject, install, writeOperatorKubeconfig } from "../../src/cli/demo/install.ts";
import { connect } from "../../src/kube/client/config.ts";
import type { KubeClient } from "../../src/kube/client/transport.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { type Flags, type Operator, startOperator } from "./operators.ts";
import type { ContenderName, Options } from "./options.ts";
import { type Platform, startPlatform } from "./platform.ts";
import { NAMESPACE } from "./population.ts";
import { cpuOf, machineCpu, processesIn } from "./proc.ts";
import { openWitness, type Witness } from "./witness.ts";

/** A control plane, a platform and one of the operators, for as long as a few scenarios last. */
export interface Stage {
  readonly contender: ContenderName;
  readonly options: Options;
  readonly client: KubeClient;
  /** The administrator's. */
  readonly kubeconfig: string;
  readonly platform: Platform;
  readonly witness: Witness;
  /** The operator that runs now. */
  readonly operator: Operator;
  /** One more process of it. */
  start(flags?: Flags): Promise<Operator>;
  /** From now on this one counts. */
  take(operator: Operator): void;
  /** Stops the running one and starts the next. Resolves when that one leads, with the time at which it was started. */
  restart(flags?: Flags): Promise<number>;
  /** Seconds of CPU so far, of everybody but the operator. */
  shares(): Shares;
}

export interface Shares {
  apiserver: number;
  etcd: number;
  simulator: number;
  bench: number;
  /** All processes of the machine together, the operator included. */
  machine: number;
}

export async function onStage(
  contender: ContenderName,
  options: Options,
  peer: string | undefined,
  play: (stage: Stage) => Promise<void>,
): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const cluster = await startCluster({ controllerManager: true });
  cleanup.defer(cluster.stop);
  const client = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "bench" });
  cleanup.defer(() => client.close());
  const folder = cleanup.use(temporaryFolder("bench"));
  const platform = await startPlatform(options.speed);
  cleanup.defer(platform.stop);
  await install(client);
  await applyObject(client, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
  const kubeconfig = contender === "mooring" ? join(folder.path, "kubeconfig") : cluster.kubeconfig;
  if (contender === "mooring") {
    await writeOperatorKubeconfig(client, cluster.kubeconfig, kubeconfig);
    await giveAccount(client, NAMESPACE, platform.endpoints, platform.token);
  }
  const witness = cleanup.use(await openWitness(client, NAMESPACE));
  const place = { kubeconfig, platform, peer, workers: options.workers, profile: options.profile };
  const started = new Set<Operator>();
  const start = async (flags?: Flags) => {
    const next = await startOperator(contender, place, flags);
    started.add(next);
    return next;
  };
  let operator = await start();
  cleanup.defer(async () => {
    for (const each of started) await each.stop();
  });
  await operator.untilLeading();
  const pids = processesIn(dirname(cluster.kubeconfig));
  const used = (name: string) => cpuOf(pids.get(name) ?? process.pid);
  await play({
    contender,
    options,
    client,
    kubeconfig: cluster.kubeconfig,
    platform,
    witness,
    get operator() {
      return operator;
    },
    start,
    take(next) {
      operator = next;
    },
    async restart(flags) {
      await operator.stop();
      started.delete(operator);
      const began = performance.now();
      operator = await start(flags);
      await operator.untilLeading();
      return began;
    },
    shares: () => ({
      apiserver: used("kube-apiserver"),
      etcd: used("etcd"),
      simulator: cpuOf(platform.pid),
      bench: cpuOf(process.pid),
      machine: machineCpu(),
    }),
  });
}

/** An Account for a namespace, with its Secret. */
export async function giveAccount(
  client: KubeClient,
  namespace: string,
  endpoints: Record<string, string>,
  token: string,
): Promise<void> {
  const metadata = { namespace, name: "main" };
  await applyObject(client, { apiVersion: "v1", kind: "Secret", metadata, stringData: { token } });
  const spec = { endpoints, region: "de/txl", credentialsSecretRef: { name: "main" } };
  await applyObject(client, { apiVersion: "mooring.dev/v1alpha1", kind: "Account", metadata, spec });
}
