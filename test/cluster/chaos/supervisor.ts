import { setTimeout as delay } from "node:timers/promises";
import type { OperatorProcess } from "./operator.ts";

/** An operator that is restarted whenever it ends, like the Pod of a Deployment. */
export interface Supervised extends AsyncDisposable {
  /** The logs of all its processes. */
  log(): string;
  /** Whether the current process holds the Lease. */
  leads(): boolean;
  /** Number of starts. */
  readonly starts: number;
  /** SIGKILL to the current process, if any. */
  kill(): Promise<void>;
  /** SIGTERM to the current process, as when a pod is replaced. */
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
