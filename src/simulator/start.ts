import { z } from "zod";
import { createAgenda } from "./agenda.ts";
import { resumeScaling } from "./autoscaling/loop.ts";
import { createContracts } from "./contracts.ts";
import { resumeRequests } from "./core/provisioning/provisioning.ts";
import { demoAge, makeDemoData } from "./demo-data/demo-data.ts";
import { createFaultChooser } from "./faults/chooser.ts";
import { type FaultPlan, reachOf } from "./faults/plan.ts";
import { createRateLimiter } from "./faults/rate-limit.ts";
import { createFlowLogs, type FlowLogs } from "./flow-logs/flow-logs.ts";
import { createCallCounter } from "./http/calls.ts";
import { formsOf, type Interface, type Route } from "./http/exchange.ts";
import { createForwardListener } from "./ingest/forward/listener.ts";
import { createListener } from "./listener/listener.ts";
import { managed } from "./managed-kinds.ts";
import { resumeProducts } from "./pipelines/product-logs.ts";
import { createRoutes, endpointsOf } from "./routes.ts";
import { createBuiltin } from "./storage/builtin.ts";
import { createS3Client } from "./storage/client.ts";
import { createExternal } from "./storage/external.ts";
import type { ObjectStorage, StorageParts } from "./storage/object-storage.ts";
import { createVersitygw } from "./storage/versitygw/gateway.ts";
import { createDocuments, type Documents } from "./store/documents.ts";
import { createHistory } from "./store/history.ts";
import { type Journal, memoryOnly, openJournal } from "./store/journal.ts";
import { createKafkaPlane, noDataPlane } from "./streaming/kafka/plane.ts";
import { createClock, machineTime } from "./time.ts";
import type { Contracts, Owner, World } from "./world.ts";

export interface SimulatorOptions {
  /** How many contracts there are at least, each with an owner. Default 1; POST /_simulator/contracts adds more. */
  contracts?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  /** Keeps the state in this directory; absent: in memory only. */
  data?: string;
  /** Ids, durations and fault probabilities follow from it. Default 1. */
  seed?: number;
  /** Speed of the platform's clock; 10 is ten times real time. Default 1. */
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
  /** `real`: Apache Kafka serves the clusters of event streaming; `off` (default): no broker does. */
  kafka?: "real" | "off";
  /** Kafka processes per cluster. Default 3, as the platform has; with 1, topics have one copy. */
  brokers?: number;
  /** Begins with one of everything in the first contract, unless there is state from an earlier run. */
  demoData?: boolean;
  /** Reports failures of the simulator itself. Default: standard error. */
  onError?(where: string, error: unknown): void;
}

/** The addresses and credentials of the simulator; `token` also opens the control endpoints. */
export interface Ready extends Owner {
  endpoints: ReturnType<typeof endpointsOf>;
  /** The authority to trust, as PEM: it signs the TLS address of log pipelines. */
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
  const journal = options.data === undefined ? memoryOnly : await openJournal(options.data);
  const cleanup = new AsyncDisposableStack();
  cleanup.defer(() => journal.close());
  try {
    return await run(options, journal, cleanup);
  } catch (error) {
    await cleanup.disposeAsync();
    throw error;
  }
}

type OnError = NonNullable<SimulatorOptions["onError"]>;

/** Runs the platform. `cleanup` gets what has to be closed with it. */
async function run(
  options: SimulatorOptions,
  journal: Journal,
  cleanup: AsyncDisposableStack,
): Promise<RunningSimulator> {
  const { host = "127.0.0.1", port = 0 } = options;
  const onError: OnError = options.onError ?? ((where, error) => console.error(`simulator: ${where}:`, error));
  const state = createState(options, journal);
  const { seed, isDemo, clock, faults, history, documents } = state;
  const { storage, forward, dataPlane } = createBackends(options, documents, () => journal.flushed(), onError);
  const agenda = createAgenda(clock, machineTime);
  cleanup.defer(() => agenda.close());
  let objectStorageUrl = "";
  const contracts = createContracts({
    ...{ seed, clock, agenda, counters: state.counters, documents, storage, dataPlane },
    forms: formsOf(options.interface ?? "both"),
    forwardAddress: () => forward.address(),
    objectStorageUrl: () => objectStorageUrl,
  });
  const flowLogs = new Map<World, FlowLogs>();
  contracts.each((world) => flowLogs.set(world, createFlowLogs(world, seed, onError)));
  journal.load(documents, seed);
  const [owner, ...others] = openContracts(documents, contracts, options.contracts ?? 1);
  if (owner === undefined) throw new Error("the first contract was not opened");
  for (const world of contracts.all()) resume(world);
  cleanup.defer(() => storage.close());
  const { url: objectStorage, ...s3 } = await storage.open(contracts, owner.s3);
  objectStorageUrl = objectStorage;
  cleanup.defer(() => forward.close());
  const ca = await forward.open(contracts);
  cleanup.defer(() => dataPlane.close());
  await dataPlane.open(contracts);
  contracts.each((world) => flowLogs.get(world)?.resume());
  const everyFlowLog = (work: (each: FlowLogs) => Promise<void>) => Promise.all([...flowLogs.values()].map(work));
  cleanup.defer(async () => void (await everyFlowLog((each) => each.close())));

  const calls = createCallCounter(machineTime);
  const routesOf = createRoutes({ contracts, calls, faults, flowLogs });
  const listener = createListener({
    ...{ routesOf, contracts, documents, history, clock, calls, faults, onError },
    steeringToken: owner.token,
    machine: machineTime,
    rateLimit: createRateLimiter(machineTime, () => faults.plan().rateLimit),
    catchUp: () => agenda.run(),
    async durable() {
      await journal.flushed();
      await storage.synced();
      await everyFlowLog((each) => each.flushed());
    },
  });
  await journal.flushed();
  const api = await listener.listen(host, port);
  cleanup.defer(() => listener.close());
  if (isDemo) {
    const isBuiltin = (options.objectStorage ?? "builtin") === "builtin";
    const s3Client = isBuiltin ? createS3Client({ url: objectStorage, ...s3 }) : undefined;
    await makeDemoData(contracts.first, routesOf(contracts.first), api, s3Client);
    await journal.flushed();
  }
  const endpoints = endpointsOf(api, objectStorage);
  return {
    ready: { endpoints, ...owner, s3, certificates: { ca }, contracts: others },
    routes: routesOf(contracts.first).map(({ method, template, access }) => ({ method, template, access })),
    close: () => cleanup.disposeAsync(),
  };
}

/** The clock, the state and the faults. A data directory keeps the seed that it was made with. */
function createState({ data, speed = 1, ...options }: SimulatorOptions, journal: Journal) {
  const seed = options.seed ?? journal.seed ?? 1;
  if (journal.seed !== undefined && journal.seed !== seed) {
    throw new Error(
      `the data directory ${data} was made with the seed ${journal.seed}; use that one or another directory`,
    );
  }
  const isDemo = options.demoData === true && journal.seed === undefined;
  // Demo data begins in the past, so that most of it is old.
  const startTime = { ...machineTime, now: () => machineTime.now() - (isDemo ? demoAge : 0) };
  const clock = createClock(startTime, speed, journal.lastInstant);
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
  return { seed, isDemo, clock, faults, history, documents, counters };
}

/** The servers beside the API. They are opened after the state of an earlier run is restored. */
function createBackends(
  options: SimulatorOptions,
  documents: Documents,
  durable: () => Promise<void>,
  onError: OnError,
) {
  const { host = "127.0.0.1", data } = options;
  const storage = chooseStorage(options.objectStorage ?? "builtin", {
    ...{ documents, machine: machineTime, data, durable, onError },
    host: options.objectStorageHost ?? host,
    port: options.objectStoragePort ?? 0,
    buckets: options.buckets ?? [],
  });
  const forward = createForwardListener({
    ...{ documents, machine: machineTime, onError },
    host: options.forwardHost ?? host,
    port: options.forwardPort ?? 0,
  });
  const isReal = options.kafka === "real";
  const dataPlane = isReal ? createKafkaPlane({ brokers: options.brokers ?? 3, data, onError }) : noDataPlane;
  return { storage, forward, dataPlane };
}

/** The default bucket of flow logs. Every storage has it. */
const firstBucket = "flow-logs";

/** `builtin`, `versitygw`, or the URL of an object storage that runs elsewhere. */
function chooseStorage(choice: string, given: StorageParts): ObjectStorage {
  const parts = { ...given, buckets: [...new Set([firstBucket, ...given.buckets])] };
  // Always created: it declares the tables that a data directory may have from an earlier run.
  const builtin = createBuiltin(parts);
  if (choice === "builtin") return builtin;
  return choice === "versitygw" ? createVersitygw(parts) : createExternal(choice, parts);
}

/** Opens the contracts of an earlier run, and further ones until there are `least`. */
function openContracts(documents: Documents, contracts: Contracts, least: number): Owner[] {
  return documents.transaction(() => {
    const opened = contracts.all().map((world) => contracts.open(world));
    while (opened.length < least) opened.push(contracts.add());
    return opened;
  });
}

/** Schedules the end of everything that an earlier run had begun. */
function resume(world: World): void {
  resumeRequests(world);
  resumeScaling(world);
  resumeProducts(world);
  for (const kind of managed) kind.resume(world);
}
