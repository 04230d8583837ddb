import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { applyObject, installRights, writeOperatorKubeconfig } from "../../src/cli/demo/install.ts";
import { connect } from "../../src/kube/client/config.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { kubeconfigOf, narrowedTo, readKubeconfig, removeClusterAccount, signingKey } from "../crash/narrow.ts";
import { startProxy } from "../crash/proxy.ts";
import { atEnd } from "../ending.ts";
import type { Result } from "../processes.ts";
import { keepText } from "../run/kept-output.ts";
import { program } from "../run/program.ts";
import { onThisMachine } from "./chaos/operator.ts";
import { cluster, namespace, startProcess } from "./harness.ts";
import { openReads, type Reads } from "./reads.ts";
import { type Steering, steer } from "./steering.ts";
import { type Touches, touches } from "./touches.ts";

/** A namespace, a simulated platform with an Account for it (or `bare`), and the operator with the shipped rights. */
export interface Landscape extends Reads, Touches {
  readonly namespace: string;
  readonly platform: Steering;
  /** The output of the simulator. */
  readonly printed: () => string;
  readonly operator: Operator;
  /** Starts another process of the operator, with the same options. */
  anotherOperator(): Promise<Operator>;
  /** kubectl in the namespace. */
  kubectl(...args: string[]): Promise<Result>;
  /** The output of `kubectl describe`. Its Events may come later than the status. */
  describe(name: string): Promise<string>;
}

export interface Operator {
  /** Its whole log. */
  log(): string;
  /** All its metrics in the Prometheus format. */
  metrics(): Promise<string>;
  /** The value of a metric, summed over its labels that contain `labels`. */
  metric(name: string, labels?: string): Promise<number>;
  stop(): Promise<number>;
}

export const api = "mooring.dev/v1alpha1";
const simulatorReady = z.object({ endpoints: z.record(z.string(), z.string()), token: z.string() });
const operatorReady = z.object({ metrics: z.string() });

/**
 * Each landscape has its own operator for one namespace, so that test files can run concurrently. It uses leader
 * election only with `elected`. With `rolesOnly` it has rights only in that namespace and its own. With
 * `clusterAccount` it is an operator for all namespaces that sees only this one, which is also its own, and the
 * ClusterAccount of the same name, which is deleted with the landscape.
 */
export async function landscape(
  options: {
    simulator?: string[];
    operator?: string[];
    elected?: boolean;
    bare?: boolean;
    rolesOnly?: boolean;
    clusterAccount?: object;
  } = {},
): Promise<Landscape> {
  const { kubeconfig, kubectl: anywhere } = cluster();
  const admin = await connect({ kubeconfig });
  atEnd(() => admin.close());
  const folder = temporaryFolder("operator");
  atEnd(() => folder.remove());
  const operatorKubeconfig = join(folder.path, "kubeconfig");
  const home = await namespace();
  const installation = options.rolesOnly ? { namespace: await namespace("operator"), watched: [home] } : {};
  if (options.rolesOnly) await installRights(admin, installation);
  await writeOperatorKubeconfig(admin, kubeconfig, operatorKubeconfig, installation);
  if (options.clusterAccount) {
    atEnd(() => removeClusterAccount(admin, home));
    await applyObject(admin, signingKey(home));
    await showOnly(home, operatorKubeconfig);
  }

  // Not faster where answers are lost: a result is searched for in a few minutes of the platform's clock.
  const simulator = await startProcess(program(), [
    "simulator",
    "--json",
    "--speed",
    "20",
    "--kafka",
    "off",
    ...(options.simulator ?? []),
  ]);
  const { endpoints, token } = simulatorReady.parse(simulator.ready);
  const election = options.elected ? [] : ["--no-leader-election"];
  const watched = options.clusterAccount ? [] : ["--watch-namespace", home];
  const own = options.clusterAccount ? home : installation.namespace;
  const place = [...watched, ...(own === undefined ? [] : ["--namespace", own])];
  const anotherOperator = () => startOperator(operatorKubeconfig, [...election, ...place, ...(options.operator ?? [])]);
  const operator = await anotherOperator();

  const kubectl = (...args: string[]) => anywhere(["-n", home, ...args]);
  const explain = async () =>
    `${(await kubectl("get", "mooring", "-o", "wide")).stdout}\n${operator.log().slice(-3000)}`;
  const readings = openReads(admin, home, explain);
  const touch = touches(admin, home, readings);
  const account = [
    { apiVersion: "v1", kind: "Secret", metadata: { name: "token" }, stringData: { token } },
    {
      apiVersion: api,
      kind: "Account",
      metadata: { name: "main" },
      spec: { endpoints, region: "de/txl", credentialsSecretRef: { name: "token" } },
    },
  ];
  if (!options.bare) await touch.apply(...account);
  if (options.clusterAccount) {
    const spec = { endpoints, region: "de/txl", credentialsSecretRef: { name: "token" }, ...options.clusterAccount };
    await touch.apply({ apiVersion: api, kind: "ClusterAccount", metadata: { name: home }, spec });
  }
  return {
    namespace: home,
    platform: steer(endpoints.api ?? "", token),
    printed: simulator.output,
    operator,
    anotherOperator,
    kubectl,
    describe: async (name) => (await kubectl("describe", name)).stdout,
    ...readings,
    ...touch,
  };
}

/** Users of this kubeconfig see only one namespace from now on. */
async function showOnly(home: string, kubeconfig: string): Promise<void> {
  const { server: upstream, ca, token } = await readKubeconfig(kubeconfig);
  const arrived = () => ({ fatal: undefined, isWrite: false, ended() {} });
  const strike = async () => "goes on" as const;
  const proxy = await startProxy({ upstream, ca, rewrite: narrowedTo(home), arrived, owner: () => 0, strike });
  atEnd(proxy.close);
  await writeFile(kubeconfig, kubeconfigOf(proxy.url, token), { mode: 0o600 });
}

async function startOperator(kubeconfig: string, args: string[]): Promise<Operator> {
  const flags = ["operator", "--json", "--kubeconfig", kubeconfig, ...onThisMachine, ...args];
  const process = await startProcess(program(), flags);
  const { metrics: address } = operatorReady.parse(process.ready);
  const metrics = async () => (await fetch(address)).text();
  const operator: Operator = {
    log: process.output,
    metrics,
    async metric(name, labels = "") {
      const lines = (await metrics()).split("\n").filter((line) => line.startsWith(name) && line.includes(labels));
      return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
    },
    stop: process.stop,
  };
  // SIGTERM instead of SIGKILL makes the operator release its Lease, so that the next file need not wait for it.
  atEnd(async () => {
    // A stopped operator has no metrics.
    keepText("metrics", await operator.metrics().catch(() => ""));
    await operator.stop();
  });
  return operator;
}
