import type { Progress } from "../records/life.ts";
import type { Cluster, Topic } from "../records/streaming.ts";

export const done: Progress = { kind: "done" };
export const pending: Progress = { kind: "pending" };

/** The brokers behind the management API, which follow what it has written down. */
export interface DataPlane {
  /** How many of them each cluster has. */
  readonly brokers: number;
  /** Whether a cluster that is to be served is being served. */
  clusterProgress(cluster: Cluster): Progress;
  /** Whether the brokers have a topic that is to be there, and have dropped one that is to go. */
  topicProgress(topic: Topic): Progress;
  /** Where clients connect to a cluster: `host:port` per broker. */
  addressesOf(cluster: Cluster): readonly string[];
  /** What users of a cluster should know about its brokers. */
  noticeOf(cluster: Cluster): string | undefined;
}

/** The addresses in the caller's own network: nobody can be reached there from this machine. */
export const networkAddresses = ({ properties }: Cluster): string[] =>
  properties.connections.flatMap(({ brokerAddresses }) =>
    brokerAddresses.map((address) => address.replace(/\/\d+$/, ":9093")),
  );
