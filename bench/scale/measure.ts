import { requestsOf } from "./requests.ts";
import type { Shares, Stage } from "./stage.ts";
import { say } from "./waiting.ts";

/** What a stretch of time has cost. */
export interface Cost {
  seconds: number;
  /** Seconds of CPU of the operator. */
  cpu: number;
  calls: number;
  /** What was called, and how often. */
  routes: Record<string, number>;
  writes: number;
  events: number;
  passes: number;
  /** Of everybody else; `others` have nothing to do with the bench, and disturb it. */
  shares: Record<Exclude<keyof Shares, "machine"> | "others", number>;
}

/** Measures what follows, by one process of the operator, until `end` is called. Time counts from here to there. */
export async function measure(stage: Stage): Promise<(at?: number) => Promise<Cost>> {
  const { client, operator, platform } = stage;
  await platform.resetCalls();
  const requests = await requestsOf(client);
  const passes = await operator.passes();
  const [cpu, shares] = [operator.cpu(), stage.shares()];
  const began = performance.now();
  return async (at = performance.now()) => {
    const [used, now] = [operator.cpu() - cpu, stage.shares()];
    const { total, byRoute } = await platform.calls();
    const after = await requestsOf(client);
    const [apiserver, etcd] = [now.apiserver - shares.apiserver, now.etcd - shares.etcd];
    const [simulator, bench] = [now.simulator - shares.simulator, now.bench - shares.bench];
    const others = Math.max(0, now.machine - shares.machine - used - apiserver - etcd - simulator - bench);
    return {
      seconds: (at - began) / 1000,
      cpu: used,
      calls: total,
      routes: byRoute,
      writes: after.writes - requests.writes,
      events: after.events - requests.events,
      passes: (await operator.passes()) - passes,
      shares: { apiserver, etcd, simulator, bench, others },
    };
  };
}

/** Who has used the machine meanwhile, and what was called: the simulator must not be what is measured. */
export function tellCost(title: string, { seconds, cpu, shares, routes }: Cost): void {
  const parts = { operator: cpu, ...shares };
  const cpuShares = Object.entries(parts).map(
    ([name, used]) => `${name} ${used.toFixed(1)} s (${percent(used / seconds)})`,
  );
  say(`${title}: ${seconds.toFixed(1)} s; CPU of ${cpuShares.join(", ")}`);
  const calls = Object.entries(routes).map(([route, count]) => `${route} ${count}`);
  say(`${title}: ${calls.join(", ")}`);
}

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
