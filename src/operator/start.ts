import type { Logger } from "pino";
import { createManager } from "../controllers/manager.ts";
import { kinds } from "../kinds/index.ts";
import { connect } from "../kube/client/config.ts";
import { LeadershipLost } from "../kube/lease/leadership-lost.ts";
import { elect } from "../kube/lease/lease.ts";
import { createQueue } from "../kube/queue/queue.ts";
import { isInPass } from "../kube/queue/work.ts";
import { createEventRecorder } from "../kube/write/events.ts";
import { allowedEndpoints, patternOf } from "../platform/addresses/allowed-endpoints.ts";
import { createTransport } from "../platform/calls/transport.ts";
import { systemClock } from "../runtime/clock.ts";
import { metricsProtection } from "../server/metrics-protection.ts";
import { serve } from "../server/serve.ts";
import { followPair } from "../server/serving-certificate.ts";
import { type Config, USER_AGENT } from "./config.ts";
import { InstallationTaken, openInstallation } from "./installation.ts";
import { leaseOf } from "./lease-name.ts";
import { createLiveness } from "./liveness.ts";
import { createMetrics } from "./metrics.ts";
import { openSigningKey } from "./signing-key.ts";
import { watchShards } from "./unserved.ts";
import { unsetEndpoints, unsetInWords } from "./unset-endpoints.ts";

/**
 * The time that a process has after it lost its lease, to finish work that only it knows of, such as deleting a resource that
 * it created and can no longer claim. Then it exits, even if something hangs. The guard stops it from starting anything new.
 */
const LEAVE_MS = 4000;

/**
 * After a stop, calls to the platform have this long to be answered. Then they are aborted, and the next leader searches for
 * their results.
 */
const ANSWER_MS = 5000;

/** Kubernetes kills a pod 30 s after SIGTERM. The process exits before that even if something hangs, and its Lease expires. */
const STOP_MS = 20_000;

export class StopOverdue extends Error {
  constructor() {
    super(`shutdown timed out after ${STOP_MS / 1000} s`);
  }
}

/**
 * Runs the operator until the signal aborts, then closes all parts in reverse order. Rejects with `LeadershipLost` when the
 * lease is lost, and with `StopOverdue` when the shutdown times out; the process must exit then, because something may still
 * hang.
 */
export async function runOperator(config: Config, log: Logger, signal: AbortSignal): Promise<void> {
  const overdue = Promise.withResolvers<never>();
  const endAfter = (ms: number, error: Error) => void systemClock.after(ms, () => overdue.reject(error));
  const onLost = () => endAfter(LEAVE_MS, new LeadershipLost());
  signal.addEventListener("abort", () => endAfter(STOP_MS, new StopOverdue()), { once: true });
  await Promise.race([runParts(config, log, signal, onLost), overdue.promise]);
}

async function runParts(config: Config, log: Logger, signal: AbortSignal, onLost: () => void): Promise<void> {
  const clock = systemClock;
  const metrics = createMetrics({ clock, mostObjects: config.objectMetrics, shard: config.shard });
  const { kubeconfig, namespace, identity, watchNamespace, shard, workers } = config;
  await using cleanup = new AsyncDisposableStack();
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
  const serving = await serve(
    config.listen,
    metrics,
    health,
    await metricsProtection({ ...config, client, clock, log }),
  );
  cleanup.defer(() => serving.close());
  if (config.tls) {
    const onError = (error: unknown) => log.warn({ err: error }, "certificate for metrics not read");
    cleanup.defer(followPair(config.tls, { clock, changed: serving.renew, onError }));
  }
  if (config.json) console.log(JSON.stringify({ ready: true, metrics: `${serving.url}/metrics`, identity }));
  log.info({ url: serving.url, identity }, "serving metrics and health");

  const events = createEventRecorder({
    client,
    clock,
    component: "mooring",
    instance: identity,
    log,
  });
  cleanup.defer(() => events.close());
  const { endpoints, ca, proxies } = config;
  const unset = unsetEndpoints(kinds, endpoints);
  if (unset.length > 0) log.warn({ endpoints: unset.map(({ endpoint }) => endpoint) }, unsetInWords(unset));
  const allowed = allowedEndpoints(config.allowEndpoints);
  // The operator's own endpoints are always allowed.
  const allowEndpoints = [...config.allowEndpoints, ...Object.values(endpoints).map(patternOf)];
  const observe = counted(metrics.platform);
  const transport = createTransport({
    clock,
    log,
    observe,
    closed: metrics.closed,
    allowEndpoints,
    proxies,
    ...(ca !== undefined && { ca }),
  });
  cleanup.defer(() => transport.close());
  const queue = createQueue({ clock, observe: metrics.queue, workers, laneOf: (key) => engine.laneOf(key) });
  metrics.watch({ queue, workers, transport });

  const logLease = (message: string, error?: unknown) =>
    error === undefined ? log.info({ identity }, message) : log.warn({ err: error }, message);
  const election = config.leaderElection
    ? elect({ client, clock, namespace, identity, name: leaseOf(shard), log: logLease })
    : undefined;
  // Released only after the last action as leader.
  cleanup.defer(async () => election?.release());
  const lost = election?.lost.then(() => "lost" as const) ?? new Promise<never>(() => {});
  const guard = () => {
    if (election && !election.held()) throw new LeadershipLost();
  };

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
    guard,
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
    limit: config.limit,
    sites: { endpoints, isAllowed: (url) => allowed.allows(url) },
    ...(watchNamespace !== undefined && { namespace: watchNamespace }),
    ...(shard !== undefined && { shard }),
  });
  cleanup.defer(() => engine.close());
  cleanup.defer(() => queue.shutdown());

  const stopped = new Promise<"stopped">((resolve) => {
    if (signal.aborted) resolve("stopped");
    signal.addEventListener("abort", () => resolve("stopped"), { once: true });
  });
  const syncing = engine.sync().then(() => {
    synced = true;
    log.info({ kinds: kinds.length }, "caches synced");
  });
  const prepared = Promise.all([syncing, election?.acquired]).then(async () => {
    await installation.acquire();
    await key.ensure(engine.unknown);
    await verifying;
  });
  const begin = await Promise.race([prepared.then(() => "begin" as const), stopped, lost]);
  if (begin === "stopped") return;
  if (begin === "lost") throw new LeadershipLost();
  metrics.leading(true);
  log.info({ identity }, "became leader");

  const working = new AbortController();
  liveness.begin();
  const running = engine.run(workers, working.signal);
  if (shard === undefined && watchNamespace === undefined) {
    void watchShards({
      client,
      clock,
      namespace,
      namespaces: engine.namespaces,
      events,
      observe: metrics.unserved,
      onError: (error) => log.warn({ err: error }, "Leases of shards not read"),
      signal: working.signal,
    });
  }
  const taken = installation.lost.then(() => "taken" as const);
  const end = await Promise.race([stopped, lost, taken, running.then(() => "stopped" as const)]);
  metrics.leading(false);
  working.abort(new Error("stopping"));
  if (end === "lost" || end === "taken") onLost();
  else clock.after(ANSWER_MS, () => void transport.close());
  await running;
  if (end === "lost") throw new LeadershipLost();
  if (end === "taken") throw new InstallationTaken(await installation.lost);
}
