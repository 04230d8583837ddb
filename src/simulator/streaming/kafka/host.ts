import { rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { serverCertificate } from "../../certificates.ts";
import type { World } from "../../world.ts";
import { authorityOf, brokerValidity } from "../credentials.ts";
import { done, networkAddresses, type Progress, pending } from "../data-plane.ts";
import { type Cluster, isWanted, type Topic, topicsOf } from "../records.ts";
import { settleCluster, settleTopic } from "../settle.ts";
import { startBrokers } from "./brokers.ts";
import { freePorts } from "./ports.ts";
import type { KafkaProgram } from "./program.ts";
import { nodesOn, portsPerNode } from "./settings.ts";
import { openTopicAdmin, type TopicAdmin } from "./topics.ts";

/** The real brokers of one cluster. */
export interface Host {
  clusterProgress(): Progress;
  topicProgress(topic: Topic): Progress;
  /** Topics may have come or gone. */
  follow(): void;
  /** Ends the brokers; what they kept goes too, unless it is for a later run. */
  stop(keep: boolean): Promise<void>;
}

export interface HostParts {
  program(): Promise<KafkaProgram>;
  brokers: number;
  folder: string;
  onError(where: string, error: unknown): void;
}

/** How often brokers may end before they have answered once. */
const mostDeaths = 3;
const pollMs = 100;
const retryMs = 1000;

/** Starts brokers for a cluster and keeps their topics as the management API has them, until it is stopped. */
export function createHost(world: World, cluster: Cluster, parts: HostParts): Host {
  const { id } = cluster;
  const where = `event streaming cluster ${id}`;
  const stopping = new AbortController();
  const { signal } = stopping;
  let progress: Progress = pending;
  /** Names of the topics that the brokers have. */
  let present = new Set<string>();
  /** Why the brokers do not take a topic, by its id. */
  const refused = new Map<string, string>();
  let change = Promise.withResolvers<void>();

  async function live(): Promise<void> {
    await using life = new AsyncDisposableStack();
    const failing = new AbortController();
    const { nodes, ended, fatal } = await start(AbortSignal.any([signal, failing.signal]));
    life.defer(() => ended);
    life.defer(() => failing.abort());
    const admin = await openTopicAdmin(nodes);
    life.defer(() => admin.close());
    await Promise.race([untilAnswering(admin, nodes.length), fatal]);
    present = new Set(await admin.names());
    reached(done);
    await keepTopics(admin);
  }

  async function start(brokerSignal: AbortSignal) {
    const program = await parts.program();
    signal.throwIfAborted();
    const authority = await authorityOf(world, id);
    if (authority === undefined) throw new Error("the cluster has gone");
    const ports = await freePorts(parts.brokers * portsPerNode, world.streaming.ports.get(id));
    signal.throwIfAborted();
    world.documents.transaction(() => world.streaming.ports.put(id, ports));
    const nodes = nodesOn(ports);
    const hosts = [
      "127.0.0.1",
      "::1",
      "localhost",
      ...networkAddresses(cluster).map((each) => each.split(":")[0] ?? ""),
    ];
    const certificate = await serverCertificate(authority, hosts, brokerValidity(world));
    const { promise: fatal, reject } = Promise.withResolvers<never>();
    fatal.catch(() => {});
    let deaths = 0;
    const onDeath = (error: Error) => {
      deaths += 1;
      if (progress.kind === "done") parts.onError(where, error);
      else if (deaths === mostDeaths) reject(error);
    };
    const { folder } = parts;
    const brokers = { program, folder, clusterId: id, nodes, authority, certificate, onDeath };
    return { nodes, fatal, ...(await startBrokers(brokers, brokerSignal)) };
  }

  async function untilAnswering(admin: TopicAdmin, brokers: number): Promise<void> {
    while ((await admin.brokers().catch(() => 0)) < brokers) await delay(pollMs, undefined, { signal });
  }

  async function keepTopics(admin: TopicAdmin): Promise<void> {
    while (!signal.aborted) {
      const changed = change.promise;
      try {
        await bringInLine(admin);
        await changed;
      } catch (error) {
        // A broker that is being started again, mostly: the next try finds it.
        if (!signal.aborted) parts.onError(where, error);
        await delay(retryMs, undefined, { signal });
      }
    }
  }

  async function bringInLine(admin: TopicAdmin): Promise<void> {
    const wanted = topicsOf(world, id).filter(isWanted);
    const names = new Set(wanted.map(({ properties: { name } }) => name));
    for (const name of present) {
      if (names.has(name)) continue;
      await admin.remove(name);
      present.delete(name);
    }
    for (const topic of wanted) {
      if (present.has(topic.properties.name) || refused.has(topic.id)) continue;
      const refusal = await admin.create(topic);
      if (refusal === undefined) present.add(topic.properties.name);
      else refused.set(topic.id, refusal);
    }
    if (!signal.aborted) world.documents.transaction(() => settleTopics());
  }

  const settleTopics = () => {
    for (const topic of topicsOf(world, id)) settleTopic(world, topic.id);
  };

  function reached(next: Progress): void {
    progress = next;
    if (!signal.aborted) world.documents.transaction(() => settleCluster(world, id));
  }

  const ended = live().catch((error) => {
    if (signal.aborted) return;
    parts.onError(where, error);
    const reason = error instanceof Error ? error.message : String(error);
    reached({ kind: "failed", message: `No broker could be started: ${reason.split("\n")[0]}` });
  });

  return {
    clusterProgress: () => progress,
    topicProgress(topic) {
      const reason = refused.get(topic.id);
      if (reason !== undefined && isWanted(topic)) return { kind: "failed", message: reason };
      return present.has(topic.properties.name) === isWanted(topic) ? done : pending;
    },
    follow() {
      change.resolve();
      change = Promise.withResolvers();
    },
    async stop(keep) {
      stopping.abort();
      change.resolve();
      await ended;
      if (!keep) await rm(parts.folder, { recursive: true, force: true });
    },
  };
}
