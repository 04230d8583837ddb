import type { Stage } from "../cluster/chaos-stage.ts";
import { type Supervised, supervise } from "../cluster/chaos-supervisor.ts";
import { until } from "../cluster/chaos-wait.ts";
import { patience } from "./trouble.ts";

/** How far the wall clock of the second operator is ahead; two minutes are what Mooring allows for. */
export const AHEAD_SECONDS = 90;

export interface Leaders {
  /**
   * Ends the one that leads; resolves when it is gone and somebody leads again. After a kill that takes as long as the
   * Lease lasts; one that is stopped gives it back, and the next begins while its writes are young.
   */
  handOver(how: "kill" | "stop"): Promise<void>;
  /** Everything that any of them has logged. */
  log(): string;
}

/** One operator without a Lease, or two that contend for it, one of them ahead of time. */
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
