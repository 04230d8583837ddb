import type { Logger } from "pino";
import { createManager } from "../controllers/manager.ts";
import { kinds } from "../kinds/index.ts";
import { connect } from "../kube/client/config.ts";
import type { KubeClient } from "../kube/client/transport.ts";
import { LeadershipLost } from "../kube/lease/leadership-lost.ts";
import { elect } from "../kube/lease/lease.ts";
import { createQueue } from "../kube/queue/queue.ts";
import { isInPass } from "../kube/queue/work.ts";
import { createEventRecorder } from "../kube/write/events.ts";
import { allowedEndpoints, guardedLookup, patternOf } from "../platform/addresses/allowed-endpoints.ts";
import type { CallObserver } from "../platform/calls/call.ts";
import { createTransport } from "../platform/calls/transport.ts";
import { unsetEndpoints, unsetInWords } from "../platform/products/unset-endpoints.ts";
import { systemClock } from "../runtime/clock.ts";
import { metricsProtection } from "../server/metrics-protection.ts";
import { serve } from "../server/serve.ts";
import { followPair } from "../server/serving-certificate.ts";
import { type Config, USER_AGENT } from "./config.ts";
import { openInstallation } from "./installation.ts";
import { leaseOf } from "./lease-name.ts";
import { createLiveness } from "./liveness.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { openSigningKey } from "./signing-key.ts";

const clock = systemClock;

/** The parts of a running operator. */
export type Parts = Awaited<ReturnType<typeof openParts>>;

/**
 * Opens all parts and begins to prepare for leading. `cleanup` closes them in reverse order, also if this function fails.
 */
export async function openParts(config: Config, log: Logger, cleanup: AsyncDisposableStack) {
  const metrics = createMetrics({ clock, mostObjects: config.objectMetrics, shard: config.shard });
  const { kubeconfig, namespace, identity, watchNamespace, shard, workers } = config;
  const given = kubeconfig !== undefined && { kubeconfig };
  const liveness = createLiveness(clock, () => queue);
  /** A call that was made by a reconcile counts as progress, whatever the answer. */
  const counted =
    <T>(observe: (call: T) => void) =>
    (call: T) => {
      if (isInPass()) liveness.beat();
      observe(call);
    };
  const client = await connect({ observe: counted(metrics.kube), userAgent: USER_AGENT, ...given });
  cleanup.defer(() => client.close());

  let synced = false;
  const ready = () => synced && key.isThere() && installation.refusal() === undefined;
  const health = { ready: () => ready(), problem: liveness.problem };
  cleanup.use(await openServing(config, log, client, metrics, health));
  const events = createEventRecorder({ client, clock, component: "mooring", instance: identity, log });
  cleanup.defer(() => events.close());
  const { transport, sites } = openPlatform(config, log, counted(metrics.platform), metrics.closed);
  cleanup.defer(() => transport.close());
  const queue = createQueue({ clock, observe: metrics.queue, workers, laneOf: (key) => engine.laneOf(key) });
  metrics.watch({ queue, workers, transport });
  const leadership = joinElection(config, log, client);
  // Released only after the last action as leader.
  cleanup.defer(leadership.release);
  const installation = cleanup.use(openInstallation({ client, clock, namespace, watchNamespace, log }));
  const key = cleanup.use(await openSigningKey({ client, clock, namespace, log, observe: metrics.signingKey }));
  let verifying: Promise<void> | undefined;
  key.subscribe(() => {
    verifying = engine.judgeAgain();
  });
  const engine = createManager({
    kinds,
    seal: key.seal,
    clock,
    log,
    client,
    transport,
    events,
    queue,
    guard: leadership.guard,
    self: { pod: identity, process: config.process },
    busyMs: config.busyMs,
    settings: { ...config, graceMs: 5000 },
    observe(pass) {
      if (pass.result !== "timeout") liveness.beat();
      metrics.reconcile(pass);
    },
    observeObject: metrics.object,
    observeDrift: metrics.drift,
    home: namespace,
    clusterName: config.clusterName,
    limit: config.limit,
    sites,
    ...(watchNamespace !== undefined && { namespace: watchNamespace }),
    ...(shard !== undefined && { shard }),
  });
  cleanup.defer(() => engine.close());
  cleanup.defer(() => queue.shutdown());

  const syncing = engine.sync().then(() => {
    synced = true;
    log.info({ kinds: kinds.length }, "caches synced");
  });
  const prepared = Promise.all([syncing, leadership.acquired]).then(async () => {
    await installation.acquire();
    await key.ensure(engine.unknown);
    await verifying;
  });
  return { metrics, liveness, client, events, transport, leadership, installation, engine, prepared };
}

/** Serves metrics and health until it is closed, and follows the files of its certificate. */
async function openServing(
  config: Config,
  log: Logger,
  client: KubeClient,
  metrics: Metrics,
  health: { ready: () => boolean; problem: () => string | undefined },
): Promise<AsyncDisposable> {
  const { identity } = config;
  await using cleanup = new AsyncDisposableStack();
  const protection = await metricsProtection({ ...config, client, clock, log });
  const serving = await serve(config.listen, metrics, health, protection);
  cleanup.defer(() => serving.close());
  if (config.tls) {
    const onError = (error: unknown) => log.warn({ err: error }, "certificate for metrics not read");
    cleanup.defer(followPair(config.tls, { clock, changed: serving.renew, onError }));
  }
  if (config.json) console.log(JSON.stringify({ ready: true, metrics: `${serving.url}/metrics`, identity }));
  log.info({ url: serving.url, identity }, "serving metrics and health");
  return cleanup.move();
}

/** The transport to the platform, and the endpoints that Accounts may use. */
function openPlatform(config: Config, log: Logger, observe: CallObserver, closed: (account: string) => void) {
  const { endpoints, ca, proxies } = config;
  const unset = unsetEndpoints(kinds, endpoints);
  if (unset.length > 0) log.warn({ endpoints: unset.map(({ endpoint }) => endpoint) }, unsetInWords(unset));
  const allowed = allowedEndpoints(config.allowEndpoints);
  // The operator's own endpoints are always allowed.
  const allowEndpoints = [...config.allowEndpoints, ...Object.values(endpoints).map(patternOf)];
  const given = ca !== undefined && { ca };
  const transport = createTransport({ clock, log, observe, closed, allowEndpoints, proxies, ...given });
  const lookup = (url: URL) => guardedLookup(allowed, url);
  return { transport, sites: { endpoints, isAllowed: (url: string) => allowed.allows(url), lookup } };
}

/** Leadership by the Lease. Without leader election, the process leads from the start and never loses it. */
function joinElection({ leaderElection, namespace, identity, shard }: Config, log: Logger, client: KubeClient) {
  const logLease = (message: string, error?: unknown) =>
    error === undefined ? log.info({ identity }, message) : log.warn({ err: error }, message);
  const election = leaderElection
    ? elect({ client, clock, namespace, identity, name: leaseOf(shard), log: logLease })
    : undefined;
  return {
    acquired: election?.acquired,
    lost: election?.lost.then(() => "lost" as const) ?? new Promise<never>(() => {}),
    /** Throws if this process may no longer act as leader. */
    guard() {
      if (election && !election.held()) throw new LeadershipLost();
    },
    release: async () => election?.release(),
  };
}
