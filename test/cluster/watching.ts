import { join } from "node:path";
import { type Running, start } from "../processes.ts";
import { cluster } from "./harness.ts";
import type { Landscape } from "./landscape.ts";

/** What an object has looked like since somebody began to watch it. */
export interface Watching {
  /** A value out of it by JSONPath after each write, the first as it was found. */
  seen(): string[];
  stop: Running["stop"];
}

/** Watches one object as `kubectl get --watch` does: every write to it is one more line. */
export async function watching({ namespace }: Landscape, name: string, path: string): Promise<Watching> {
  const { assets, kubeconfig } = cluster();
  const output = `jsonpath=${path}{"\\n"}`;
  const args = ["get", "--kubeconfig", kubeconfig, "-n", namespace, name, "--watch", "-o", output];
  const running = start(join(assets, "kubectl"), args);
  await running.line();
  return { seen: () => running.output().split("\n").slice(0, -1), stop: running.stop };
}
