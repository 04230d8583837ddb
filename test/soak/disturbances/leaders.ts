import type { Stage } from "../../cluster/chaos/stage.ts";
import { type Supervised, supervise } from "../../cluster/chaos/supervisor.ts";
import { until } from "../../cluster/chaos/wait.ts";
import { patience } from "./trouble.ts";

/** How far the wall clock of the second operator is ahead. Mooring tolerates two minutes. */
export const AHEAD_SECONDS = 90;

export interface Leaders {
  /**
   * Ends the leader; resolves when it is gone and there is a new leader. After a kill, that takes the duration of the
   * Lease. A stopped leader releases it, so the next one begins while its writes are recent.
   */
  handOver(how: "kill" | "stop"): Promise<void>;
  /** The logs of all of them. */
  log(): string;
}

/** One operator without a Lease, or two that compete for it, one of them with a clock ahead. */
export function startLeaders(
  cleanup: AsyncDisposableStack,
  stage: Stage | undefined,
  { leaders, everywhere }: { leaders: number; everywhere: boolean },
): Leaders {
  if (!stage) throw new Error("there are no tenants");
  const alone = leaders === 1;
  const flags = [...patience, ...(alone ? ["--no-leader-election"] : [])];
  const operators = Array.from({ length: leaders }, (_, nth): Supervised => {
    const time = { aheadSeconds: nth * AHEAD_SECONDS };
    return cleanup.use(supervise(() => stage.operator({ everywhere, flags, time })));
  });
  return {
    async handOver(how) {
      const leader = operators.find((each) => alone || each.leads());
      await leader?.[how]();
      if (alone) return;
      const missing = () => (operators.some((each) => each.leads()) ? undefined : "nobody leads");
      await until(missing, { title: "handing over" });
    },
    log: () => operators.map((each) => each.log()).join(""),
  };
}
