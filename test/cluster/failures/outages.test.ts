import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { startCluster } from "../../../src/cli/control-plane/start.ts";
import { startProcess } from "../../processes.ts";
import { program } from "../../run/program.ts";
import { soak } from "../../soak/soak.ts";
import { type CuttableProxy, startCuttableProxy } from "../chaos/cut.ts";
import { asPromised, converged, load, untilUnderWay } from "../chaos/load.ts";
import { defectsIn } from "../chaos/operator.ts";
import { type Platform, startPlatform } from "../chaos/platform.ts";
import { openStage, type Stage } from "../chaos/stage.ts";
import { supervise } from "../chaos/supervisor.ts";
import { until } from "../chaos/wait.ts";
import { cluster } from "../harness.ts";
import { steer } from "../steering.ts";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "mooring-outage-"));
  cleanup.defer(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** A stage that restarts its operator whenever it exits, as a Deployment does. */
async function startSupervised(stage: Stage, kubeconfig = stage.kubeconfig) {
  return cleanup.use(supervise(() => stage.operator({ kubeconfig })));
}

/** Longer than the operator may lead without renewing its Lease. */
const CUT_MS = 60_000;

async function cutForAWhile(cable: CuttableProxy): Promise<void> {
  cable.cut();
  const mendAt = performance.now() + CUT_MS;
  await until(() => (performance.now() > mendAt ? undefined : "the outage goes on"), { title: "outage" });
  cable.mend();
}

/** All objects are applied, and the platform has started to create resources. */
async function untilBegun(stage: Stage, platform: Pick<Platform, "url" | "token" | "steering">): Promise<void> {
  await stage.account(platform);
  await stage.untilReady("Account", "main");
  await load(stage);
  await untilUnderWay(platform.steering);
}

const simulatorReady = z.object({ endpoints: z.object({ api: z.string() }), token: z.string() });

// Converging takes longer than the default timeout of a test.
describe("twenty objects are being created, and then: all converge, nothing twice", { timeout: 240_000 }, () => {
  it.concurrent("etcd and kube-apiserver are killed and started again", async () => {
    const data = await folder();
    let running = await startCluster({ data });
    cleanup.defer(() => running.stop());
    const platform = cleanup.use(await startPlatform());
    const stage = cleanup.use(await openStage(running.kubeconfig));
    const operator = await startSupervised(stage);
    await untilBegun(stage, platform);
    await running.stop();
    running = await startCluster({ data });
    expect(await converged(stage, platform.steering)).toBe(asPromised);
    expect(defectsIn(operator.log())).toEqual([]);
  });

  it.concurrent("the platform is killed and comes back with what it had", async () => {
    const data = await folder();
    const flags = ["simulator", "--json", "--speed", "20", "--kafka", "off", "--seed", "101", "--data", data];
    const first = await startProcess(program(), flags);
    const { endpoints, token } = simulatorReady.parse(first.ready);
    const steering = steer(endpoints.api, token);
    const stage = cleanup.use(await openStage(cluster().kubeconfig));
    const operator = await startSupervised(stage);
    await untilBegun(stage, { url: endpoints.api, token, steering });
    first.signal("SIGKILL");
    await first.ended;
    await startProcess(program(), [...flags, "--listen", new URL(endpoints.api).host]);
    expect(await converged(stage, steering)).toBe(asPromised);
    expect(operator.starts).toBe(1);
    expect(defectsIn(operator.log())).toEqual([]);
  });

  it.concurrent("the network to Kubernetes is cut for a minute", async () => {
    const platform = cleanup.use(await startPlatform());
    const stage = cleanup.use(await openStage(cluster().kubeconfig));
    const cable = cleanup.use(await startCuttableProxy(Number(new URL(cluster().server).port)));
    const operator = await startSupervised(stage, await stage.kubeconfigVia(`https://127.0.0.1:${cable.port}`));
    await untilBegun(stage, platform);
    await cutForAWhile(cable);
    expect(await converged(stage, platform.steering)).toBe(asPromised);
    // The operator exited by itself, because it could not renew its Lease.
    expect(operator.starts).toBeGreaterThan(1);
    expect(defectsIn(operator.log())).toEqual([]);
  });

  it.concurrent("the network to the platform is cut for a minute", async () => {
    const platform = cleanup.use(await startPlatform());
    const stage = cleanup.use(await openStage(cluster().kubeconfig));
    const cable = cleanup.use(await startCuttableProxy(Number(new URL(platform.url).port)));
    const operator = await startSupervised(stage);
    const { token, steering } = platform;
    await untilBegun(stage, { url: `http://127.0.0.1:${cable.port}`, token, steering });
    await cutForAWhile(cable);
    expect(await converged(stage, platform.steering)).toBe(asPromised);
    expect(operator.starts).toBe(1);
    expect(defectsIn(operator.log())).toEqual([]);
  });

  it.concurrent("a slice of make soak: 30 objects of all kinds, 20 seconds in which one call in four goes wrong", async () => {
    const options = { objects: 30, tenants: 1, leaders: 1, chaosMs: 20_000, seed: 7, patienceMs: 100_000 };
    const { problems, log } = await soak({ kubeconfig: cluster().kubeconfig, ...options });
    expect(problems).toEqual([]);
    expect(defectsIn(log)).toEqual([]);
  });
});
