import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type Child, startChild } from "./children.ts";

const operatorReady = z.object({ metrics: z.string() });

/** The operator of the demo. It is restarted after it ends, like the Pod of a Deployment. */
export interface RunningOperator {
  /** Metrics address of the current process. The port changes with each start. */
  readonly metrics: string;
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

const RESTART_MS = 1000;

export async function keepOperator(args: string[], onLog: (line: string) => void): Promise<RunningOperator> {
  let stopping = false;
  let child = await startChild("operator", args, onLog);
  async function restartWheneverItEnds(): Promise<void> {
    while (!stopping) {
      const { message } = await child.died;
      onLog(`demo: ${message.split("\n", 1)[0]}; starting it again`);
      await delay(RESTART_MS);
      if (!stopping) child = await restart(child);
    }
  }
  /** A failed start is repeated as long as the demo runs. */
  const restart = (previous: Child): Promise<Child> =>
    startChild("operator", args, onLog).catch((error: unknown) => {
      onLog(`demo: ${error instanceof Error ? error.message : String(error)}`);
      return { ...previous, died: Promise.resolve(new Error("mooring operator did not start")) };
    });
  void restartWheneverItEnds();
  return {
    get metrics() {
      return operatorReady.parse(child.ready).metrics;
    },
    get pid() {
      return child.pid;
    },
    async stop() {
      stopping = true;
      await child.stop();
    },
  };
}
