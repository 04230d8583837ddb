import { z } from "zod";
import { activityRoutes } from "./activity/routes.ts";
import { createAgenda } from "./agenda.ts";
import { alertRoutes } from "./alerts.ts";
import { loadRoutes } from "./autoscaling/load-routes.ts";
import { resumeScaling } from "./autoscaling/loop.ts";
import { autoscalingRoutes } from "./autoscaling/routes.ts";
import { billingRoutes } from "./billing/routes.ts";
import { certificateHost, certificateRoutes } from "./certificate-manager/kinds.ts";
import { createContracts } from "./contracts.ts";
import { coreRoutes } from "./core/core.ts";
import { resumeRequests } from "./core/provisioning/provisioning.ts";
import { dashboardRoutes } from "./dashboard/routes.ts";
import { demoAge, makeDemoData } from "./demo-data/demo-data.ts";
import { dnsHost } from "./dns/kinds.ts";
import { dnsRoutes } from "./dns/routes.ts";
import { createFaultChooser } from "./faults/chooser.ts";
import { type FaultPlan, reachOf } from "./faults/plan.ts";
import { createBuckets, createRateLimiter } from "./faults/rate-limit.ts";
import { createFlowLogs, type FlowLogs } from "./flow-logs/flow-logs.ts";
import { createCallCounter } from "./http/calls.ts";
import { formsOf, type Interface, type Route } from "./http/exchange.ts";
import { tokenRoutes } from "./identity/routes.ts";
import { inferenceEndpoint, inferenceRoutes } from "./inference/routes.ts";
import { createForwardListener } from "./ingest/forward/listener.ts";
import { logRoutes } from "./ingest/log-routes.ts";
import { metricPushRoutes } from "./ingest/push/routes.ts";
import { readingRoutes } from "./ingest/reading-routes.ts";
import { createListener } from "./listener/listener.ts";
import { endpointOf } from "./managed/service.ts";
import { managed } from "./managed-kinds.ts";
import { objectStorageRoutes } from "./object-storage-management/access-keys.ts";
import { managementHost } from "./object-storage-management/regions.ts";
import { services } from "./pipelines/kinds.ts";
import { resumeProducts } from "./pipelines/product-logs.ts";
import { pipelineRoutes } from "./pipelines/routes.ts";
import { steeringRoutes } from "./steering.ts";
import { chooseStorage } from "./storage/choose.ts";
import { createS3Client } from "./storage/client.ts";
import { createDocuments } from "./store/documents.ts";
import { createHistory } from "./store/history.ts";
import { memoryOnly, openJournal } from "./store/journal.ts";
import { createKafkaPlane, noDataPlane } from "./streaming/kafka/plane.ts";
import { streaming } from "./streaming/kinds.ts";
import { streamingRoutes } from "./streaming/routes.ts";
import { createClock, machineTime } from "./time.ts";
import type { Owner, World } from "./world.ts";

export interface SimulatorOptions {
  /** How many contracts there are at least, each with an owner. Default 1; more can come by steering. */
  contracts?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  /** Keeps the state in this directory; absent: in memory only. */
  data?: string;
  /** Ids, durations and fault probabilities follow from it. Default 1. */
  seed?: number;
  /** How many times as fast as real time the platform lives. Default 1. */
  speed?: number;
  faults?: FaultPlan;
  /** The form of the interface where the description and the public one differ. Default: both at once. */
  interface?: Interface;
  /** `builtin` (default), `versitygw`, or the URL of an S3 elsewhere. */
  objectStorage?: string;
  /** Where the object storage listens. Default: the host of the API, any free port. */
  objectStorageHost?: string;
  objectStoragePort?: number;
  /** Buckets of the owner that exist from the start, besides `flow-logs`. */
  buckets?: readonly string[];
  /** Where log pipelines take lines by the forward protocol. Default: the host of the API, any free port. */
  forwardHost?: string;
  forwardPort?: number;
  /** `real`: Apache Kafka serves the clusters of event streaming; `off` (default): nobody does. */
  kafka?: "real" | "off";
  /** Kafka processes per cluster. Default 3, as the platform has; with 1, topics have one copy. */
  brokers?: number;
  /** Begins with one of everything in the first contract, unless there is state from an earlier run. */
  demoData?: boolean;
  /** Hears of failures of the simulator itself. Default: standard error. */
  onError?(where: string, error: unknown): void;
}

/** What a caller needs to use the simulator; `token` is also the one that steers it. */
export interface Ready extends Owner {
  /** Those of regional products have `{region}` in the place of the region's slug. */
  endpoints: {
    api: string;
    objectStorage: string;
    monitoring: string;
    logging: string;
    streaming: string;
    inference: string;
    dns: string;
    certificates: string;
    objectStorageManagement: string;
  };
  /** Whom to trust, as PEM: the authority behind the TLS address of log pipelines. */
  certificates: { ca: string };
  /** The owners of further contracts. */
  contracts: Owner[];
}

export interface RunningSimulator {
  ready: Ready;
  /** Everything that can be called, for tests that promise something about all of it. */
  routes: readonly Pick<Route, "method" | "template" | "access">[];
  /** Ends all connections and leaves the data directory complete. */
  close(): Promise<void>;
}

/** Starts the platform on this machine. Rejects when the address or the data directory is taken. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<RunningSimulator> {
  const { host = "127.0.0.1", port = 0, speed = 1 } = options;
  const onError = options.onError ?? ((where, error) => console.error(`simulator: ${where}:`, error));
  const journal = options.data === undefined ? memoryOnly : await openJournal(options.data);
  const life = new AsyncDisposableStack();
  life.defer(() => journal.close());
  try {
    const seed = options.seed ?? journal.seed ?? 1;
    if (journal.seed !== undefined && journal.seed !== seed) {
      throw new Error(
        `the data directory ${options.data} was made with the seed ${journal.seed}; use that one or another directory`,
      );
    }
    const demo = options.demoData === true && journal.seed === undefined;
    const beginning = { ...machineTime, now: () => machineTime.now() - (demo ? demoAge : 0) };
    const clock = createClock(beginning, speed, journal.lastInstant);
    const faults = createFaultChooser(options.faults ?? { rules: [] }, seed);
    const history = createHistory(clock.now, () => reachOf(faults.plan()));
    const documents = createDocuments((changes) => journal.append(clock.now(), changes), history.note);
    const counts = documents.table("counters", z.number());
    const counters = {
      next(purpose: string) {
        const count = counts.get(purpose) ?? 0;
        counts.put(purpose, count + 1);
        return count;
      },
    };
    const storage = chooseStorage(options.objectStorage ?? "builtin", {
      documents,
      machine: machineTime,
      data: options.data,
      host: options.objectStorageHost ?? host,
      port: options.objectStoragePort ?? 0,
      buckets: options.buckets ?? [],
      durable: () => journal.flushed(),
      onError,
    });
    const forward = createForwardListener({
      documents,
      machine: machineTime,
      host: options.forwardHost ?? host,
      port: options.forwardPort ?? 0,
      onError,
    });
    const dataPlane =
      options.kafka === "real"
        ? createKafkaPlane({ brokers: options.brokers ?? 3, data: options.data, onError })
        : noDataPlane;
    const agenda = createAgenda(clock, machineTime);
    life.defer(() => agenda.close());
    let objectStorageUrl = "";
    const forms = formsOf(options.interface ?? "both");
    const parts = { seed, forms, clock, agenda, counters, documents, storage, dataPlane };
    const contracts = createContracts({
      ...parts,
      forwardAddress: () => forward.address(),
      objectStorageUrl: () => objectStorageUrl,
    });
    const flowLogs = new Map<World, FlowLogs>();
    contracts.each((world) => flowLogs.set(world, createFlowLogs(world, seed, onError)));
    journal.load(documents, seed);
    const [owner, ...others] = documents.transaction(() => {
      const opened = contracts.all().map((world) => contracts.open(world));
      while (opened.length < (options.contracts ?? 1)) opened.push(contracts.add());
      return opened;
    });
    if (owner === undefined) throw new Error("the first contract was not opened");
    for (const world of contracts.all()) {
      resumeRequests(world);
      resumeScaling(world);
      resumeProducts(world);
      for (const { resume } of managed) resume(world);
    }
    life.defer(() => storage.close());
    const { url: objectStorage, ...s3 } = await storage.open(contracts, owner.s3);
    objectStorageUrl = objectStorage;
    life.defer(() => forward.close());
    const ca = await forward.open(contracts);
    life.defer(() => dataPlane.close());
    await dataPlane.open(contracts);
    contracts.each((world) => flowLogs.get(world)?.resume());
    const everyFlowLog = (work: (each: FlowLogs) => Promise<void>) => Promise.all([...flowLogs.values()].map(work));
    life.defer(async () => void (await everyFlowLog((each) => each.close())));

    const calls = createCallCounter(machineTime);
    const inferenceCalls = createBuckets(machineTime);
    const routesOf = (world: World) => [
      ...coreRoutes(world),
      ...autoscalingRoutes(world),
      ...pipelineRoutes(world),
      ...streamingRoutes(world),
      ...dnsRoutes(world),
      ...certificateRoutes(world),
      ...billingRoutes(world),
      ...objectStorageRoutes(world),
      ...inferenceRoutes(world, inferenceCalls),
      ...metricPushRoutes(contracts),
      ...activityRoutes(world),
      ...tokenRoutes(world.identity, clock),
      ...steeringRoutes(world, { contracts, calls, faults }),
      ...loadRoutes(world),
      ...alertRoutes(world),
      ...(flowLogs.get(world)?.routes ?? []),
      ...logRoutes(contracts),
      ...readingRoutes(world),
      ...dashboardRoutes(contracts, machineTime),
    ];
    const listener = createListener({
      routesOf,
      contracts,
      steeringToken: owner.token,
      documents,
      history,
      clock,
      machine: machineTime,
      calls,
      faults,
      rateLimit: createRateLimiter(machineTime, () => faults.plan().rateLimit),
      catchUp: () => agenda.run(),
      async durable() {
        await journal.flushed();
        await storage.inStep();
        await everyFlowLog((each) => each.asked());
      },
      onError,
    });
    await journal.flushed();
    const api = await listener.listen(host, port);
    life.defer(() => listener.close());
    if (demo) {
      const isBuiltin = (options.objectStorage ?? "builtin") === "builtin";
      const s3Client = isBuiltin ? createS3Client({ url: objectStorage, ...s3 }) : undefined;
      await makeDemoData(contracts.first, routesOf(contracts.first), api, s3Client);
      await journal.flushed();
    }
    return {
      ready: {
        endpoints: {
          api,
          objectStorage,
          monitoring: endpointOf(api, services.metrics),
          logging: endpointOf(api, services.logs),
          streaming: endpointOf(api, streaming),
          inference: inferenceEndpoint(api),
          dns: endpointOf(api, dnsHost),
          certificates: endpointOf(api, certificateHost),
          objectStorageManagement: endpointOf(api, managementHost),
        },
        ...owner,
        s3,
        certificates: { ca },
        contracts: others,
      },
      routes: routesOf(contracts.first).map(({ method, template, access }) => ({ method, template, access })),
      close: () => life.disposeAsync(),
    };
  } catch (error) {
    await life.disposeAsync();
    throw error;
  }
}
