import { setTimeout as delay } from "node:timers/promises";
import type { OperatorProcess } from "./chaos-operator.ts";

/** An operator that is started again whenever it ends, as a Deployment does. */
export interface Supervised extends AsyncDisposable {
  /** Everything that all of its processes have logged. */
  log(): string;
  /** Whether the process that runs now has won the Lease. */
  leads(): boolean;
  /** How often it was started. */
  readonly starts: number;
  /** SIGKILL to the process that runs now, if any. */
  kill(): Promise<void>;
  /** SIGTERM to it, as when a pod is replaced. */
  stop(): Promise<void>;
}

export function supervise(start: () => Promise<OperatorProcess>): Supervised {
  const stopping = new AbortController();
  let running: OperatorProcess | undefined;
  let logged = "";
  let starts = 0;

  const supervising = (async () => {
    while (!stopping.signal.aborted) {
      starts += 1;
      try {
        running = await start();
        if (stopping.signal.aborted) await running.kill();
        await running.ended;
      } catch (error) {
        logged += `${error}\n`;
      }
      logged += running?.log() ?? "";
      running = undefined;
      await delay(200, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();

  return {
    log: () => logged + (running?.log() ?? ""),
    leads: () => running?.leads() ?? false,
    get starts() {
      return starts;
    },
    async kill() {
      await running?.kill();
    },
    async stop() {
      await running?.stop();
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running?.kill();
      await supervising;
    },
  };
}
