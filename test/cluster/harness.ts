import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, inject } from "vitest";
import { type Result, run } from "../processes.ts";

export { startProcess } from "../processes.ts";

export interface TestCluster {
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  readonly server: string;
  readonly assets: string;
  /** Runs kubectl as administrator; never rejects because of its exit code. */
  kubectl(args: readonly string[], options?: { input?: string }): Promise<Result>;
}

/** The control plane that all files under test/cluster share. */
export function cluster(): TestCluster {
  const { kubeconfig, server, assets } = inject("cluster");
  return { kubeconfig, server, assets, kubectl: kubectl(assets, kubeconfig) };
}

/** kubectl as whoever the kubeconfig says. */
export function kubectl(assets: string, kubeconfig: string): TestCluster["kubectl"] {
  return (args, options) => run(join(assets, "kubectl"), ["--kubeconfig", kubeconfig, ...args], options);
}

const namespaces: string[] = [];

/** A fresh namespace; deleted, without waiting, after the last test of the file. */
export async function namespace(prefix = "test"): Promise<string> {
  const name = `${prefix}-${randomBytes(4).toString("hex")}`;
  const created = await cluster().kubectl(["create", "namespace", name]);
  if (created.code !== 0) throw new Error(created.stderr);
  namespaces.push(name);
  return name;
}

afterAll(async () => {
  if (namespaces.length > 0) await cluster().kubectl(["delete", "namespace", "--wait=false", ...namespaces.splice(0)]);
});
