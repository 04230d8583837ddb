import type { Logger } from "pino";
import type { Price } from "../kinds/inference/prices.ts";
import type { FairPool } from "../kube/client/fair-pool.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Accesses } from "./access/access.ts";
import type { Budgets } from "./access/budget.ts";
import type { Callers } from "./access/callers.ts";
import type { Bodies } from "./bodies.ts";
import type { GatewayMetrics } from "./metrics.ts";
import type { Shares } from "./turn/shares.ts";
import type { Upstream } from "./turn/upstream.ts";

export interface GatewayParts {
  clock: Clock;
  log: Logger;
  callers: Callers;
  accesses: Accesses;
  budgets: Budgets;
  prices: Readonly<Record<string, Price>>;
  bodies: Bodies;
  /** The calls that namespaces have open. */
  calls: FairPool;
  /** The contract's rates: one for pictures, one for all else. */
  shares: Shares;
  imageShares: Shares;
  upstream: Upstream;
  metrics: GatewayMetrics;
  random: () => number;
}

/** Whom an answer is counted for, as far as it is known. */
export interface Counted {
  namespace: string;
  model?: string;
}
