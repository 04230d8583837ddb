import { Counter, Gauge, Histogram } from "prom-client";
import type { Usage } from "../kinds/inference/prices.ts";
import { createRegistry } from "../server/registry.ts";

/** The gateway's Prometheus metrics. */
export interface GatewayMetrics {
  scrape(): AsyncGenerator<string>;
  contentType: string;
  /** A client got an answer. `model` is undefined if the call was refused before its model was known. */
  served(namespace: string, model: string | undefined, code: number): void;
  used(namespace: string, model: string, usage: Usage, eur: number | undefined): void;
  /** The platform answered with neither text nor a tool call. */
  empty(namespace: string, model: string): void;
  upstream(status: number | "error", seconds: number): void;
  waited(seconds: number): void;
  watch(read: { waiting: () => number; open: () => number }): void;
}

/**
 * Maximum pairs of namespace and model with their own series. Others are counted together, because tenants choose the
 * names.
 */
const MOST_PAIRS = 2_000;
const SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

export function createGatewayMetrics(mostPairs = MOST_PAIRS): GatewayMetrics {
  const registry = createRegistry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Counter({ name: `mooring_gateway_${name}`, help, labelNames, registers });
  const requests = counter("requests_total", "Calls by namespace, model and code", ["namespace", "model", "code"]);
  const tokens = counter("tokens_total", "Tokens by namespace, model and direction", [
    "namespace",
    "model",
    "direction",
  ]);
  const cost = counter("cost_eur_total", "Cost in EUR by namespace and model", ["namespace", "model"]);
  const empties = counter("empty_answers_total", "Answers without text and tool calls, by namespace and model", [
    "namespace",
    "model",
  ]);
  const answers = counter("upstream_requests_total", "Calls to the platform by code; each retry counts", ["code"]);
  const histogram = (name: string, help: string) =>
    new Histogram({ name: `mooring_gateway_${name}`, help, buckets: SECONDS, registers });
  const times = histogram("upstream_seconds", "Time until the platform begins to answer");
  const waits = histogram("wait_seconds", "Time a call waited for the rate limit of the contract");
  const gauge = (name: string, help: string) => new Gauge({ name: `mooring_gateway_${name}`, help, registers });
  const waiting = gauge("waiting_requests", "Calls that wait for the rate limit of the contract");
  const open = gauge("open_requests", "Calls that are being answered");

  const pairs = new Set<string>();
  const labels = (namespace: string, model: string) => {
    const pair = JSON.stringify([namespace, model]);
    if (pairs.size < mostPairs) pairs.add(pair);
    return pairs.has(pair) ? { namespace, model } : { namespace: "other", model: "other" };
  };

  return {
    async *scrape() {
      yield await registry.metrics();
    },
    contentType: registry.contentType,
    served: (namespace, model, code) => requests.inc({ ...labels(namespace, model ?? "none"), code: String(code) }),
    used(namespace, model, { input, output }, eur) {
      const pair = labels(namespace, model);
      tokens.inc({ ...pair, direction: "input" }, input);
      tokens.inc({ ...pair, direction: "output" }, output);
      if (eur !== undefined) cost.inc(pair, eur);
    },
    empty: (namespace, model) => empties.inc(labels(namespace, model)),
    upstream(status, seconds) {
      answers.inc({ code: String(status) });
      times.observe(seconds);
    },
    waited: (seconds) => waits.observe(seconds),
    watch(read) {
      Object.assign(waiting, { collect: () => waiting.set(read.waiting()) });
      Object.assign(open, { collect: () => open.set(read.open()) });
    },
  };
}
