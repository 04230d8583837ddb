import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Swept, sweptFolder } from "../../programs/swept.ts";
import { type Cluster, type DataPlane, done, isWanted, networkAddresses, pending } from "../../records/streaming.ts";
import type { Contracts, World } from "../../world.ts";
import { createHost, type Host } from "./host.ts";
import { type KafkaProgram, lackFor, provideKafka } from "./program.ts";
import { clientAddress, nodesOn } from "./settings.ts";

/** Brokers that can be opened and closed. */
export interface RunningPlane extends DataPlane {
  /** Begins to follow the records. Called once, when the state of an earlier run is restored. */
  open(contracts: Contracts): Promise<void>;
  close(): Promise<void>;
}

/** No brokers; the management API behaves as with them. */
export const noDataPlane: RunningPlane = {
  brokers: 3,
  clusterProgress: () => done,
  topicProgress: () => done,
  addressesOf: networkAddresses,
  noticeOf: () => undefined,
  open: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

export interface KafkaParts {
  /** Brokers per cluster; the platform has three. */
  brokers: number;
  /** Keeps the brokers' data in this directory; absent: in a temporary one that is removed at the end. */
  data: string | undefined;
  onError(where: string, error: unknown): void;
}

/** How many clusters have brokers at the same time: each takes a few hundred megabytes. */
const mostClusters = 2;

/** Apache Kafka beside this process, for the oldest clusters. */
export function createKafkaPlane({ brokers, data, onError }: KafkaParts): RunningPlane {
  const hosts = new Map<string, Host>();
  const closing = new AbortController();
  const root = data === undefined ? join(tmpdir(), `mooring-kafka-${randomUUID()}`) : resolve(data, `kafka-${brokers}`);
  let contracts: Contracts | undefined;
  let temporary: Swept | undefined;
  const provided = createProvider(closing.signal);
  const served = () => oldestOf(contracts);
  let isEnqueued = false;
  const stopping = new Set<Promise<void>>();
  const isServed = (clusterId: string) => served().some(({ cluster }) => cluster.id === clusterId);

  function reconcile(): void {
    isEnqueued = false;
    if (contracts === undefined || closing.signal.aborted) return;
    for (const [id, host] of hosts) {
      if (isServed(id)) continue;
      hosts.delete(id);
      stop(host, false);
    }
    for (const { world, cluster } of served()) {
      const host = hosts.get(cluster.id) ?? started(world, cluster);
      hosts.set(cluster.id, host);
      host.wake();
    }
  }

  function started(inWorld: World, cluster: Cluster): Host {
    if (data === undefined) temporary ??= sweptFolder(root);
    return createHost(inWorld, cluster, { program: provided, brokers, folder: join(root, cluster.id), onError });
  }

  function stop(host: Host, keep: boolean): void {
    const ended = host.stop(keep).catch((error) => onError("event streaming", error));
    stopping.add(ended);
    void ended.then(() => stopping.delete(ended));
  }

  /** Watchers are called inside a transaction; the work is done after it. */
  function enqueue(): void {
    if (isEnqueued) return;
    isEnqueued = true;
    setImmediate(reconcile);
  }

  return {
    brokers,
    clusterProgress: ({ id }) => (isServed(id) ? (hosts.get(id)?.clusterProgress() ?? pending) : done),
    topicProgress: (topic) =>
      isServed(topic.clusterId) ? (hosts.get(topic.clusterId)?.topicProgress(topic) ?? pending) : done,
    addressesOf(cluster) {
      const found = served().find((each) => each.cluster.id === cluster.id);
      const ports = found?.world.streaming.ports.get(cluster.id);
      return ports === undefined ? networkAddresses(cluster) : nodesOn(ports).map(clientAddress);
    },
    noticeOf({ id }) {
      const progress = hosts.get(id)?.clusterProgress();
      if (progress?.kind === "failed") return progress.message;
      if (isServed(id)) return undefined;
      return `No broker runs for this cluster: the simulator serves the ${mostClusters} oldest; delete one of them`;
    },
    async open(opened) {
      const lack = lackFor(process.env);
      if (lack !== undefined) throw new Error(lack);
      contracts = opened;
      contracts.each(({ streaming }) => {
        streaming.clusters.watch(enqueue);
        streaming.topics.watch(enqueue);
      });
      enqueue();
    },
    async close() {
      closing.abort();
      for (const host of hosts.values()) stop(host, data !== undefined);
      await Promise.all(stopping);
      await temporary?.remove();
    },
  };
}

/** Fetches the program for the first cluster. After a failure the next cluster tries again. */
function createProvider(signal: AbortSignal): () => Promise<KafkaProgram> {
  let program: Promise<KafkaProgram> | undefined;
  return () => {
    program ??= provideKafka(process.env, (line) => process.stderr.write(`${line}\n`), signal);
    program.catch(() => {
      program = undefined;
    });
    return program;
  };
}

/** The clusters that have brokers: the oldest of all contracts. */
const oldestOf = (contracts: Contracts | undefined): { world: World; cluster: Cluster }[] =>
  (contracts?.all() ?? [])
    .flatMap((world) => {
      const clusters = world.viewer.asPlatform(() => [...world.streaming.clusters.values()]);
      return clusters.filter(isWanted).map((cluster) => ({ world, cluster }));
    })
    .sort((a, b) => a.cluster.createdAt - b.cluster.createdAt)
    .slice(0, mostClusters);
