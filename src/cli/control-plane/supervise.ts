import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { BinaryName } from "./binaries.ts";
import type { ClusterFolder } from "./folder.ts";
import { type Guarded, spawnGuarded } from "./guarded.ts";

export interface Component {
  name: BinaryName;
  args: string[];
  /** Resolves when the component is usable; gives up when `alive` aborts. */
  ready: (alive: AbortSignal) => Promise<void>;
}

export interface Components {
  /**
   * Starts a component and waits until it is ready. Rejects with the end of the log if this or an earlier component
   * dies.
   */
  run(component: Component, signal: AbortSignal): Promise<void>;
  /** Resolves with the error if a ready component dies unexpectedly. */
  readonly died: Promise<Error>;
  stop(): Promise<void>;
}

/** Runs components from `assets` in the cluster's folder. Each has a log there. */
export function supervise(assets: string, folder: ClusterFolder): Components {
  const running = new Set<Guarded>();
  /** Aborted with the error when a ready component dies. */
  const failure = new AbortController();

  return {
    died: new Promise((resolve) => {
      failure.signal.addEventListener("abort", () => resolve(failure.signal.reason));
    }),
    async run({ name, args, ready }, signal) {
      const log = join(folder.path, `${name}.log`);
      const output = openSync(log, "w", 0o600);
      const child = spawnGuarded(join(assets, name), args, { cwd: folder.path, output, hold: folder.hold });
      closeSync(output);
      running.add(child);

      const beforeReady = new AbortController();
      let reportTo = beforeReady;
      void child.ended.then((code) => {
        if (running.delete(child)) reportTo.abort(new Error(`${name} ended with code ${code}\n${tail(log)}`));
      });
      const alive = AbortSignal.any([signal, beforeReady.signal, failure.signal]);
      try {
        await ready(alive);
        reportTo = failure;
      } catch (error) {
        running.delete(child);
        await child.kill();
        alive.throwIfAborted();
        throw error;
      }
    },
    async stop() {
      const children = [...running];
      running.clear();
      await Promise.all(children.map((child) => child.kill()));
    },
  };
}

const tailLines = 15;

function tail(log: string): string {
  const lines = readFileSync(log, "utf8").trimEnd().split("\n").slice(-tailLines);
  return ["the end of its log:", ...lines.map((line) => `  ${line}`)].join("\n");
}
