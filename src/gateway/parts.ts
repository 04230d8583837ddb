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
  /** Limits the open calls of namespaces. */
  calls: FairPool;
  /** The rate limits of the contract: one for images, one for all other calls. */
  shares: Shares;
  imageShares: Shares;
  upstream: Upstream;
  metrics: GatewayMetrics;
  random: () => number;
}

/** The labels under which an answer is counted; the model once it is known. */
export interface Counted {
  namespace: string;
  model?: string;
}
