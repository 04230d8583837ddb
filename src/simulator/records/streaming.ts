import { z } from "zod";
import { authoritySchema } from "../certificates.ts";
import type { Documents } from "../store/documents.ts";
import { type Life, life, type Progress } from "./life.ts";

export const sizes = ["XS", "S", "M", "L", "XL"] as const;

const clusterSchema = z.object({
  ...life,
  /** The slug, e.g. `de-txl`. */
  region: z.string(),
  /** The id of its one user. */
  userId: z.string(),
  properties: z.object({
    name: z.string(),
    version: z.string(),
    size: z.enum(sizes),
    connections: z
      .array(z.object({ datacenterId: z.string(), lanId: z.string(), brokerAddresses: z.array(z.string()) }))
      .readonly(),
  }),
});

const topicSchema = z.object({
  ...life,
  clusterId: z.string(),
  /** As sent: what was left out is up to the brokers. */
  properties: z.object({
    name: z.string(),
    replicationFactor: z.number().optional(),
    numberOfPartitions: z.number().optional(),
    logRetention: z.object({ retentionTime: z.number().optional(), segmentBytes: z.number().optional() }).optional(),
  }),
});

const credentialsSchema = authoritySchema.extend({ issuedAt: z.number(), expiresAt: z.number() });

export type Cluster = Readonly<z.infer<typeof clusterSchema>>;
export type Topic = Readonly<z.infer<typeof topicSchema>>;
export type ClusterFields = Omit<Cluster, keyof Life>;
export type TopicFields = Omit<Topic, keyof Life>;

/** The present certificate and key of a cluster's user; times are the platform's. */
export type Credentials = Readonly<z.infer<typeof credentialsSchema>>;

/** Everything that the platform remembers of event streaming. */
export function createStreamingRecords(documents: Documents) {
  return {
    clusters: documents.table("streaming-clusters", clusterSchema),
    topics: documents.table("streaming-topics", topicSchema),
    /** By the cluster's id. */
    authorities: documents.table("streaming-authorities", authoritySchema),
    /** By the cluster's id. */
    credentials: documents.table("streaming-credentials", credentialsSchema),
    /** The ports of real brokers, by the cluster's id: after a restart they are the same, if still free. */
    ports: documents.table("streaming-ports", z.array(z.number()).readonly()),
  };
}

export type StreamingRecords = ReturnType<typeof createStreamingRecords>;

export const topicsOf = ({ streaming: { topics } }: { streaming: StreamingRecords }, clusterId: string): Topic[] =>
  [...topics.values()].filter((topic) => topic.clusterId === clusterId);

/** Whether brokers have to serve it: it has not failed and is not being deleted. */
export const isWanted = ({ state, failure }: Cluster | Topic) =>
  failure === null && (state === "DEPLOYING" || state === "AVAILABLE");

export const done: Progress = { kind: "done" };
export const pending: Progress = { kind: "pending" };

/** The brokers behind the management API. They follow its records. */
export interface DataPlane {
  /** How many of them each cluster has. */
  readonly brokers: number;
  /** The progress of starting the brokers of a cluster. */
  clusterProgress(cluster: Cluster): Progress;
  /** The progress of creating or deleting a topic on the brokers. */
  topicProgress(topic: Topic): Progress;
  /** Where clients connect to a cluster: `host:port` per broker. */
  addressesOf(cluster: Cluster): readonly string[];
  /** A notice about the brokers for the users of a cluster. */
  noticeOf(cluster: Cluster): string | undefined;
}

/** The addresses in the caller's own network, which cannot be reached from this machine. */
export const networkAddresses = ({ properties }: Cluster): string[] =>
  properties.connections.flatMap(({ brokerAddresses }) =>
    brokerAddresses.map((address) => address.replace(/\/\d+$/, ":9093")),
  );
