import type { Logger } from "pino";
import { tokenFile } from "../kube/client/authorize.ts";
import { connect } from "../kube/client/config.ts";
import { createFairPool } from "../kube/client/fair-pool.ts";
import { systemClock } from "../runtime/clock.ts";
import { metricsProtection } from "../server/metrics-protection.ts";
import { serve } from "../server/serve.ts";
import { followPair, type Pair, readPair } from "../server/serving-certificate.ts";
import { type Accesses, fixedAccesses } from "./access/access.ts";
import { createBudgets } from "./access/budget.ts";
import { createCallers } from "./access/callers.ts";
import { watchAccesses } from "./access/cluster-accesses.ts";
import { createConfigMapLedger, createMemoryLedger, type Ledger } from "./access/ledger.ts";
import { createBodies } from "./bodies.ts";
import type { GatewayConfig } from "./config.ts";
import { createHandler } from "./handler.ts";
import { createGatewayMetrics } from "./metrics.ts";
import { listen } from "./server.ts";
import { createShares } from "./turn/shares.ts";
import { createUpstream, MOST_CALLS } from "./turn/upstream.ts";

/** Runs the gateway until the signal aborts; then waits a while for open calls. */
export async function runGateway(config: GatewayConfig, log: Logger, signal: AbortSignal): Promise<void> {
  const clock = systemClock;
  const metrics = createGatewayMetrics();
  await using cleanup = new AsyncDisposableStack();
  const { kubeconfig, mostWaitMs } = config;
  const client = await connect({ userAgent: "mooring-gateway", ...(kubeconfig !== undefined && { kubeconfig }) });
  cleanup.defer(() => client.close());
  const credentials = tokenFile(config.tokenFile, clock);
  const upstream = createUpstream({ url: config.upstream, credentials, ca: config.ca });
  cleanup.defer(() => upstream.close());
  const shares = createShares({ clock, mostWaitMs, ...config.rate });
  const imageShares = createShares({ clock, mostWaitMs, ...config.imageRate });
  const onError = (error: unknown) => log.warn({ err: error }, "watch failed");
  const { source } = config;
  const fixed = "accesses" in source;
  const accesses: Accesses = fixed
    ? fixedAccesses(source.accesses)
    : cleanup.use(await watchAccesses({ client, clock, account: source.account, onError }));
  const ledger: Ledger = fixed ? createMemoryLedger() : createConfigMapLedger(client, config.namespace);
  const budgets = createBudgets({ clock, ledger });
  cleanup.defer(() => budgets.close());
  const handle = createHandler({
    clock,
    log,
    callers: createCallers({ client, clock, onError: (error) => log.warn({ err: error }, "token not checked") }),
    accesses,
    budgets,
    prices: config.prices,
    bodies: createBodies(),
    calls: createFairPool(MOST_CALLS),
    shares,
    imageShares,
    upstream,
    metrics,
    random: Math.random,
  });
  const server = await listen(config.listen, handle, config.tls && (await readPair(config.tls)));
  metrics.watch({ waiting: () => shares.waiting + imageShares.waiting, open: server.open });
  let ready = true;
  const health = { ready: () => ready, problem: () => undefined };
  const { metricsAuth } = config;
  // Without metrics authentication the port needs no TLS: it has nothing confidential, and probes need no certificate.
  const protection = await metricsProtection({
    tls: metricsAuth ? config.tls : undefined,
    metricsAuth,
    client,
    clock,
    log,
  });
  const serving = await serve(config.metricsListen, metrics, health, protection);
  cleanup.defer(() => serving.close());
  if (config.tls) {
    const onError = (error: unknown) => log.warn({ err: error }, "certificate not read");
    const changed = (pair: Pair) => {
      server.renew(pair);
      if (metricsAuth) serving.renew(pair);
    };
    cleanup.defer(followPair(config.tls, { clock, changed, onError }));
  }
  if (config.json) console.log(JSON.stringify({ ready: true, url: server.url, metrics: `${serving.url}/metrics` }));
  log.info({ url: server.url, metrics: serving.url }, "serving");

  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  ready = false;
  const overdue = new AbortController();
  cleanup.defer(clock.after(config.drainMs, () => overdue.abort()));
  log.info({ open: server.open() }, "draining");
  await server.drain(overdue.signal);
}
