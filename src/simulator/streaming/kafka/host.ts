import { rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { serverCertificate } from "../../certificates.ts";
import { settle } from "../../managed/lifecycle.ts";
import type { Progress } from "../../records/life.ts";
import {
  type Cluster,
  done,
  isWanted,
  networkAddresses,
  pending,
  type Topic,
  topicsOf,
} from "../../records/streaming.ts";
import type { World } from "../../world.ts";
import { authorityOf, brokerValidity } from "../credentials.ts";
import { clusterKind, topicKind } from "../kinds.ts";
import { type BrokerParts, startBrokers } from "./brokers.ts";
import { freePorts } from "./ports.ts";
import type { KafkaProgram } from "./program.ts";
import { type Node, nodesOn, portsPerNode } from "./settings.ts";
import { type TopicAdmin, withTopicAdmin } from "./topics.ts";

/** The real brokers of one cluster. */
export interface Host {
  clusterProgress(): Progress;
  topicProgress(topic: Topic): Progress;
  /** Called after topics were created or deleted in the records. */
  wake(): void;
  /** Stops the brokers and, unless `keep` is set, removes their data. */
  stop(keep: boolean): Promise<void>;
}

export interface HostParts {
  program(): Promise<KafkaProgram>;
  brokers: number;
  folder: string;
  onError(where: string, error: unknown): void;
}

const mostAttempts = 3;
const pollMs = 100;
const retryMs = 1000;

/** The addresses of the brokers here and on the platform, for clients that check host names. */
const certifiedHosts = (cluster: Cluster) => [
  "127.0.0.1",
  "::1",
  "localhost",
  ...networkAddresses(cluster).map((address) => address.replace(/:\d+$/, "")),
];

/** Starts brokers for a cluster and keeps their topics the same as in the records, until it is stopped. */
export function createHost(world: World, cluster: Cluster, parts: HostParts): Host {
  const { id } = cluster;
  const where = `event streaming cluster ${id}`;
  const stopping = new AbortController();
  const { signal } = stopping;
  let progress: Progress = pending;
  const topics = createTopics(world, id, signal, (error) => parts.onError(where, error));

  async function run(): Promise<void> {
    const program = await parts.program();
    const authority = await authorityOf(world, id);
    if (authority === undefined) throw new Error("the cluster was deleted");
    const certificate = await serverCertificate(authority, certifiedHosts(cluster), brokerValidity(world));
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted();
      // Another process may have taken a port in between: the next attempt has others.
      const earlier = attempt === 1 ? world.streaming.ports.get(id) : undefined;
      const ports = await freePorts(parts.brokers * portsPerNode, earlier);
      try {
        await serve(nodesOn(ports), { program, authority, certificate }, () => {
          world.documents.transaction(() => world.streaming.ports.put(id, ports));
        });
        return;
      } catch (error) {
        if (attempt === mostAttempts) throw error;
      }
    }
  }

  /** Resolves when the host is stopped. Rejects when a broker exits before all have answered. */
  async function serve(
    nodes: readonly Node[],
    secrets: Pick<BrokerParts, "program" | "authority" | "certificate">,
    onReady: () => void,
  ): Promise<void> {
    await using cleanup = new AsyncDisposableStack();
    const failing = new AbortController();
    const earlyExit = Promise.withResolvers<never>();
    earlyExit.promise.catch(() => {});
    const onDeath = (error: Error) => (progress === done ? parts.onError(where, error) : earlyExit.reject(error));
    const brokers = { ...secrets, folder: parts.folder, clusterId: id, nodes, onDeath };
    const running = await startBrokers(brokers, AbortSignal.any([signal, failing.signal]));
    cleanup.defer(() => running.ended);
    cleanup.defer(() => failing.abort());
    await Promise.race([topics.untilAnswering(nodes, AbortSignal.any([signal, failing.signal])), earlyExit.promise]);
    signal.throwIfAborted();
    onReady();
    setProgress(done);
    await topics.keep(nodes);
  }

  function setProgress(next: Progress): void {
    progress = next;
    if (!signal.aborted) world.documents.transaction(() => settle(world, clusterKind, id));
  }

  const ended = run().catch((error) => {
    if (signal.aborted) return;
    parts.onError(where, error);
    const reason = error instanceof Error ? error.message : String(error);
    setProgress({ kind: "failed", message: `No broker could be started: ${reason.split("\n")[0]}` });
  });

  return {
    clusterProgress: () => progress,
    topicProgress: topics.progress,
    wake: topics.wake,
    async stop(keep) {
      stopping.abort();
      topics.wake();
      await ended;
      if (!keep) await rm(parts.folder, { recursive: true, force: true });
    },
  };
}

/** Keeps the topics of the brokers of one cluster the same as in the records. */
function createTopics(world: World, clusterId: string, signal: AbortSignal, onError: (error: unknown) => void) {
  /** Names of the topics that the brokers have. */
  let present = new Set<string>();
  /** Why the brokers refuse a topic, by its id. */
  const refused = new Map<string, string>();
  let change = Promise.withResolvers<void>();

  async function reconcile(admin: TopicAdmin): Promise<void> {
    const desired = topicsOf(world, clusterId).filter(isWanted);
    const names = new Set(desired.map(({ properties: { name } }) => name));
    for (const name of present) {
      if (names.has(name)) continue;
      await admin.remove(name);
      present.delete(name);
    }
    for (const topic of desired) {
      if (present.has(topic.properties.name) || refused.has(topic.id)) continue;
      const refusal = await admin.create(topic);
      if (refusal === undefined) present.add(topic.properties.name);
      else refused.set(topic.id, refusal);
    }
    if (!signal.aborted) world.documents.transaction(() => settleTopics());
  }

  const settleTopics = () => {
    for (const topic of topicsOf(world, clusterId)) settle(world, topicKind, topic.id);
  };

  return {
    /** Resolves when all brokers answer. */
    async untilAnswering(nodes: readonly Node[], until: AbortSignal): Promise<void> {
      const readTopics = async (admin: TopicAdmin) => {
        present = new Set(await admin.names());
        return admin.brokers();
      };
      while ((await withTopicAdmin(nodes, readTopics).catch(() => 0)) < nodes.length) {
        await delay(pollMs, undefined, { signal: until });
      }
    },
    /** Reconciles after each change, until the signal aborts. */
    async keep(nodes: readonly Node[]): Promise<void> {
      while (!signal.aborted) {
        const changed = change.promise;
        try {
          await withTopicAdmin(nodes, reconcile);
          await changed;
        } catch (error) {
          // Mostly a broker that is being restarted: the next attempt reaches it.
          if (!signal.aborted) onError(error);
          await delay(retryMs, undefined, { signal });
        }
      }
    },
    progress(topic: Topic): Progress {
      const reason = refused.get(topic.id);
      if (reason !== undefined && isWanted(topic)) return { kind: "failed", message: reason };
      return present.has(topic.properties.name) === isWanted(topic) ? done : pending;
    },
    /** Called after topics were created or deleted in the records. */
    wake(): void {
      change.resolve();
      change = Promise.withResolvers();
    },
  };
}
