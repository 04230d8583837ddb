import { join } from "node:path";
import { type Running, start } from "../processes.ts";
import { cluster } from "./harness.ts";
import type { Landscape } from "./landscape.ts";

/** The history of an object since the watch began. */
export interface Watching {
  /** The values of a JSONPath after each write, beginning with the current one. */
  seen(): string[];
  stop: Running["stop"];
}

/** Watches one object like `kubectl get --watch`: every write adds a value. */
export async function watching({ namespace }: Landscape, name: string, path: string): Promise<Watching> {
  const { assets, kubeconfig } = cluster();
  const output = `jsonpath=${path}{"\\n"}`;
  const args = ["get", "--kubeconfig", kubeconfig, "-n", namespace, name, "--watch", "-o", output];
  const running = start(join(assets, "kubectl"), args);
  await running.line();
  return { seen: () => running.output().split("\n").slice(0, -1), stop: running.stop };
}
