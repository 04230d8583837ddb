import OpenAI from "openai";
import { pino } from "pino";
import { afterAll } from "vitest";
import { type Access, type Credentials, fixedAccesses } from "../../src/gateway/access/access.ts";
import { createBudgets } from "../../src/gateway/access/budget.ts";
import { AUDIENCE, createCallers } from "../../src/gateway/access/callers.ts";
import { createMemoryLedger, type Ledger } from "../../src/gateway/access/ledger.ts";
import { createBodies } from "../../src/gateway/bodies.ts";
import { createHandler } from "../../src/gateway/handler.ts";
import { createGatewayMetrics } from "../../src/gateway/metrics.ts";
import type { GatewayParts } from "../../src/gateway/parts.ts";
import { listen } from "../../src/gateway/server.ts";
import { createShares } from "../../src/gateway/turn/shares.ts";
import { createUpstream, MOST_CALLS } from "../../src/gateway/turn/upstream.ts";
import { publishedPrices } from "../../src/kinds/inference/prices.ts";
import { createFairPool } from "../../src/kube/client/fair-pool.ts";
import type { KubeCall } from "../../src/kube/client/transport.ts";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";

export const chatModel = "mistralai/Mistral-Small-24B-Instruct";

/** Noon, so that no day ends during a test. */
const noon: Clock = { ...systemClock, now: () => Date.UTC(2026, 0, 1, 12) };

/** An API server that accepts `token-of-NAMESPACE` as a ServiceAccount of that namespace. */
export function tokenReviews() {
  const asked: KubeCall[] = [];
  const reviews = {
    asked,
    /** Delays an answer. */
    hold: (_token: string): Promise<void> | undefined => undefined,
    async request<T>(call: KubeCall): Promise<T> {
      asked.push(call);
      const { token, audiences } = Object(call.body).spec;
      await reviews.hold(token);
      const [, namespace] = /^token-of-([\w-]+)$/.exec(token) ?? [];
      const username = token === "token-of-a-person" ? "jane" : `system:serviceaccount:${namespace}:default`;
      const status =
        namespace === undefined ? { authenticated: false } : { authenticated: true, audiences, user: { username } };
      if (JSON.stringify(audiences) !== JSON.stringify([AUDIENCE])) throw new Error("another audience was asked for");
      return JSON.parse(JSON.stringify({ status }));
    },
  };
  return reviews;
}

interface Options {
  upstream: string;
  credentials: Credentials;
  accesses: readonly Access[];
  perSecond?: number;
  burst?: number;
  mostConnections?: number;
  clock?: Clock;
  ledger?: Ledger;
  parts?: Partial<GatewayParts>;
}

/** The gateway with all real parts except the API server. */
export async function startGateway(options: Options) {
  const { perSecond = 10_000, burst = 10_000 } = options;
  const clock = options.clock ?? noon;
  const lines: string[] = [];
  const log = pino({ level: "debug" }, { write: (line) => void lines.push(line) });
  const metrics = createGatewayMetrics();
  const reviews = tokenReviews();
  const upstream = createUpstream({ url: options.upstream, credentials: options.credentials });
  const shares = createShares({ clock, perSecond, burst, mostWaitMs: 30_000 });
  const bodies = createBodies();
  const handle = createHandler({
    clock,
    log,
    callers: createCallers({ client: reviews, clock, onError: (error) => lines.push(String(error)) }),
    accesses: fixedAccesses(options.accesses),
    budgets: createBudgets({ clock, ledger: options.ledger ?? createMemoryLedger() }),
    prices: publishedPrices,
    bodies,
    calls: createFairPool(MOST_CALLS),
    shares,
    imageShares: shares,
    upstream,
    metrics,
    random: () => 0,
    ...options.parts,
  });
  const server = await listen({ host: "127.0.0.1", port: 0 }, handle, undefined, options.mostConnections);
  const stop = async () => {
    await server.drain(AbortSignal.abort());
    await upstream.close();
  };
  const clientOf = (namespace: string, more: object = {}) =>
    new OpenAI({ apiKey: `token-of-${namespace}`, baseURL: `${server.url}/v1`, maxRetries: 0, ...more });
  async function metric(name: string): Promise<string[]> {
    let text = "";
    for await (const piece of metrics.scrape()) text += piece;
    return text.split("\n").filter((line) => line.startsWith(`mooring_gateway_${name}`));
  }
  return { url: server.url, server, bodies, shares, metrics, reviews, lines, clientOf, metric, stop };
}

export async function gatewayForFile(options: Options) {
  const gateway = await startGateway(options);
  afterAll(() => gateway.stop());
  return gateway;
}
